"""What must hold for any input: drawn by hypothesis."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import attnlib

numbers = st.floats(-8, 8, width=32)
sizes = st.integers(1, 6)


@st.composite
def problems(draw, self_attention=False, leading=()):
    """Draw Q (n, d_k), K (m, d_k), V (m, d_v), with leading axes if asked for."""
    n, m, d_k, d_v = (draw(sizes) for _ in range(4))
    m = n if self_attention else m
    return tuple(
        draw(arrays(np.float64, (*leading, *shape), elements=numbers)) for shape in ((n, d_k), (m, d_k), (m, d_v))
    )


def close(actual, expected, atol=1e-9):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


@given(arrays(np.float64, st.tuples(sizes, sizes), elements=st.floats(-1e4, 1e4)))
def test_softmax_rows_sum_to_one_and_are_not_negative(x):
    weights = attnlib.softmax(x)
    close(weights.sum(axis=-1), 1)
    assert (weights >= 0).all()
    for scores, row in zip(x, weights, strict=True):
        assert (np.diff(row[np.argsort(scores)]) >= 0).all()  # a larger score never gets a smaller weight


@given(arrays(np.float64, st.tuples(sizes, sizes), elements=numbers), st.floats(-1e3, 1e3))
def test_softmax_does_not_notice_a_shift(x, shift):
    close(attnlib.softmax(x + shift), attnlib.softmax(x))


@given(arrays(np.float64, st.tuples(sizes, sizes), elements=numbers))
def test_softmax_over_columns_is_softmax_over_rows_of_the_transpose(x):
    close(attnlib.softmax(x, axis=0), attnlib.softmax(x.T).T)


@given(arrays(np.float64, sizes, elements=numbers))
def test_the_jacobian_is_what_small_steps_measure(x):
    step = 1e-6
    measured = [
        (attnlib.softmax(x + step * e) - attnlib.softmax(x - step * e)) / (2 * step) for e in np.eye(len(x))
    ]
    close(attnlib.softmax_jacobian(attnlib.softmax(x)), np.transpose(measured), atol=1e-8)


@given(arrays(np.float64, st.tuples(sizes, sizes), elements=numbers))
def test_entropy_lies_between_none_and_all(x):
    bits = attnlib.entropy(attnlib.softmax(x))
    assert bits.shape == x.shape[:1]
    assert (bits >= 0).all()
    assert (bits <= np.log2(x.shape[1]) + 1e-9).all()
    close(attnlib.entropy(np.full(x.shape, 1 / x.shape[1])), np.log2(x.shape[1]))


@given(problems())
def test_attention_is_the_formula_in_loops(problem):
    Q, K, V = problem
    for i, q in enumerate(Q):
        raised = [np.exp(sum(a * b for a, b in zip(q, k, strict=True)) / len(q) ** 0.5) for k in K]
        expected = sum(e / sum(raised) * v for e, v in zip(raised, V, strict=True))
        close(attnlib.attention(Q, K, V).output[i], expected)


@given(problems())
def test_the_steps_of_a_result_follow_from_each_other(problem):
    Q, K, V = problem
    result = attnlib.attention(Q, K, V)
    close(result.scores, attnlib.dot_products(Q, K))
    close(result.scaled, result.scores / np.sqrt(Q.shape[1]))
    assert result.masked is result.scaled
    close(result.weights, attnlib.softmax(result.scaled))
    close(result.output, result.weights @ V)


@given(problems(self_attention=True), st.randoms())
def test_permuting_the_tokens_permutes_the_output(problem, random):
    Q, K, V = problem
    order = list(range(len(Q)))
    random.shuffle(order)
    plain = attnlib.attention(Q, K, V)
    shuffled = attnlib.attention(Q[order], K[order], V[order])
    close(shuffled.output, plain.output[order])
    close(shuffled.weights, plain.weights[order][:, order])


@given(problems(self_attention=True), st.data())
def test_a_future_token_cannot_change_a_causal_output(problem, data):
    Q, K, V = problem
    now = data.draw(st.integers(0, len(Q) - 1))
    before = attnlib.attention(Q, K, V, causal=True)
    later = slice(now + 1, None)
    K2, V2 = K.copy(), V.copy()
    K2[later] += 3
    V2[later] -= 5
    after = attnlib.attention(Q, K2, V2, causal=True)
    assert (after.output[: now + 1] == before.output[: now + 1]).all()
    assert (before.weights[np.triu_indices(len(Q), 1)] == 0).all()


@given(problems())
def test_causal_lines_the_last_query_up_with_the_last_key(problem):
    Q, K, V = problem
    weights = attnlib.attention(Q, K, V, causal=True).weights
    n, m = weights.shape
    for i in range(n):
        seen = max(0, m - (n - 1 - i))
        assert (weights[i, seen:] == 0).all()
        close(weights[i].sum(), 1.0 if seen else 0.0)


@given(problems())
def test_the_output_lies_inside_the_hull_of_the_values(problem):
    output = attnlib.attention(*problem).output
    V = problem[2]
    assert (output <= V.max(axis=0) + 1e-9).all()
    assert (output >= V.min(axis=0) - 1e-9).all()
    # and along any other direction, not only along the axes
    direction = np.cos(np.arange(V.shape[1]) * 2.5)
    assert (output @ direction <= (V @ direction).max() + 1e-9).all()


@given(problems(leading=(2, 3)))
def test_float32_stays_within_a_millionth_of_float64(problem):
    exact = attnlib.attention(*(x / 8 for x in problem))
    short = attnlib.attention(*(x.astype(np.float32) / np.float32(8) for x in problem))
    for name in short._fields:
        assert getattr(short, name).dtype == np.float32
    close(short.weights, exact.weights, atol=1e-6)
    close(short.output, exact.output, atol=1e-6)


@given(problems(leading=(2, 3)))
def test_leading_axes_are_so_many_separate_attentions(problem):
    Q, K, V = problem
    together = attnlib.attention(Q, K, V)
    for b in range(2):
        for h in range(3):
            close(together.output[b, h], attnlib.attention(Q[b, h], K[b, h], V[b, h]).output)
    close(attnlib.attention(Q[0, 0], K, V).output[1, 2], attnlib.attention(Q[0, 0], K[1, 2], V[1, 2]).output)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 5), st.integers(0, 2**32 - 1), st.booleans())
def test_merged_projection_equals_separate_heads(heads, d_k, n, seed, causal):
    rng = np.random.default_rng(seed)
    mha = attnlib.MultiHeadAttention.from_rng(rng, heads * d_k, heads)
    X = rng.normal(size=(n, heads * d_k))
    result = mha(X, causal=causal)
    pieces = []
    for h in range(heads):
        columns = slice(h * d_k, (h + 1) * d_k)
        one = attnlib.attention(
            X @ mha.W_Q[:, columns], X @ mha.W_K[:, columns], X @ mha.W_V[:, columns], causal=causal
        )
        close(result.weights[h], one.weights)
        pieces.append(one.output)
    close(result.output, np.concatenate(pieces, axis=1) @ mha.W_O)


@given(arrays(np.float64, st.tuples(sizes, sizes, st.integers(1, 4)), elements=numbers), st.integers(1, 4))
def test_merging_undoes_splitting(X, heads):
    X = np.concatenate([X] * heads, axis=-1)
    split = attnlib.split_heads(X, heads)
    assert split.shape == (len(X), heads, X.shape[1], X.shape[2] // heads)
    assert (attnlib.merge_heads(split) == X).all()


@given(problems())
def test_cosine_is_the_dot_product_of_directions(problem):
    A, B = problem[0] + 20, problem[1] + 20  # far from zero: every row has a direction
    lengths = np.linalg.norm(A, axis=1)[:, None] * np.linalg.norm(B, axis=1)
    close(attnlib.cosine_similarity(A, B) * lengths, attnlib.dot_products(A, B))
    close(attnlib.cosine_similarity(3 * A, 0.5 * B), attnlib.cosine_similarity(A, B))


@given(st.integers(1, 30), st.integers(1, 8))
def test_positions_know_only_distance(n, half):
    P = attnlib.sinusoidal_positions(n, 2 * half)
    products = P @ P.T
    for distance in range(n):
        diagonal = np.diagonal(products, distance)
        close(diagonal, diagonal[0])
