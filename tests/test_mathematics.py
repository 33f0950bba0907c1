"""Single facts about the library: figures, extremes, dtypes, and what is never touched."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import attnlib
from attnlib.examples import abstract_3x3, bae, write_a_poem


def test_write_a_poem_as_the_notes_print_it():
    Q, K = write_a_poem.X @ write_a_poem.W_Q, write_a_poem.X @ write_a_poem.W_K
    result = attnlib.attention(Q, K, write_a_poem.X @ write_a_poem.W_V)
    printed = write_a_poem.printed
    assert result.weights[0].round(2).tolist() == printed["weights_write"].tolist()
    # By hand the notes multiply rounded numbers; the score from the numbers we have is a little lower.
    by_hand = printed["query_write"] @ printed["key_write"]
    assert by_hand.round(2) == printed["dot_product_write_write"]
    assert result.scores[0, 0].round(3) == -0.099
    np.testing.assert_allclose(Q[0], printed["query_write"], atol=0.008)
    np.testing.assert_allclose(K[0], printed["key_write"], atol=0.008)


def off(actual, printed, tolerance):
    return int((np.abs(actual - printed) > tolerance).sum())


def test_the_korean_example_is_wrong_where_we_say():
    p = bae.printed
    result = attnlib.attention(bae.X @ bae.W_Q, bae.X @ bae.W_K, bae.X @ bae.W_V)
    assert [off(bae.X @ W, p[name], 0.005 + 1e-9) for W, name in zip(bae[2:5], "QKV", strict=True)] == [29, 31, 29]
    assert off(p["Q"] @ p["K"].T, p["scores"], 0.005) == 60
    assert off(p["scores"] / 2, p["scaled"], 0.0005 + 1e-9) == 0
    assert off(attnlib.softmax(p["scaled"]), p["weights"], 0.0005 + 1e-9) == 14
    assert off(attnlib.softmax(p["scaled"]), p["weights"], 0.0015) == 0
    assert off(p["weights"] @ p["V"], p["output"], 0.0005) == 32
    assert (p["weights"] @ p["V"])[2, 0].round(3) == 0.242
    assert result.output[2, 0].round(3) == 0.202
    row = result.weights[2]
    assert row[4].round(4) == 0.1217
    assert np.sort(row)[1] == row[4]
    assert row.argmax() == 2
    assert row[2].round(4) == 0.1311
    assert len(p["final_output_quoted"]) != bae.W_V.shape[1]


def test_examples_cannot_be_changed():
    for array in (write_a_poem.X, bae.W_Q, bae.printed["scores"], abstract_3x3):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        bae.printed["Q"] = 1
    assert len(bae.tokens) == len(bae.gloss) == len(bae.X)
    np.testing.assert_allclose(abstract_3x3.sum(axis=1), 1)


@pytest.mark.parametrize("size", [1e4, 1e30, 1e308])
def test_softmax_is_finite_for_finite_scores(size):
    with warnings.catch_warnings(), np.errstate(all="raise"):
        weights = attnlib.softmax([[size, -size, 0.0], [-size, -size, -size], [size, size, size]])
    np.testing.assert_allclose(weights, [[1, 0, 0], [1 / 3] * 3, [1 / 3] * 3])


def test_softmax_of_nothing_to_choose_from_is_zero():
    weights = attnlib.softmax([[-np.inf, -np.inf], [-np.inf, 3.0]])
    assert weights.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("size", [1e4, 1e18])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_attention_is_finite_for_large_scores(size, dtype):
    Q = np.array([[size, 0.0], [0.0, -size]], dtype)
    with np.errstate(all="raise", under="ignore"):
        result = attnlib.attention(Q, Q, Q, causal=True)
    assert all(np.isfinite(step).all() for step in (result.scores, result.scaled, result.weights, result.output))


def test_a_query_that_may_attend_to_nothing_gets_nothing():
    Q, K, V = np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 5))
    for mask in (np.array([[False] * 4, [True] * 4]), np.array([[-np.inf] * 4, [0.0] * 4])):
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            result = attnlib.attention(Q, K, V, mask)
        assert result.weights.tolist() == [[0] * 4, [0.25] * 4]
        assert result.output.tolist() == [[0] * 5, [1] * 5]


def test_causal_with_more_queries_than_keys():
    weights = attnlib.attention(np.ones((4, 3)), np.ones((2, 3)), np.ones((2, 3)), causal=True).weights
    assert weights.tolist() == [[0, 0], [0, 0], [1, 0], [0.5, 0.5]]


def test_masks_join():
    Q = np.zeros((3, 2))
    boolean = np.array([[True, True, True], [False, True, True], [True, True, False]])
    added = np.where(boolean, 0.0, -np.inf)
    expected = [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]]
    for mask in (boolean, added):
        assert attnlib.attention(Q, Q, Q, mask, causal=True).weights.tolist() == expected


def test_a_float_mask_is_added_to_the_scaled_scores():
    Q = np.array([[2.0, 0.0, 0.0, 0.0]])
    K = np.array([[2.0, 0, 0, 0], [4.0, 0, 0, 0]])
    result = attnlib.attention(Q, K, K, np.array([[1.0, -1.0]]))
    assert result.scaled.tolist() == [[2.0, 4.0]]
    assert result.masked.tolist() == [[3.0, 3.0]]


def test_scale():
    Q, K = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [1.0, 1.0]])
    assert attnlib.attention(Q, K, K, scale=1).scaled.tolist() == [[11.0, 3.0]]
    assert attnlib.attention(Q, K, K, scale=0).weights.tolist() == [[0.5, 0.5]]
    assert attnlib.attention(Q, K, K, scale=np.float32(0.5)).scaled.tolist() == [[5.5, 1.5]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_in_is_dtype_out(dtype):
    X = np.arange(12, dtype=dtype).reshape(3, 4) / 10
    assert attnlib.softmax(X).dtype == dtype
    assert attnlib.dot_products(X, X).dtype == dtype
    assert attnlib.cosine_similarity(X + 1, X + 1).dtype == dtype
    assert attnlib.split_heads(X, 2).dtype == dtype
    assert attnlib.embed([0, 1], X).dtype == dtype
    for mask in (None, np.ones((3, 3), bool), np.zeros((3, 3)), np.zeros((3, 3), np.float32)):
        result = attnlib.attention(X, X, X, mask, causal=True)
        assert {step.dtype for step in result} == {np.dtype(dtype)}
    mha = attnlib.MultiHeadAttention.from_rng(np.random.default_rng(0), 4, 2, dtype=dtype)
    assert mha(X).output.dtype == mha(X).weights.dtype == dtype


def test_lists_and_whole_numbers_are_accepted():
    rows = [[1, 2], [3, 4]]
    expected = attnlib.attention(*(np.array(rows, float),) * 3).output
    assert (attnlib.attention(rows, rows, rows).output == expected).all()
    assert attnlib.attention(np.array(rows, np.float32), rows, rows).output.dtype == np.float32
    assert attnlib.attention(np.array(rows, np.float32), np.array(rows, float), rows).output.dtype == np.float64
    assert attnlib.softmax([1, 1]).tolist() == [0.5, 0.5]


def test_inputs_are_never_modified():
    rng = np.random.default_rng(0)
    X, mask = rng.normal(size=(2, 4, 6)), rng.normal(size=(4, 4))
    kept_X, kept_mask = X.copy(), mask.copy()
    mha = attnlib.MultiHeadAttention.from_rng(rng, 6, 3)
    mha(X, mask=mask, causal=True)
    attnlib.attention(X, X, X, mask, causal=True)
    attnlib.softmax(X)
    attnlib.cosine_similarity(X, X)
    attnlib.merge_heads(attnlib.split_heads(X, 2))
    assert (kept_X == X).all()
    assert (mask == kept_mask).all()


def test_cosine_survives_huge_and_tiny_vectors():
    A = np.array([[1e300, 1e300], [1e-300, 0.0], [3.0, 4.0]])
    with np.errstate(all="raise", under="ignore"):
        cosines = attnlib.cosine_similarity(A, [[1.0, 0.0]])
    np.testing.assert_allclose(cosines[:, 0], [np.sqrt(0.5), 1, 0.6])


def test_cross_attention_uses_the_context():
    rng = np.random.default_rng(0)
    mha = attnlib.MultiHeadAttention.from_rng(rng, 8, 2)
    X, context = rng.normal(size=(3, 8)), rng.normal(size=(5, 8))
    result = mha(X, context)
    assert result.weights.shape == (2, 3, 5)
    expected = attnlib.attention(
        *(attnlib.split_heads(rows @ W, 2) for rows, W in ((X, mha.W_Q), (context, mha.W_K), (context, mha.W_V)))
    )
    np.testing.assert_allclose(result.output, attnlib.merge_heads(expected.output) @ mha.W_O)
    np.testing.assert_allclose(result.heads.scores, expected.scores)


def test_a_mask_is_the_same_for_all_heads_and_per_sequence():
    rng = np.random.default_rng(0)
    mha = attnlib.MultiHeadAttention.from_rng(rng, 6, 3)
    X = rng.normal(size=(2, 4, 6))
    result = mha(X, mask=attnlib.padding_mask([2, 4], 4))
    assert (result.weights[0, :, :, 2:] == 0).all()
    assert (result.weights[1] > 0).all()
    np.testing.assert_allclose(result.output[0, :2], mha(X[0, :2]).output)


def test_grouped_heads_share_neighbours():
    rng = np.random.default_rng(0)
    grouped = attnlib.MultiHeadAttention.from_rng(rng, 8, 4, num_kv_heads=2)
    spread = [np.concatenate([W[:, :2], W[:, :2], W[:, 2:], W[:, 2:]], axis=1) for W in (grouped.W_K, grouped.W_V)]
    full = attnlib.MultiHeadAttention(grouped.W_Q, *spread, grouped.W_O, 4)
    X = rng.normal(size=(5, 8))
    np.testing.assert_allclose(grouped(X).output, full(X).output)


def test_from_rng_is_repeatable_and_scaled():
    first, second = (attnlib.MultiHeadAttention.from_rng(np.random.default_rng(5), 64, 4) for _ in range(2))
    assert (first.W_Q == second.W_Q).all()
    assert not (first.W_Q == first.W_K).all()
    assert abs(first.W_O.std() * 8 - 1) < 0.05


def test_padding_mask_of_one_sequence():
    assert attnlib.padding_mask(2, 3).tolist() == [[True, True, False]]
    assert attnlib.padding_mask([0, 3], 3).shape == (2, 1, 3)


def test_one_hot_times_table_is_lookup():
    table = np.random.default_rng(0).normal(size=(5, 3))
    ids = np.array([[4, 0], [2, 2]])
    assert (attnlib.one_hot(ids, 5) @ table == attnlib.embed(ids, table)).all()


def test_one_hot_of_a_large_vocabulary_needs_no_square_table():
    assert attnlib.one_hot([1, 2], 10**6).sum() == 2


def test_whole_numbers_follow_the_dtype_of_the_weights():
    mha = attnlib.MultiHeadAttention.from_rng(np.random.default_rng(0), 4, 2, dtype=np.float32)
    assert mha(np.ones((3, 4), int)).output.dtype == np.float32


def test_a_list_is_never_a_known_token():
    assert [] not in attnlib.Vocabulary(["a"])


def test_importing_attnlib_loads_neither_plots_nor_widgets():
    heavy = ["matplotlib", "ipywidgets", "IPython", "attnlib.pictures", "attnlib.exercises", "onnx"]
    code = f"import sys, attnlib; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_tokens_id_is_its_place_in_the_list():
    words = ["write", "a", "poem"]  # not in the order of the alphabet
    vocabulary = attnlib.Vocabulary(words)
    assert vocabulary.ids("poem a write").tolist() == [2, 1, 0]
    assert vocabulary.words([2, 1, 0]) == ["poem", "a", "write"]
