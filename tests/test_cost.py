"""Chapter 11: cheaper ways to the same output, and the variants of today's models that change it."""

from functools import partial

import numpy as np
import onnx
import pytest
from complaints import assert_complains
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from attnlib import attention, causal_mask, softmax
from attnlib.attention import apply_mask
from attnlib.blockwise import blockwise_attention, online_softmax
from attnlib.cache import KeyValueCache
from attnlib.rotary import rotary
from attnlib.softcap import soft_cap
from attnlib.windows import window_mask
from benchmarks.memory import peak

TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}
dtypes = st.sampled_from([np.float32, np.float64])
seeds = st.integers(0, 2**32 - 1)


def close(actual, expected, atol=1e-12):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


def draw(dtype, *shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def onnx_run(op, inputs, opset=23, **attributes):
    """Run one onnx operator on named arrays."""
    node = helper.make_node(op, list(inputs), ["result"], **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
    ]
    graph = helper.make_graph(
        [node], "one", infos, [helper.make_tensor_value_info("result", TensorProto.UNDEFINED, None)]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return ReferenceEvaluator(model).run(None, inputs)[0]


# blockwise attention


@st.composite
def masks(draw, n_queries, n_keys):
    """Draw no mask, or a boolean or float one, with sizes that may broadcast."""
    kind = draw(st.sampled_from(["none", "boolean", "float32", "float64", "list"]))
    if kind == "none":
        return None
    leading = draw(st.sampled_from([(), (1,), (3,), (2, 3), (2, 1)]))
    shape = (*leading, draw(st.sampled_from([1, n_queries])), draw(st.sampled_from([1, n_keys])))
    rng = np.random.default_rng(draw(seeds))
    allowed = rng.random(shape) < draw(st.sampled_from([0.0, 0.3, 0.8]))
    if kind == "boolean":
        return allowed
    if kind == "list":
        return allowed.tolist()
    return np.where(allowed, rng.normal(size=shape), -np.inf).astype(kind)


@given(st.data(), *[st.integers(1, 13)] * 2, *[st.integers(1, 5)] * 2, dtypes, seeds, st.booleans())
def test_blockwise_is_attention(data, n_queries, n_keys, d_k, d_v, dtype, seed, causal):
    leading = data.draw(
        st.sampled_from([((), (), ()), ((3,), (3,), (3,)), ((2, 3), (3,), ()), ((1,), (2, 1), (3,))])
    )
    Q, K, V = draw(
        dtype,
        *(
            (*lead, *pair)
            for lead, pair in zip(leading, ((n_queries, d_k), (n_keys, d_k), (n_keys, d_v)), strict=True)
        ),
        seed=seed,
    )
    mask = data.draw(masks(n_queries, n_keys))
    scale = data.draw(st.sampled_from([None, 0.25, -1.5, 0]))
    block = data.draw(st.integers(1, 15))
    expected = attention(Q, K, V, mask, causal=causal, scale=scale).output
    before = [array.copy() for array in (Q, K, V)]
    with np.errstate(all="raise"):
        actual = blockwise_attention(Q, K, V, mask, causal=causal, scale=scale, block=block)
    assert actual.dtype == dtype
    assert actual.shape == expected.shape
    close(actual, expected, TOLERANCE[dtype])
    assert all((a == b).all() for a, b in zip(before, (Q, K, V), strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n_queries", "n_keys"), [(700, 700), (300, 900), (900, 300), (1, 600)])
@pytest.mark.parametrize("block", [256, 100, 5000])
def test_blockwise_is_attention_for_longer_texts(dtype, causal, n_queries, n_keys, block):
    Q, K, V = draw(dtype, (2, n_queries, 16), (2, n_keys, 16), (2, n_keys, 24))
    expected = attention(Q, K, V, causal=causal).output
    close(blockwise_attention(Q, K, V, causal=causal, block=block), expected, TOLERANCE[dtype])


def test_whole_numbers_and_mixed_dtypes_follow_the_rule_of_attention():
    Q, K, V = [[1, 2]], [[3, 4], [5, 6]], [[1], [2]]
    assert blockwise_attention(Q, K, V).dtype == np.float64
    assert blockwise_attention(np.float32(Q), np.float32(K), V).dtype == np.float32
    assert blockwise_attention(np.float32(Q), np.float64(K), V).dtype == np.float64


def test_split_heads_are_views_and_give_the_same():
    (X,) = draw(np.float32, (50, 24))
    heads = X.reshape(50, 4, 6).swapaxes(0, 1)  # (4, 50, 6), not contiguous
    assert not heads.flags.c_contiguous
    close(blockwise_attention(heads, heads, heads, block=7), attention(heads, heads, heads).output, 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "ends", [(-1e4, 1e4), (1e4, -1e4), (-2e4, -1e4), (-8e37, 8e37), (8e37, -8e37), (7e37, 8e37)]
)
def test_huge_scores_stay_finite(dtype, ends):
    scores = np.linspace(*ends, 12).astype(dtype)
    Q, K, V = np.ones((3, 1), dtype), scores[:, None], np.eye(12, dtype=dtype)
    with np.errstate(all="raise"):
        output = blockwise_attention(Q, K, V, scale=1, block=2)
    assert np.isfinite(output).all()
    close(output, attention(Q, K, V, scale=1).output, TOLERANCE[dtype])
    assert (output.argmax(axis=1) == scores.argmax()).all()


def test_a_query_that_sees_nothing_gets_zero():
    Q, K, V = draw(np.float64, (4, 3), (4, 3), (4, 2))
    mask = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]], bool)
    for hidden in (mask, np.where(mask, 0, -np.inf)):
        for block in (1, 2, 9):
            output = blockwise_attention(Q, K, V, hidden, block=block)
            assert (output[0] == 0).all()
            close(output[1], V[3])
            close(output[2], V[0])
    output = blockwise_attention(Q, K[:2], V[:2], causal=True, block=1)
    assert (output[:2] == 0).all()  # the last query lines up with the last key
    close(output[2], V[0])


def test_a_future_token_is_not_even_read():
    Q, K, V = draw(np.float64, (40, 3), (40, 3), (40, 2))
    before = blockwise_attention(Q, K, V, causal=True, block=4)
    K[25:] += 3
    V[25:] -= 5
    after = blockwise_attention(Q, K, V, causal=True, block=4)
    assert (after[:25] == before[:25]).all()
    assert (after[25:] != before[25:]).any(axis=1).all()


@pytest.mark.parametrize("causal", [False, True])
def test_causal_makes_half_the_scores(monkeypatch, causal):
    made = 0
    matmul = np.matmul

    def counting(a, b, out):
        nonlocal made
        made += out.size if out.shape[-1] != d_v else 0
        return matmul(a, b, out=out)

    monkeypatch.setattr(np, "matmul", counting)
    n, block, d_v = 512, 16, 5  # no block has 5 keys
    Q, K, V = draw(np.float32, (n, 4), (n, 4), (n, d_v))
    blockwise_attention(Q, K, V, causal=causal, block=block, threads=1)  # one, or the counting would go wrong
    strips = n // (block // 4)
    assert made == ((strips + 1) / strips / 2 if causal else 1) * n * n


N = 4096
N_BY_N = {
    "none": lambda: None,
    "boolean": lambda: causal_mask(N),
    "float32": lambda: np.where(causal_mask(N), np.float32(0), np.float32(-np.inf)),
    "float64": lambda: np.where(causal_mask(N), 0.0, -np.inf),
}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", N_BY_N)
def test_memory_is_a_twentieth_of_the_scores(causal, mask):
    heads = 4  # which have as many scores as one head with n = 8192
    Q, K, V = draw(np.float32, (heads, N, 64), (heads, N, 64), (heads, N, 64))
    hidden = N_BY_N[mask]()
    used = peak(lambda: blockwise_attention(Q, K, V, hidden, causal=causal, threads=2))
    assert Q.nbytes <= used < 0.05 * heads * N * N * 4  # at least the output: so the measure does measure


def test_memory_grows_with_n_and_not_with_its_square():
    def used(n, compute):
        Q, K, V = draw(np.float32, (n, 8), (n, 8), (n, 8))
        return peak(lambda: compute(Q, K, V))

    assert used(2048, attention) > 3.5 * used(1024, attention)
    in_blocks = partial(blockwise_attention, threads=2)  # each thread holds its own block of scores
    assert used(8192, in_blocks) < 2.5 * used(4096, in_blocks)


# online softmax


@given(st.data(), st.integers(1, 12), st.integers(1, 14), dtypes, seeds)
def test_online_softmax_is_softmax(data, n, block, dtype, seed):
    leading = data.draw(st.sampled_from([(), (3,), (2, 1)]))
    rng = np.random.default_rng(seed)
    size = data.draw(st.sampled_from([1, 100, 1e4, 1e30]))
    scores = (size * rng.normal(size=(*leading, n))).astype(dtype)
    scores[rng.random(scores.shape) < data.draw(st.sampled_from([0.0, 0.5, 1.0]))] = -np.inf
    before = scores.copy()
    with np.errstate(all="raise"):
        weights = online_softmax(scores, block)
    assert weights.dtype == dtype
    close(weights, softmax(scores), {np.float32: 1e-6, np.float64: 1e-14}[dtype])
    assert (scores == before).all()


def test_online_softmax_at_the_ends_of_the_range():
    edge = np.finfo(float).max
    close(online_softmax([-edge, -edge], 1), [0.5, 0.5])
    close(online_softmax([-edge, edge, -np.inf], 1), [0, 1, 0])


# the cache


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_token_by_token_is_all_at_once(dtype, leading):
    n = 21
    Q, K, V = draw(dtype, (*leading, n, 4), (*leading, n, 4), (*leading, n, 5))
    whole = attention(Q, K, V, causal=True)
    cache = KeyValueCache()
    for t in range(n):
        now = slice(t, t + 1)
        cache.append(K[..., now, :], V[..., now, :])
        result = cache.attend(Q[..., now, :])
        assert len(cache) == t + 1
        assert result.output.dtype == dtype
        close(result.weights, whole.weights[..., now, : t + 1], TOLERANCE[dtype])
        close(result.output, whole.output[..., now, :], TOLERANCE[dtype])
    assert (cache.keys == K).all()
    assert (cache.values == V).all()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), seeds)
def test_pieces_of_any_length_are_all_at_once(lengths, seed):
    n = sum(lengths)
    Q, K, V = draw(np.float64, (2, n, 4), (2, n, 4), (2, n, 3), seed=seed)
    cache, outputs, end = KeyValueCache(), [], 0
    for length in lengths:
        piece = slice(end, end + length)
        cache.append(K[:, piece], V[:, piece])
        outputs.append(cache.attend(Q[:, piece], scale=0.3).output)
        end += length
    close(np.concatenate(outputs, axis=1), attention(Q, K, V, causal=True, scale=0.3).output)


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("kv_heads", [1, 2, 3, 6])
def test_grouped_heads_share_the_cache(batch, kv_heads):
    heads, n = 6, 7
    Q, K, V = draw(np.float64, (*batch, heads, n, 4), (*batch, kv_heads, n, 4), (*batch, kv_heads, n, 5))
    share = heads // kv_heads
    whole = attention(Q, np.repeat(K, share, axis=-3), np.repeat(V, share, axis=-3), causal=True)
    cache = KeyValueCache()
    for t in range(n):
        now = slice(t, t + 1)
        cache.append(K[..., now, :], V[..., now, :])
        result = cache.attend(Q[..., now, :])
        for name in ("scores", "scaled", "masked", "weights"):
            close(getattr(result, name), getattr(whole, name)[..., now, : t + 1])
        close(result.output, whole.output[..., now, :])
    assert cache.keys.shape == (*batch, kv_heads, n, 4)  # what grouping saves


def test_the_cache_copies_rarely_and_hands_out_read_only_views():
    cache, buffers = KeyValueCache(), []
    (rows,) = draw(np.float32, (1000, 1, 2))
    for row in rows:
        cache.append(row, row)
        if not any(cache.keys.base is buffer for buffer in buffers):
            buffers.append(cache.keys.base)
    assert len(buffers) == 11  # room for 1, 2, 4, ..., 1024
    assert (cache.keys == rows[:, 0]).all()
    assert cache.keys.dtype == np.float32
    for view in (cache.keys, cache.values):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
    rows[:] = 0
    assert cache.keys.any()  # its own copy


def test_an_old_view_is_not_changed_by_appending():
    cache = KeyValueCache()
    cache.append([[1, 2]], [[3]])
    old = cache.keys
    for _ in range(5):
        cache.append([[7, 7]], [[7]])
    assert old.tolist() == [[1, 2]]


def test_the_cache_keeps_its_dtype():
    cache = KeyValueCache()
    cache.append(np.ones((1, 2), np.float32), [[1]])
    cache.append([[1, 2]], [[3]])  # whole numbers follow
    assert cache.keys.dtype == cache.values.dtype == np.float32
    double = KeyValueCache()
    double.append([[1.0]], [[1.0]])
    double.append(np.ones((1, 1), np.float32), np.ones((1, 1), np.float32))
    assert double.keys.dtype == np.float64


def test_a_refused_append_leaves_the_cache_as_it_was():
    cache = KeyValueCache()
    assert repr(cache) == "KeyValueCache(empty)"
    with pytest.raises(ValueError, match="nan"):
        cache.append([[np.nan]], [[1.0]])
    assert len(cache) == 0
    cache.append([[1.0, 2.0]], [[3.0]])
    with pytest.raises(ValueError, match="the cache needs"):
        cache.append([[1.0, 2.0]], [[3.0, 4.0]])
    assert repr(cache) == "KeyValueCache(keys (1, 2), values (1, 1))"
    assert cache.keys.tolist() == [[1.0, 2.0]]


# rotary positions


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500), st.integers(1, 8), seeds)
def test_rotary_products_know_only_the_distance(p, r, shift, half, seed):
    q, k = draw(np.float64, (1, 2 * half), (1, 2 * half), seed=seed)
    here = rotary(q, [p]) @ rotary(k, [r]).T
    there = rotary(q, [p + shift]) @ rotary(k, [r + shift]).T
    close(here, there, 1e-10)
    close(here, q @ rotary(k, [r - p]).T, 1e-10)


def test_rotary_products_do_know_the_distance():
    (x,) = draw(np.float64, (1, 8))
    products = [float((rotary(x, [0]) @ rotary(x, [r]).T).item()) for r in range(6)]
    assert products[0] > max(products[1:])
    assert len({round(product, 6) for product in products}) == 6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rotary_keeps_lengths_dtype_and_input(dtype):
    (X,) = draw(dtype, (2, 3, 50, 8))
    before = X.copy()
    turned = rotary(X)
    assert turned.dtype == dtype
    assert (before == X).all()
    close(np.linalg.norm(turned, axis=-1), np.linalg.norm(X, axis=-1), TOLERANCE[dtype])
    assert (turned[..., 0, :] == X[..., 0, :]).all()  # position 0 is not turned
    assert (turned[..., 1:, :] != X[..., 1:, :]).all()


def test_rotary_turns_pair_i_by_position_times_its_speed():
    d, base = 6, 500.0
    (X,) = draw(np.float64, (5, d))
    turned = rotary(X, [0, 3, 1.5, -2, 100_000], base=base)
    for i in range(d // 2):
        angle = np.array([0, 3, 1.5, -2, 100_000]) * base ** (-2 * i / d)
        pair = (X[:, 2 * i] + 1j * X[:, 2 * i + 1]) * np.exp(1j * angle)
        close(turned[:, 2 * i] + 1j * turned[:, 2 * i + 1], pair, 1e-10)


def test_positions_of_each_sequence_or_of_a_new_token():
    (X,) = draw(np.float64, (2, 3, 4, 6))
    later = rotary(X, np.array([[0, 1, 2, 3], [10, 11, 12, 13]])[:, None])  # (2, 1, 4): the same for 3 heads
    close(later[0], rotary(X[0]))
    close(later[1], rotary(X[1], np.arange(10, 14)))
    close(rotary(X[..., 3:, :], [3]), rotary(X)[..., 3:, :])
    far = rotary(X.astype(np.float32), np.arange(4, dtype=np.float32) + 100_000)  # angles are float64 all the same
    close(far, rotary(X, np.arange(4) + 100_000), 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("base", [10000.0, 500.0])
def test_rotary_agrees_with_onnx(dtype, base):
    d = 10
    (X,) = draw(dtype, (2, 3, 7, d))
    positions = np.array([[0, 1, 2, 3, 4, 5, 6], [9, 3, 3, 0, 12, 1, 4]])
    angle = np.arange(13)[:, None] / base ** (np.arange(0, d, 2) / d)
    tables = {"cos": np.cos(angle).astype(dtype), "sin": np.sin(angle).astype(dtype)}
    expected = onnx_run("RotaryEmbedding", {"X": X, **tables, "positions": positions}, interleaved=1)
    close(rotary(X, positions[:, None], base=base), expected, TOLERANCE[dtype])


# windows and the soft cap


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 12))
def test_a_window_is_a_band_that_ends_at_the_own_position(n_queries, n_keys, width):
    mask = window_mask(n_queries, n_keys, width=width)
    assert mask.shape == (n_queries, n_keys)
    assert mask.dtype == bool
    for i in range(n_queries):
        own = i + n_keys - n_queries
        assert np.flatnonzero(mask[i]).tolist() == [j for j in range(n_keys) if own - width < j <= own]


def test_a_wide_window_is_causal_and_a_narrow_one_is_not():
    Q, K, V = draw(np.float64, (6, 3), (6, 3), (6, 2))
    causal = attention(Q, K, V, causal=True).output
    assert (window_mask(6, width=6) == causal_mask(6)).all()
    assert (window_mask(3, 6, width=99) == causal_mask(3, 6)).all()
    narrow = attention(Q, K, V, window_mask(6, width=3)).output
    close(narrow[:3], causal[:3])
    assert (np.abs(narrow[3:] - causal[3:]) > 1e-6).all()
    close(attention(Q, K, V, window_mask(6, width=1)).output, V)
    close(blockwise_attention(Q, K, V, window_mask(6, width=3), block=2), narrow)


def test_a_huge_cap_changes_nothing_and_a_low_one_does():
    (scores,) = draw(np.float64, (5, 7))
    close(soft_cap(scores, 1e9), scores)
    low = soft_cap(50 * scores, 2.0)
    assert (np.abs(low) <= 2).all()
    assert (np.abs(low - 50 * scores) > 0.01).all()
    assert (np.sign(low) == np.sign(scores)).all()
    close(soft_cap([1.0], 1.0), [np.tanh(1.0)])


@pytest.mark.parametrize("cap", [1e-300, 1e-30, 1.0, 1e300])
def test_soft_cap_at_the_ends_of_the_range(cap):
    before = np.array([-1e300, -1.0, 0.0, 1e-300, 1e300])
    scores = before.copy()
    with np.errstate(all="raise"):
        capped = soft_cap(scores, cap)
    assert np.isfinite(capped).all()
    assert (np.abs(capped) <= cap).all()
    assert (scores == before).all()
    assert soft_cap(np.ones(3, np.float32), 30.0).dtype == np.float32


def capped_attention(Q, K, V, cap, mask):
    """Put the steps together as chapter 11 does: cap, then mask, then softmax."""
    capped = soft_cap(attention(Q, K, V).scaled, cap)
    return softmax(apply_mask(capped, mask)) @ V


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cap", [0.5, 2.0, 50.0])
@pytest.mark.parametrize("width", [1, 3, 7])
def test_soft_cap_and_window_agree_with_onnx(dtype, cap, width):
    Q, K, V = draw(
        dtype, (2, 3, 7, 16), (2, 3, 7, 16), (2, 3, 7, 5)
    )  # √d_k = 4: onnx's root of the scale is exact
    mask = window_mask(7, width=width)
    expected = onnx_run("Attention", {"Q": 3 * Q, "K": K, "V": V, "mask": mask}, softcap=cap)
    close(capped_attention(3 * Q, K, V, cap, mask), expected, TOLERANCE[dtype])
    if width > 1:
        plain = attention(3 * Q, K, V, mask).output
        assert np.abs(plain - expected).max() > 1e-4  # the cap is felt


@pytest.mark.skipif(onnx.defs.onnx_opset_version() < 25, reason="this onnx has no windows of its own")
@pytest.mark.parametrize("width", [1, 3, 7])
def test_the_window_agrees_with_onnx_windows(width):
    Q, K, V = draw(np.float64, (2, 3, 7, 16), (2, 3, 7, 16), (2, 3, 7, 5))
    options = {"is_causal": 1, "left_window_size": width - 1, "softcap": 2.0}
    expected = onnx_run("Attention", {"Q": Q, "K": K, "V": V}, opset=25, **options)
    close(capped_attention(Q, K, V, 2.0, window_mask(7, width=width)), expected)


# bad input

ONE = np.ones((3, 4))


def filled(dtype=np.float64, heads=(2,)):
    cache = KeyValueCache()
    cache.append(np.ones((*heads, 3, 4), dtype), np.ones((*heads, 3, 5), dtype))
    return cache


def mask_with(number, dtype=np.float64):
    mask = np.zeros((70, 3), dtype)
    mask[65, 1] = number
    return mask


TALL = np.ones((70, 4))
TABLE = [
    (lambda: blockwise_attention(np.ones(4), ONE, ONE), ValueError, "blockwise_attention: Q has shape (4,); expected at least 2 axes: (..., n, d)"),
    (lambda: blockwise_attention(np.ones((2, 3)), ONE, ONE), ValueError, "blockwise_attention: the queries have d_k = 3 numbers but the keys have 4; a dot product needs the same (Q is (2, 3), K is (3, 4))"),
    (lambda: blockwise_attention(ONE, np.ones((5, 4)), ONE), ValueError, "blockwise_attention: K has 5 keys but V has 3 values; each key needs exactly one value (K is (5, 4), V is (3, 4))"),
    (lambda: blockwise_attention(np.ones((2, 3, 4)), np.ones((5, 3, 4)), ONE), ValueError, "blockwise_attention: the leading (batch or head) axes do not fit together; each pair must be equal, or one of them 1 (Q is (2, 3, 4), K is (5, 3, 4), V is (3, 4))"),
    (lambda: blockwise_attention(ONE, ONE, ONE * np.inf), ValueError, "blockwise_attention: V has inf at (0, 0); expected finite numbers"),
    (lambda: blockwise_attention(ONE * 1e160, ONE * 1e160, ONE), ValueError, "blockwise_attention: the scores could reach inf, more than float64 can hold; scale Q or K down"),
    (lambda: blockwise_attention(ONE, ONE, ONE, scale=1e308), ValueError, "blockwise_attention: scale could reach 1e+308, more than float64 can hold; use a smaller one"),
    (lambda: blockwise_attention(ONE, ONE, ONE * 1e308), ValueError, "blockwise_attention: the output could reach 1e+308, more than float64 can hold; scale V down"),
    (lambda: blockwise_attention(ONE, ONE, ONE, scale="big"), TypeError, "blockwise_attention: scale is 'big' (str); expected one number"),
    (lambda: blockwise_attention(ONE, ONE, ONE, causal=1), TypeError, "blockwise_attention: causal is 1 (int); expected True or False"),
    (lambda: blockwise_attention(ONE, ONE, ONE, block=0), ValueError, "blockwise_attention: block is 0; expected at least 1"),
    (lambda: blockwise_attention(ONE, ONE, ONE, block=2.0), TypeError, "blockwise_attention: block is 2.0 (float); expected a whole number"),
    (lambda: blockwise_attention(ONE, ONE, ONE, threads=0), ValueError, "blockwise_attention: threads is 0; expected at least 1"),
    (lambda: blockwise_attention(ONE, ONE, ONE, threads="all"), TypeError, "blockwise_attention: threads is 'all' (str); expected a whole number"),
    (lambda: blockwise_attention(ONE, ONE, ONE, np.ones((3, 3), int)), TypeError, "blockwise_attention: mask holds int64; expected booleans (True = may attend) or floats (added to the scaled scores)"),
    (lambda: blockwise_attention(ONE, ONE, ONE, np.ones((3, 3), np.float16)), TypeError, "blockwise_attention: mask holds float16; expected booleans (True = may attend) or floats (added to the scaled scores)"),
    (lambda: blockwise_attention(ONE, ONE, ONE, [[True], [True, False]]), ValueError, "blockwise_attention: mask is not a regular array: its rows differ in length"),
    (lambda: blockwise_attention(ONE, ONE, ONE, np.ones(3)), ValueError, "blockwise_attention: mask has shape (3,); expected (n_queries, n_keys) = (3, 3), or (1, 3) to hide the same keys from all queries"),
    (lambda: blockwise_attention(ONE, ONE, ONE, np.ones((2, 3))), ValueError, "blockwise_attention: mask has shape (2, 3); expected (..., n_queries, n_keys) = (3, 3)"),
    (lambda: blockwise_attention(np.ones((2, 3, 4)), ONE, ONE, np.ones((5, 3, 3))), ValueError, "blockwise_attention: the leading (batch or head) axes do not fit together; each pair must be equal, or one of them 1 (Q is (2, 3, 4), K is (3, 4), V is (3, 4), mask is (5, 3, 3))"),
    (lambda: blockwise_attention(TALL, ONE, ONE, mask_with(np.nan)), ValueError, "blockwise_attention: mask has nan at (65, 1); expected moderate numbers or -inf"),
    (lambda: blockwise_attention(TALL, ONE, ONE, mask_with(np.inf)), ValueError, "blockwise_attention: mask has inf at (65, 1); expected moderate numbers or -inf"),
    (lambda: blockwise_attention(TALL, ONE, ONE, mask_with(-1e308)), ValueError, "blockwise_attention: mask has -1e+308 at (65, 1); expected moderate numbers or -inf"),
    (lambda: blockwise_attention(TALL, ONE, ONE, mask_with(1e308)), ValueError, "blockwise_attention: mask has 1e+308 at (65, 1); expected moderate numbers or -inf"),
    (lambda: blockwise_attention(*map(np.float32, (TALL, ONE, ONE)), mask_with(-1e60)), ValueError, "blockwise_attention: mask has -1e+60 at (65, 1); expected moderate numbers or -inf"),
    (lambda: online_softmax(3.0, 1), ValueError, "online_softmax: scores has shape (); expected at least 1 axis: (..., n)"),
    (lambda: online_softmax([1.0, np.nan], 1), ValueError, "online_softmax: scores has nan at (1,); expected finite numbers or -inf"),
    (lambda: online_softmax([np.inf, 0], 1), ValueError, "online_softmax: scores has inf at (0,); expected finite numbers or -inf"),
    (lambda: online_softmax([1.0], 0), ValueError, "online_softmax: block is 0; expected at least 1"),
    (lambda: KeyValueCache().keys, ValueError, "KeyValueCache.keys: the cache is empty; append keys and values first"),
    (lambda: KeyValueCache().values, ValueError, "KeyValueCache.values: the cache is empty; append keys and values first"),
    (lambda: KeyValueCache().attend(ONE), ValueError, "KeyValueCache.attend: the cache is empty; append keys and values first"),
    (lambda: KeyValueCache().append(np.ones(4), ONE), ValueError, "KeyValueCache.append: K_new has shape (4,); expected at least 2 axes: (..., n, d)"),
    (lambda: KeyValueCache().append(ONE, np.ones((2, 4))), ValueError, "KeyValueCache.append: K_new has 3 keys but V_new has 2 values; each key needs exactly one value (K_new is (3, 4), V_new is (2, 4))"),
    (lambda: KeyValueCache().append(np.ones((2, 3, 4)), np.ones((5, 3, 4))), ValueError, "KeyValueCache.append: the leading (batch or head) axes do not fit together; each pair must be equal, or one of them 1 (K_new is (2, 3, 4), V_new is (5, 3, 4))"),
    (lambda: KeyValueCache().append(ONE, ONE * np.nan), ValueError, "KeyValueCache.append: V_new has nan at (0, 0); expected finite numbers"),
    (lambda: filled().append(np.ones((2, 1, 3)), np.ones((2, 1, 5))), ValueError, "KeyValueCache.append: K_new is (2, 1, 3); the cache needs (2, n_new, 4)"),
    (lambda: filled().append(np.ones((2, 1, 4)), np.ones((1, 5))), ValueError, "KeyValueCache.append: V_new is (1, 5); the cache needs (2, n_new, 5)"),
    (lambda: filled(np.float32).append(np.ones((2, 1, 4)), np.ones((2, 1, 5))), TypeError, "KeyValueCache.append: K_new would be float64, but the cache holds float32"),
    (lambda: filled().attend(np.ones((2, 4, 4))), ValueError, "KeyValueCache.attend: Q has 4 queries but the cache holds 3 tokens; append the new keys and values first"),
    (lambda: filled().attend(np.ones((2, 1, 5))), ValueError, "KeyValueCache.attend: the queries have d_k = 5 numbers but the keys have 4; a dot product needs the same (Q is (2, 1, 5), K is (2, 3, 4))"),
    (lambda: filled().attend(np.ones((3, 1, 4))), ValueError, "KeyValueCache.attend: the leading (batch or head) axes do not fit together; each pair must be equal, or one of them 1 (Q is (3, 1, 4), K is (2, 3, 4), V is (2, 3, 5))"),
    (lambda: filled().attend(np.ones((2, 1, 4)), scale=np.nan), ValueError, "KeyValueCache.attend: scale is nan; expected a finite number such as 1/√d_k"),
    (lambda: rotary(np.ones(4)), ValueError, "rotary: X has shape (4,); expected at least 2 axes: (..., n, d)"),
    (lambda: rotary(np.ones((2, 3))), ValueError, "rotary: X has 3 columns; expected an even number, to turn them in pairs (X is (2, 3))"),
    (lambda: rotary(ONE * np.nan), ValueError, "rotary: X has nan at (0, 0); expected finite numbers"),
    (lambda: rotary(ONE * 1e308), ValueError, "rotary: the result could reach 1e+308, more than float64 can hold; scale X down"),
    (lambda: rotary(ONE, [0, 1]), ValueError, "rotary: positions has shape (2,); expected (3,), one for each row of X (3, 4)"),
    (lambda: rotary(ONE, [0]), ValueError, "rotary: positions has shape (1,); expected (3,), one for each row of X (3, 4)"),
    (lambda: rotary(ONE, np.zeros((2, 3))), ValueError, "rotary: positions has shape (2, 3); expected (3,), one for each row of X (3, 4)"),
    (lambda: rotary(np.ones((2, 3, 4)), np.zeros((5, 3))), ValueError, "rotary: positions has shape (5, 3); expected (3,), one for each row of X (2, 3, 4)"),
    (lambda: rotary(ONE, 2), ValueError, "rotary: positions has shape (); expected at least 1 axis: (..., n)"),
    (lambda: rotary(ONE, [0, 1, np.inf]), ValueError, "rotary: positions has inf at (2,); expected finite numbers"),
    (lambda: rotary(ONE, base=0), ValueError, "rotary: base is 0.0; expected a number above 0"),
    (lambda: rotary(ONE, base=np.inf), ValueError, "rotary: base is inf; expected a number above 0"),
    (lambda: rotary(ONE, base="big"), TypeError, "rotary: base is 'big' (str); expected a number above 0"),
    (lambda: rotary(ONE, base=None), TypeError, "rotary: base is None (NoneType); expected a number above 0"),
    (lambda: window_mask(0, width=1), ValueError, "window_mask: n_queries is 0; expected at least 1"),
    (lambda: window_mask(3, 2.0, width=1), TypeError, "window_mask: n_keys is 2.0 (float); expected a whole number"),
    (lambda: window_mask(3, width=0), ValueError, "window_mask: width is 0; expected at least 1"),
    (lambda: soft_cap([0.0, -np.inf], 5.0), ValueError, "soft_cap: scores has -inf at (1,); expected finite numbers"),
    (lambda: soft_cap([0.0], -5.0), ValueError, "soft_cap: cap is -5.0; expected a number above 0"),
    (lambda: soft_cap([0.0], np.nan), ValueError, "soft_cap: cap is nan; expected a number above 0"),
    (lambda: soft_cap([0.0], True), TypeError, "soft_cap: cap is True (bool); expected a number above 0"),
    (lambda: soft_cap(np.zeros(1, np.float32), 1e39), ValueError, "soft_cap: cap is 1e+39; expected a number that float32 can hold"),
    (lambda: soft_cap(np.zeros(1, np.float32), 1e-50), ValueError, "soft_cap: cap is 1e-50; expected a number that float32 can hold"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), TABLE, ids=[row[2][:70] for row in TABLE])
def test_bad_input(call, kind, message):
    assert_complains(call, kind, message)
