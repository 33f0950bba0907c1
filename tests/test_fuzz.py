"""Any input at all: each call computes what a slow, obvious version computes, or raises our own error.

Never another exception, a warning, a call without end, a NaN from finite input, or a changed input. `make test`
tries each function a hundred times; `make fuzz` tries more than twenty thousand inputs.
"""

import math
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import attnlib
from attnlib import blockwise, gradients, layers
from attnlib.rotary import rotary

INF = math.inf
SIZES = st.integers(1, 4)
DTYPES = st.sampled_from([np.float32, np.float64])
MODERATE = st.floats(-8, 8, width=32)
EXTREME = st.sampled_from([0.0, -0.0, 1e-320, -1e-45, 1e-30, 1e19, -3e38, 1e150, -1e300, 1.7e308, math.pi])
FINITE = st.one_of(MODERATE, EXTREME)
ANY = st.one_of(FINITE, st.sampled_from([INF, -INF, math.nan]))


def floats(shape, elements=MODERATE, dtype=np.float64):
    """Draw an array; what float32 cannot hold becomes its largest number."""
    drawn = arrays(np.float64, shape, elements=elements)
    top = float(np.finfo(dtype).max)

    def fit(array):
        with np.errstate(all="ignore"):
            return np.where(np.isfinite(array), np.clip(array, -top, top), array).astype(dtype)

    return drawn.map(fit)


def odd_forms(array):
    """Give the same array in a form that is unusual: a list, a view, read-only, in the other order of memory."""
    frozen = array.copy()
    frozen.flags.writeable = False
    forms = [array, frozen, np.asfortranarray(array), array.tolist(), np.repeat(array, 2, axis=0)[::2]]
    return st.sampled_from(forms)


SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)
GOOD_SHAPES = st.sampled_from([(2, 3), (3, 2), (2, 2), (3,), (2,), (2, 2, 3), (1, 2, 2)])
NUMBERS = st.one_of(
    floats(GOOD_SHAPES),
    floats(GOOD_SHAPES, FINITE),
    floats(GOOD_SHAPES, FINITE, np.float32),
    floats(SHAPES, ANY),
    arrays(np.int64, GOOD_SHAPES, elements=st.integers(-2, 4)),
)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.sampled_from(
        [10**8 + 1, -(2**70), 2**70, 1e400, "", "a b", b"a", {}, {"a": 1}, {1, 2}, [], [[]], [[1], [2, 3]]]
    ),
    st.sampled_from([[None], [[1, "a"]], [1e400], [2**70], ..., np.float32, np.nan, 1j, range(3), (1.0, 2.0)]),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.text(max_size=2), max_size=3),
    st.sampled_from(
        [
            np.ones((2, 2), np.float16),
            np.ones((2, 2), np.longdouble),
            np.ones((2, 2), ">f8"),
            np.ones((2, 2), complex),
            np.ones((2, 2), bool),
            np.ones((2, 2), object),
            np.array([["a", "b"]]),
            np.ones((2, 2), "M8[s]"),
            np.ma.masked_array([1.0, 2.0], [True, False]),
            np.full((2, 2), 2**63, np.uint64),
            np.full((2, 2), -128, np.int8),
            np.array(3.0),
            np.zeros(2, [("a", float)]),
        ]
    ),
    arrays(bool, GOOD_SHAPES),
    NUMBERS,
)


def copies(value):
    """Copy arrays, so that a change can be seen."""
    return value.copy() if isinstance(value, np.ndarray) else value


def same(before, after):
    if isinstance(before, np.ndarray) and before.dtype != object:
        return before.dtype == after.dtype and before.tobytes() == after.tobytes()
    return True


def numbers_of(result):
    """Yield the arrays of a result, but not the masked scores: they hold -inf on purpose."""
    if isinstance(result, tuple):
        names = getattr(result, "_fields", range(len(result)))
        for name, part in zip(names, result, strict=True):
            if name != "masked":
                yield from numbers_of(part)
    elif isinstance(result, (np.ndarray, float)):
        yield np.asarray(result)


def is_finite(value):
    array = np.asarray(value, dtype=object) if not isinstance(value, np.ndarray) else value
    return array.dtype.kind in "fiub" and bool(np.isfinite(array).all())


def attempt(name, call, *arguments, **options):
    """Call a function: give its result, or None if it raised an error of ours in the name of `name`."""
    before = [copies(value) for value in (*arguments, *options.values())]
    try:
        result = call(*arguments, **options)
    except (ValueError, TypeError) as error:
        complaint, result = error, None
        assert type(complaint) in (ValueError, TypeError)
        assert re.match(rf"{name}(\.\w+)?: \S[^\n]*$", str(complaint)), f"not our own words: {complaint!r}"
    assert all(map(same, before, (*arguments, *options.values()))), "an input was changed"
    given = [value for value in before if isinstance(value, np.ndarray)]
    if result is not None and all(map(is_finite, given)):
        for numbers in numbers_of(result):
            assert numbers.dtype.kind != "f" or np.isfinite(numbers).all(), "finite input gave NaN or infinity"
    return result


# --- anything goes ------------------------------------------------------------------------------------

Q_K_V = ("Q", "K", "V")
CALLS = {
    "softmax": (attnlib.softmax, ["x", "axis"]),
    "softmax_jacobian": (attnlib.softmax_jacobian, ["weights"]),
    "entropy": (attnlib.entropy, ["weights"]),
    "dot_products": (attnlib.dot_products, ["A", "B"]),
    "cosine_similarity": (attnlib.cosine_similarity, ["A", "B"]),
    "attention": (attnlib.attention, [*Q_K_V, "mask", "causal", "scale"]),
    "blockwise_attention": (attnlib.blockwise_attention, [*Q_K_V, "mask", "causal", "scale", "block"]),
    "online_softmax": (blockwise.online_softmax, ["scores", "block"]),
    "causal_mask": (attnlib.causal_mask, ["n_queries", "n_keys"]),
    "padding_mask": (attnlib.padding_mask, ["lengths", "n"]),
    "window_mask": (attnlib.window_mask, ["n_queries", "n_keys", "width"]),
    "split_heads": (attnlib.split_heads, ["X", "num_heads"]),
    "merge_heads": (attnlib.merge_heads, ["H"]),
    "rotary": (rotary, ["X", "positions", "base"]),
    "sinusoidal_positions": (attnlib.sinusoidal_positions, ["n", "d_model"]),
    "soft_cap": (attnlib.soft_cap, ["scores", "cap"]),
    "layer_norm": (layers.layer_norm, ["X", "gain", "bias", "eps"]),
    "layer_norm_backward": (layers.layer_norm_backward, ["X", "gain", "d_output", "eps"]),
    "relu": (layers.relu, ["x"]),
    "relu_backward": (layers.relu_backward, ["x", "d_output"]),
    "erf": (layers.erf, ["x"]),
    "gelu": (layers.gelu, ["x"]),
    "gelu_backward": (layers.gelu_backward, ["x", "d_output"]),
    "feed_forward": (layers.feed_forward, ["X", "W_1", "b_1", "W_2", "b_2"]),
    "feed_forward_backward": (layers.feed_forward_backward, ["X", "W_1", "b_1", "W_2", "b_2", "d_output"]),
    "embed": (attnlib.embed, ["ids", "table"]),
    "one_hot": (attnlib.one_hot, ["ids", "size"]),
    "Vocabulary": (attnlib.Vocabulary, ["tokens"]),
    "softmax_backward": (gradients.softmax_backward, ["weights", "d_weights"]),
    "attention_backward": (gradients.attention_backward, [*Q_K_V, "d_output", "mask", "causal", "scale"]),
    "linear_backward": (gradients.linear_backward, ["X", "W", "d_output"]),
    "embedding_backward": (gradients.embedding_backward, ["ids", "d_X", "size"]),
    "cross_entropy": (gradients.cross_entropy, ["logits", "targets"]),
}
LIKELY = {
    **dict.fromkeys(
        ["axis", "n_queries", "n_keys", "n", "width", "num_heads", "block", "size"], st.integers(-1, 5)
    ),
    "d_model": st.integers(-1, 9),
    **dict.fromkeys(["scale", "cap", "eps", "base"], st.one_of(st.none(), FINITE)),
    "causal": st.booleans(),
    **dict.fromkeys(
        ["ids", "targets", "lengths"],
        arrays(np.int64, st.sampled_from([(2,), (3,), (2, 3)]), elements=st.integers(-1, 3)),
    ),
    "mask": st.one_of(
        st.none(), arrays(bool, st.sampled_from([(2, 2), (2, 3), (1, 3), (3, 3)])), floats((2, 3), ANY)
    ),
    **dict.fromkeys(["gain", "bias", "b_1", "b_2"], floats(st.sampled_from([(2,), (3,)]), FINITE)),
    "tokens": st.lists(st.text(max_size=2), max_size=3),
    "positions": st.one_of(st.none(), floats(st.sampled_from([(2,), (3,)]), FINITE)),
    "weights": st.one_of(floats(GOOD_SHAPES, st.floats(0, 1)), NUMBERS),
}


@pytest.mark.parametrize("name", CALLS)
@given(data=st.data())
def test_anything(name, data):
    call, parameters = CALLS[name]
    strange = data.draw(st.sampled_from([None, None, *parameters]))
    arguments = {
        parameter: data.draw(ODD if parameter == strange else LIKELY.get(parameter, NUMBERS), label=parameter)
        for parameter in parameters
    }
    attempt(name, call, **arguments)


# --- what fits is computed, and agrees ----------------------------------------------------------------


def slow_softmax(row):
    """Compute softmax of one row of Python floats."""
    top = max(row)
    raised = [math.exp(x - top) if x > -INF else 0.0 for x in row]
    total = math.fsum(raised)
    return [x / total if total else 0.0 for x in raised]


def slow_attention(Q, K, V, mask, causal, factor):
    """Compute attention of two-dimensional arrays in loops; give weights and output in float64."""
    n, m = len(Q), len(K)
    weights = np.zeros((n, m))
    for i in range(n):
        row = []
        for j in range(m):
            score = factor * math.fsum(float(a) * float(b) for a, b in zip(Q[i], K[j], strict=True))
            if mask is not None:
                entry = np.broadcast_to(mask, (n, m))[i, j]
                score = (score if entry else -INF) if mask.dtype == bool else score + float(entry)
            row.append(-INF if causal and j - i > m - n else score)
        weights[i] = slow_softmax(row)
    return weights, np.array(
        [[math.fsum(w * float(v) for w, v in zip(row, column, strict=True)) for column in V.T] for row in weights]
    )


@st.composite
def problems(draw, elements=MODERATE):
    """Draw Q, K, V of one dtype that fit, a mask or none, causal, and a scale or none."""
    n, m, d_k, d_v = (draw(SIZES) for _ in range(4))
    dtype = draw(DTYPES)
    Q, K, V = (draw(floats(shape, elements, dtype)) for shape in ((n, d_k), (m, d_k), (m, d_v)))
    pair = draw(st.sampled_from([(n, m), (1, m), (n, 1)]))
    kinds = [st.none(), arrays(bool, pair), floats(pair, st.one_of(MODERATE, st.just(-INF)), dtype)]
    mask = draw(st.one_of(kinds))
    return Q, K, V, mask, draw(st.booleans()), draw(st.one_of(st.none(), st.floats(-2, 2, width=32)))


def room(Q, K, V, factor):
    """Bound the rounding: an error of a score moves a weight by that share of itself, and the output with it."""
    eps = float(np.finfo(Q.dtype).eps)
    size = abs(factor) * float(np.abs(Q).max()) * float(np.abs(K).max()) * Q.shape[1] + 16
    return min(2.0, 8 * (Q.shape[1] + len(K) + 4) * eps * size) * max(float(np.abs(V).max()), 1e-30)


def check_attention(problem):
    Q, K, V, mask, causal, scale = problem
    options = {"causal": causal, "scale": scale}
    result = attempt("attention", attnlib.attention, Q, K, V, mask, **options)
    blocks = [
        attempt("blockwise_attention", attnlib.blockwise_attention, Q, K, V, mask, **options, block=b)
        for b in (1, 2)
    ]
    assert (result is None) == (blocks[0] is None) == (blocks[1] is None)
    if result is None:
        return False
    factor = 1 / math.sqrt(Q.shape[1]) if scale is None else scale
    weights, output = slow_attention(Q, K, V, mask, causal, float(Q.dtype.type(factor)))
    close = room(Q, K, V, factor)
    np.testing.assert_allclose(result.weights, weights, rtol=0, atol=close / max(float(np.abs(V).max()), 1e-30))
    for found in (result.output, *blocks):
        assert found.dtype == Q.dtype
        np.testing.assert_allclose(found, output, rtol=0, atol=close)
    return True


@given(problems())
def test_attention_of_moderate_numbers_always_computes(problem):
    assert check_attention(problem)


@given(problems(FINITE))
def test_attention_of_extreme_numbers(problem):
    check_attention(problem)


@given(st.data())
def test_softmax(data):
    dtype = data.draw(DTYPES)
    x = data.draw(floats(st.tuples(SIZES, SIZES), st.one_of(FINITE, st.just(-INF)), dtype))
    form = data.draw(odd_forms(x))
    got = attempt("softmax", attnlib.softmax, form)
    expected = np.array([slow_softmax([float(n) for n in row]) for row in x])
    np.testing.assert_allclose(got, expected, rtol=0, atol=8 * np.finfo(dtype).eps)
    block = data.draw(st.integers(1, 5))
    again = attempt("online_softmax", blockwise.online_softmax, form, block)
    np.testing.assert_allclose(again, expected, rtol=0, atol=16 * np.finfo(dtype).eps)
    weights = np.asarray(got)
    bits = attempt("entropy", attnlib.entropy, weights)
    slow = [-math.fsum(float(w) * math.log2(w) for w in row if w > 0) for row in weights]
    np.testing.assert_allclose(bits, slow, rtol=0, atol=16 * np.finfo(weights.dtype).eps)
    for row, found in zip(weights, attempt("softmax_jacobian", attnlib.softmax_jacobian, weights), strict=True):
        exact = [[float(a) * ((i == j) - float(b)) for j, b in enumerate(row)] for i, a in enumerate(row)]
        np.testing.assert_allclose(found, exact, rtol=0, atol=4 * np.finfo(weights.dtype).eps)


@given(st.data())
def test_similarity(data):
    n, m, d = (data.draw(SIZES) for _ in range(3))
    dtype = data.draw(DTYPES)
    A, B = (data.draw(floats((rows, d), FINITE, dtype)) for rows in (n, m))
    products = attempt("dot_products", attnlib.dot_products, A, B)
    cosines = attempt("cosine_similarity", attnlib.cosine_similarity, A, B)
    assert (cosines is None) == (not (np.abs(A).max(axis=1).all() and np.abs(B).max(axis=1).all()))
    eps = float(np.finfo(dtype).eps)
    for i, a in enumerate(A.astype(float)):
        for j, b in enumerate(B.astype(float)):
            if products is not None:
                size = float(np.abs(a).max()) * float(np.abs(b).max())
                exact = math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))
                assert abs(float(products[i, j]) - exact) <= 4 * d * eps * size + float(np.finfo(dtype).tiny)
            if cosines is not None:
                a1, b1 = ([float(x) / float(np.abs(v).max()) for x in v] for v in (a, b))
                exact = math.fsum(x * y for x, y in zip(a1, b1, strict=True)) / math.hypot(*a1) / math.hypot(*b1)
                assert abs(float(cosines[i, j]) - exact) <= 16 * d * eps


@given(st.data())
def test_heads(data):
    heads, n, d = (data.draw(SIZES) for _ in range(3))
    X = data.draw(floats((n, heads * d), FINITE, data.draw(DTYPES)))
    split = attempt("split_heads", attnlib.split_heads, X, heads)
    for h in range(heads):
        assert split[h].tolist() == [row[h * d : (h + 1) * d] for row in X.tolist()]
    assert attempt("merge_heads", attnlib.merge_heads, split).tolist() == X.tolist()


@given(st.data())
def test_multi_head_attention(data):
    kv_heads, share, n, m = (data.draw(st.integers(1, 3)) for _ in range(4))
    d_model, d_k, d_v, d_out = (data.draw(st.integers(1, 3)) for _ in range(4))
    heads, dtype, elements = kv_heads * share, data.draw(DTYPES), data.draw(st.sampled_from([MODERATE, FINITE]))
    shapes = ((d_model, heads * d_k), (d_model, kv_heads * d_k), (d_model, kv_heads * d_v), (heads * d_v, d_out))
    W_Q, W_K, W_V, W_O = (data.draw(floats(shape, elements, dtype)) for shape in shapes)
    X, context = (data.draw(floats((rows, d_model), MODERATE, dtype)) for rows in (n, m))
    who = "MultiHeadAttention"
    mha = attempt(who, attnlib.MultiHeadAttention, W_Q, W_K, W_V, W_O, heads, num_kv_heads=kv_heads)
    result = attempt(f"({who}|attention)", mha, X, context)
    assume(result is not None)
    pieces = []
    with np.errstate(all="ignore"):
        Q, K, V = (rows.astype(float) @ W for rows, W in ((X, W_Q), (context, W_K), (context, W_V)))
        if max(np.abs(Q).max(), np.abs(K).max(), np.abs(V).max(), np.abs(W_O).max()) > 1e4:
            return  # rounding of the projections is then all that could be compared
    for h in range(heads):
        g = h // share
        parts = Q[:, h * d_k :][:, :d_k], K[:, g * d_k :][:, :d_k], V[:, g * d_v :][:, :d_v]
        pieces.append(slow_attention(*parts, None, False, 1 / math.sqrt(d_k))[1])
    expected = np.concatenate(pieces, axis=1) @ W_O.astype(float)
    eps = float(np.finfo(dtype).eps)
    size = float(np.abs(Q).max() * np.abs(K).max() * d_k + 1)
    close = 64 * 16 * eps * size * float(np.abs(V).max() + 1) * float(np.abs(W_O).max() + 1) * heads * d_v
    np.testing.assert_allclose(result.output, expected, rtol=0, atol=close)


@given(st.data())
def test_cache(data):
    d_k, d_v, dtype = data.draw(SIZES), data.draw(SIZES), data.draw(DTYPES)
    cache, keys, values = attnlib.KeyValueCache(), [], []
    for new in data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)):
        K, V = data.draw(floats((new, d_k), MODERATE, dtype)), data.draw(floats((new, d_v), MODERATE, dtype))
        attempt("KeyValueCache", cache.append, K, V)
        keys, values = [*keys, *K.tolist()], [*values, *V.tolist()]
        bad = data.draw(st.one_of(st.none(), floats(SHAPES, ANY, dtype), ODD))
        attempt("KeyValueCache", cache.attend, bad)  # whatever it is, the cache stays as it was
        assert cache.keys.tolist() == keys
        assert cache.values.tolist() == values
    count = data.draw(st.integers(1, len(keys)))
    Q = data.draw(floats((count, d_k), MODERATE, dtype))
    result = attempt("KeyValueCache", cache.attend, Q)
    _, output = slow_attention(Q, np.array(keys), np.array(values), None, True, 1 / math.sqrt(d_k))
    close = room(Q, cache.keys, cache.values, 1)
    np.testing.assert_allclose(result.output, output, rtol=0, atol=close)


@given(st.lists(st.tuples(ODD, ODD), max_size=3))
def test_a_cache_takes_anything_or_says_why_not(pairs):
    cache = attnlib.KeyValueCache()
    for K, V in pairs:
        before = len(cache)
        attempt("KeyValueCache", cache.append, K, V)
        assert len(cache) >= before


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 9), st.data())
def test_masks(n, m, width, data):
    at = [[j - i - (m - n) for j in range(m)] for i in range(n)]  # how far key j lies in the future of query i
    assert attnlib.causal_mask(n, m).tolist() == [[far <= 0 for far in row] for row in at]
    assert attnlib.window_mask(n, m, width=width).tolist() == [[-width < far <= 0 for far in row] for row in at]
    lengths = data.draw(st.lists(st.integers(0, n), min_size=1, max_size=3))
    assert attnlib.padding_mask(lengths, n).tolist() == [[[j < length for j in range(n)]] for length in lengths]


@given(st.data())
def test_rotary_and_positions(data):
    n, half, dtype = data.draw(SIZES), data.draw(SIZES), data.draw(DTYPES)
    X = data.draw(floats((n, 2 * half), FINITE, dtype))
    places = data.draw(st.lists(st.integers(-1000, 1000), min_size=n, max_size=n))
    P = attempt("sinusoidal_positions", attnlib.sinusoidal_positions, n, 2 * half)
    turned = attempt("rotary", rotary, X, np.array(places))
    eps = float(np.finfo(dtype).eps)
    for i, place in enumerate(places):
        for pair in range(half):
            speed = 10000.0 ** (-2 * pair / (2 * half))
            assert P[i, 2 * pair] == pytest.approx(math.sin(i * speed), abs=1e-12)
            assert P[i, 2 * pair + 1] == pytest.approx(math.cos(i * speed), abs=1e-12)
            if turned is None:
                continue
            a, b = float(X[i, 2 * pair]), float(X[i, 2 * pair + 1])
            cos, sin, close = (
                math.cos(place * speed),
                math.sin(place * speed),
                (4 * eps + 1e-12) * max(abs(a), abs(b)),
            )
            assert abs(float(turned[i, 2 * pair]) - (a * cos - b * sin)) <= close + float(np.finfo(dtype).tiny)
            assert abs(float(turned[i, 2 * pair + 1]) - (a * sin + b * cos)) <= close + float(np.finfo(dtype).tiny)


@given(st.data())
def test_soft_cap(data):
    dtype = data.draw(DTYPES)
    scores = data.draw(floats(st.tuples(SIZES, SIZES), FINITE, dtype))
    cap = data.draw(st.floats(1e-30, 1e30))
    got = attempt("soft_cap", attnlib.soft_cap, scores, cap)
    limit = float(dtype(cap))
    exact = [[limit * math.tanh(float(x) / limit) for x in row] for row in scores]
    lost = float(np.finfo(dtype).tiny) + limit * float(np.finfo(dtype).smallest_subnormal)  # by underflow
    np.testing.assert_allclose(got, exact, rtol=16 * np.finfo(dtype).eps, atol=lost)


@given(st.data())
def test_layers(data):
    n, d, wide, dtype = (*(data.draw(SIZES) for _ in range(3)), data.draw(DTYPES))
    X = data.draw(floats((n, d), MODERATE, dtype))
    gain, bias = (data.draw(floats((d,), MODERATE, dtype)) for _ in range(2))
    normal = attempt("layer_norm", layers.layer_norm, X, gain, bias)
    eps = float(np.finfo(dtype).eps)
    for row, found in zip(X.tolist(), normal, strict=True):
        mean = math.fsum(row) / d
        deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in row) / d + 1e-5)
        exact = [float(g) * (x - mean) / deviation + float(b) for x, g, b in zip(row, gain, bias, strict=True)]
        np.testing.assert_allclose(
            found, exact, rtol=0, atol=256 * d * eps * 8 * (1 + max(map(abs, row)) / deviation)
        )
    for x, linear, curved, error in zip(
        X.ravel().tolist(), *(f(X).ravel() for f in (layers.relu, layers.gelu, layers.erf)), strict=True
    ):
        assert float(linear) == max(x, 0.0)
        assert float(curved) == pytest.approx(x * (1 + math.erf(x / math.sqrt(2))) / 2, abs=32 * eps)
        assert float(error) == pytest.approx(math.erf(x), abs=max(1e-15, 2 * eps))
    W_1, W_2 = data.draw(floats((d, wide), MODERATE, dtype)), data.draw(floats((wide, d), MODERATE, dtype))
    b_1, b_2 = data.draw(floats((wide,), MODERATE, dtype)), data.draw(floats((d,), MODERATE, dtype))
    got = attempt("feed_forward", layers.feed_forward, X, W_1, b_1, W_2, b_2)
    hidden = np.maximum(X.astype(float) @ W_1 + b_1, 0)
    np.testing.assert_allclose(got, hidden @ W_2.astype(float) + b_2, rtol=0, atol=4e4 * eps)


@pytest.mark.parametrize("name", ["forward", "backward"])
@given(data=st.data())
def test_layers_and_gradients_of_extreme_numbers_that_fit(name, data):
    n, d, wide, dtype = (*(data.draw(SIZES) for _ in range(3)), data.draw(DTYPES))

    def draw(*shape):
        return data.draw(floats(shape, FINITE, dtype))

    X, gain, W_1, b_1, W_2, b_2 = draw(n, d), draw(d), draw(d, wide), draw(wide), draw(wide, d), draw(d)
    if name == "forward":
        attempt("layer_norm", layers.layer_norm, X, gain, b_2)
        attempt("feed_forward", layers.feed_forward, X, W_1, b_1, W_2, b_2)
        for function in (layers.relu, layers.gelu, layers.erf):
            attempt(function.__name__, function, X)
        return
    d_output = draw(n, d)
    attempt("layer_norm_backward", layers.layer_norm_backward, X, gain, d_output)
    attempt("feed_forward_backward", layers.feed_forward_backward, X, W_1, b_1, W_2, b_2, d_output)
    attempt("gelu_backward", layers.gelu_backward, X, d_output)
    attempt("relu_backward", layers.relu_backward, X, d_output)
    attempt("linear_backward", gradients.linear_backward, d_output, W_1, draw(n, wide))
    attempt("softmax_backward", gradients.softmax_backward, X, d_output)
    attempt("attention_backward", gradients.attention_backward, X, X, X, d_output)
    attempt("embedding_backward", gradients.embedding_backward, [0] * n, X, 1)
    attempt("cross_entropy", gradients.cross_entropy, X, [0] * n)


# --- gradients, in loops ------------------------------------------------------------------------------


def slow_attention_gradients(Q, K, V, weights, d_output, factor):
    """Give dQ, dK and dV of two-dimensional arrays, one query and one key at a time, in float64."""
    dQ, dK, dV = (np.zeros(array.shape) for array in (Q, K, V))
    for i, row in enumerate(weights):
        d_row = [math.fsum(d_output[i] * value) for value in V]  # by each weight
        mean = math.fsum(w * d for w, d in zip(row, d_row, strict=True))
        for j, w in enumerate(row):
            d_score = factor * w * (d_row[j] - mean)
            dQ[i] += d_score * K[j]
            dK[j] += d_score * Q[i]
            dV[j] += w * d_output[i]
    return dQ, dK, dV


@given(problems(st.floats(-2, 2, width=32)), st.data())
def test_attention_backward(problem, data):
    Q, K, V, mask, causal, scale = problem
    d_output = data.draw(floats((len(Q), V.shape[1]), MODERATE, Q.dtype))
    found = attempt(
        "attention_backward", gradients.attention_backward, Q, K, V, d_output, mask, causal=causal, scale=scale
    )
    factor = float(Q.dtype.type(1 / math.sqrt(Q.shape[1]) if scale is None else scale))
    weights, _ = slow_attention(Q, K, V, mask, causal, factor)
    exact = slow_attention_gradients(*(array.astype(float) for array in (Q, K, V)), weights, d_output, factor)
    for ours, theirs in zip(found, exact, strict=True):
        assert ours.dtype == Q.dtype
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e5 * float(np.finfo(Q.dtype).eps))


@given(st.data())
def test_gradients_of_single_steps(data):
    n, d, wide, dtype = (*(data.draw(SIZES) for _ in range(3)), data.draw(DTYPES))
    eps = float(np.finfo(dtype).eps)

    def draw(*shape):
        return data.draw(floats(shape, MODERATE, dtype))

    X, W, d_output = draw(n, d), draw(d, wide), draw(n, wide)
    dX, dW = attempt("linear_backward", gradients.linear_backward, X, W, d_output)
    exact = [[math.fsum(map(float, row * w)) for w in W.astype(float)] for row in d_output.astype(float)]
    np.testing.assert_allclose(dX, exact, rtol=0, atol=2000 * eps)
    exact = [[math.fsum(map(float, a * b)) for b in d_output.astype(float).T] for a in X.astype(float).T]
    np.testing.assert_allclose(dW, exact, rtol=0, atol=2000 * eps)

    weights, d_weights = slow_softmax_rows(X), draw(n, d)
    found = attempt("softmax_backward", gradients.softmax_backward, weights.astype(dtype), d_weights)
    for row, d_row, ours in zip(weights, d_weights.tolist(), found, strict=True):
        mean = math.fsum(w * d for w, d in zip(row, d_row, strict=True))
        exact = [w * (d - mean) for w, d in zip(row, d_row, strict=True)]
        np.testing.assert_allclose(ours, exact, rtol=0, atol=200 * eps)

    targets = data.draw(st.lists(st.integers(0, d - 1), min_size=n, max_size=n))
    loss, d_logits = attempt("cross_entropy", gradients.cross_entropy, X, targets)
    surprises = []
    for row, target, ours in zip(X.tolist(), targets, d_logits, strict=True):
        total = math.fsum(map(math.exp, row))
        surprises.append(math.log(total) - row[target])
        exact = [(math.exp(x) / total - (i == target)) / n for i, x in enumerate(row)]
        np.testing.assert_allclose(ours, exact, rtol=0, atol=64 * eps)
    assert loss == pytest.approx(math.fsum(surprises) / n, abs=200 * eps)

    ids = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    d_table = attempt("embedding_backward", gradients.embedding_backward, ids, X, 3)
    exact = [[math.fsum(float(x) for i, x in zip(ids, c, strict=True) if i == k) for c in X.T] for k in range(3)]
    np.testing.assert_allclose(d_table, exact, rtol=0, atol=64 * eps)


def slow_softmax_rows(X):
    return np.array([slow_softmax(row) for row in X.tolist()])


@given(st.data())
def test_gradients_of_layers(data):
    n, d, wide, dtype = (*(data.draw(SIZES) for _ in range(3)), data.draw(DTYPES))
    eps = float(np.finfo(dtype).eps)

    def draw(*shape):
        return data.draw(floats(shape, MODERATE, dtype))

    X, d_output, gain = draw(n, d), draw(n, d), draw(d)
    curved = attempt("gelu_backward", layers.gelu_backward, X, d_output)
    bent = attempt("relu_backward", layers.relu_backward, X, d_output)
    for x, d_y, c, b in zip(*(array.ravel().tolist() for array in (X, d_output, curved, bent)), strict=True):
        slope = (1 + math.erf(x / math.sqrt(2))) / 2 + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        assert c == pytest.approx(d_y * slope, abs=300 * eps)
        assert b == (d_y if x > 0 else 0)

    W_1, b_1, W_2, b_2 = draw(d, wide), draw(wide), draw(wide, d), draw(d)
    given_ = X, W_1, b_1, W_2, b_2, d_output
    found = attempt("feed_forward_backward", layers.feed_forward_backward, *given_)
    X8, W_18, b_18, W_28, _, d8 = (array.astype(float) for array in given_)
    before = X8 @ W_18 + b_18
    assume(np.abs(before).min() > 1e-3)  # at the bend, rounding decides which of the two slopes it is
    d_before = (d8 @ W_28.T) * (before > 0)
    exact = d_before @ W_18.T, X8.T @ d_before, d_before.sum(0), np.maximum(before, 0).T @ d8, d8.sum(0)
    for ours, theirs in zip(found, exact, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e6 * eps)

    d_X, d_gain, d_bias = attempt("layer_norm_backward", layers.layer_norm_backward, X, gain, d_output, 0.5)
    np.testing.assert_allclose(d_bias, d8.sum(0), rtol=0, atol=64 * eps)
    normal = np.array([(row - row.mean()) / math.sqrt(((row - row.mean()) ** 2).mean() + 0.5) for row in X8])
    np.testing.assert_allclose(d_gain, (normal * d8).sum(0), rtol=0, atol=2000 * eps)
    for row, d_row, ours in zip(X8, d8 * gain.astype(float), d_X, strict=True):
        mean, deviation = row.mean(), math.sqrt(((row - row.mean()) ** 2).mean() + 0.5)
        for i, x in enumerate(ours):  # by each number of the row: how all normalised numbers move with it
            moves = [
                ((i == j) - 1 / d) / deviation - (row[j] - mean) * (row[i] - mean) / d / deviation**3
                for j in range(d)
            ]
            assert x == pytest.approx(math.fsum(d_row * moves), abs=2e4 * eps)


@given(st.data())
def test_tokens(data):
    tokens = data.draw(st.lists(st.text(max_size=3), min_size=1, max_size=5, unique=True))
    vocabulary = attempt("Vocabulary", attnlib.Vocabulary, tokens)
    chosen = data.draw(st.lists(st.sampled_from(tokens), max_size=5))
    ids = attempt("Vocabulary", vocabulary.ids, chosen)
    assert ids.tolist() == [tokens.index(token) for token in chosen]
    table = data.draw(floats((len(tokens), 3), FINITE, data.draw(DTYPES)))
    if chosen:
        assert vocabulary.words(ids) == chosen
        assert attempt("embed", attnlib.embed, ids, table).tolist() == [table[i].tolist() for i in ids]
        rows = attempt("one_hot", attnlib.one_hot, ids, len(tokens))
        assert rows.tolist() == [[float(i == j) for j in range(len(tokens))] for i in ids]
    for strange in (data.draw(ODD), data.draw(st.lists(st.text(max_size=3), max_size=3))):
        for call in (vocabulary.ids, vocabulary.words):
            attempt("Vocabulary", call, strange)
