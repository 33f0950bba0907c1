"""Agreement with an implementation that nobody here wrote: the reference evaluator of the onnx package."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import attnlib

TOLERANCE = {np.float32: 2e-6, np.float64: 1e-12}
KIND = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE, np.bool_: TensorProto.BOOL}


def onnx_run(op, inputs, **attributes):
    """Run one onnx operator on named arrays."""
    inputs = {name: array for name, array in inputs.items() if array is not None}
    node = helper.make_node(op, list(inputs), ["result"], **attributes)
    infos = [
        helper.make_tensor_value_info(name, KIND[array.dtype.type], array.shape) for name, array in inputs.items()
    ]
    kind = KIND[next(iter(inputs.values())).dtype.type]
    graph = helper.make_graph([node], "one", infos, [helper.make_tensor_value_info("result", kind, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    return ReferenceEvaluator(model).run(None, inputs)[0]


def draw(dtype, *shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
def test_softmax(dtype, axis):
    (x,) = draw(dtype, (3, 4, 5))
    expected = onnx_run("Softmax", {"x": 5 * x}, axis=axis)
    np.testing.assert_allclose(attnlib.softmax(5 * x, axis), expected, atol=TOLERANCE[dtype])


MASKS = {
    "none": None,
    "boolean": np.array([[1, 0, 1, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]], dtype=bool),
    "float": np.array([[0, -1, 2, 0.5, 0], [0, 0, -3, 0, 1], [1, 0, 0, 0, -np.inf]]),
    "boolean per head": np.random.default_rng(7).random((2, 4, 3, 5)) < 0.8,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("scale", [None, 0.25])  # onnx takes its root in float32: 0.5 is exact
def test_attention_on_four_axes(dtype, mask, scale):
    Q, K, V = draw(dtype, (2, 4, 3, 6), (2, 4, 5, 6), (2, 4, 5, 7))
    allowed = MASKS[mask]
    if allowed is not None:
        allowed = allowed if allowed.dtype == bool else allowed.astype(dtype)
    attributes = {} if scale is None else {"scale": scale}
    expected = onnx_run("Attention", {"Q": Q, "K": K, "V": V, "mask": allowed}, **attributes)
    result = attnlib.attention(Q, K, V, allowed, scale=scale)
    assert result.output.dtype == dtype
    np.testing.assert_allclose(result.output, expected, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mask", [None, "float"])
def test_causal_attention(dtype, mask):
    Q, K, V = draw(dtype, (2, 4, 5, 6), (2, 4, 5, 6), (2, 4, 5, 7), seed=1)
    extra = None if mask is None else draw(dtype, (5, 5), seed=2)[0]
    expected = onnx_run("Attention", {"Q": Q, "K": K, "V": V, "mask": extra}, is_causal=1)
    actual = attnlib.attention(Q, K, V, extra, causal=True).output
    np.testing.assert_allclose(actual, expected, atol=TOLERANCE[dtype])


def test_causal_attention_of_the_last_queries_only():
    # onnx lines the *first* query up with the first key, so it is given our mask instead.
    Q, K, V = draw(np.float64, (2, 4, 3, 6), (2, 4, 5, 6), (2, 4, 5, 7))
    expected = onnx_run("Attention", {"Q": Q, "K": K, "V": V, "mask": attnlib.causal_mask(3, 5)})
    np.testing.assert_allclose(attnlib.attention(Q, K, V, causal=True).output, expected, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("heads", "kv_heads"), [(6, 6), (6, 3), (6, 2), (6, 1)])
@pytest.mark.parametrize("causal", [False, True])
def test_grouped_heads_on_three_axes(dtype, heads, kv_heads, causal):
    d_k, d_v, n = 4, 5, 7
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2, n, 8)).astype(dtype)
    W_Q, W_K, W_V, W_O = (
        (rng.normal(size=shape) / 3).astype(dtype)
        for shape in ((8, heads * d_k), (8, kv_heads * d_k), (8, kv_heads * d_v), (heads * d_v, 9))
    )
    mha = attnlib.MultiHeadAttention(W_Q, W_K, W_V, W_O, heads, num_kv_heads=kv_heads)
    joined = onnx_run(
        "Attention",
        {"Q": X @ W_Q, "K": X @ W_K, "V": X @ W_V},
        q_num_heads=heads,
        kv_num_heads=kv_heads,
        is_causal=int(causal),
    )
    np.testing.assert_allclose(mha(X, causal=causal).output, joined @ W_O, atol=5 * TOLERANCE[dtype])
