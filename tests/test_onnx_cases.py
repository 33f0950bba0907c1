"""Agreement with test cases that nobody here wrote: those of the onnx package for five of its operators.

Each case brings its inputs and the outputs that every implementation of onnx must give. Here attnlib gives them.
Half precision (float16, bfloat16) is no input for attnlib: such a case is computed in float32, and compared as
closely as its own numbers are rounded.
"""

import importlib

import numpy as np
import pytest
from onnx import helper, numpy_helper
from onnx.backend.test.case import node as cases_of_onnx

import attnlib
from attnlib.attention import apply_mask, both
from attnlib.cache import KeyValueCache
from attnlib.layers import gelu, layer_norm
from attnlib.rotary import turn_pairs

MODULES = ("attention", "softmax", "layernormalization", "gelu", "rotaryembedding")
OPERATORS = ("Attention", "Softmax", "LayerNormalization", "Gelu", "RotaryEmbedding")
TWIN = "_expanded"  # the same data, for implementations that build the operator from smaller ones
DIGITS = {"float32": 2e-6, "float16": 2e-3, "bfloat16": 2e-2}


def collect():
    """Give the cases of the five operators by name; making them takes half a second."""
    for module in MODULES:
        importlib.import_module(f"onnx.backend.test.case.node.{module}")
    plain = [case for case in cases_of_onnx._NodeTestCases if TWIN not in case.name]
    return {case.name: case for case in plain if case.model.graph.node[0].op_type in OPERATORS}


CASES = collect()
TWINS = {
    case.name: case.name[: case.name.index(TWIN)] for case in cases_of_onnx._NodeTestCases if TWIN in case.name
}


class Case:
    """One case: its operator, attributes, and inputs and outputs by name, in float32 where they are shorter."""

    def __init__(self, case):
        (node,) = case.model.graph.node
        ((inputs, outputs),) = case.data_sets
        self.operator = node.op_type
        self.attributes = {part.name: helper.get_attribute_value(part) for part in node.attribute}
        self.inputs, self.outputs = named(node.input, inputs), named(node.output, outputs)
        self.kind = str(as_array(inputs[0]).dtype)

    def check(self, name, actual):
        """Compare with an output of the case."""
        close = DIGITS[self.kind]
        np.testing.assert_allclose(actual, self.outputs[name], rtol=close, atol=close, err_msg=name)


def as_array(value):
    return value if isinstance(value, np.ndarray) else numpy_helper.to_array(value)


def named(names, values):
    """Give arrays by name, half precision as float32; a name that is empty stands for nothing."""
    arrays = dict(zip(filter(None, names), map(as_array, values), strict=True))
    half = ("float16", "bfloat16")
    return {
        name: array.astype(np.float32) if str(array.dtype) in half else array for name, array in arrays.items()
    }


# --- how attnlib says each operator -------------------------------------------------------------------


def run_softmax(case):
    case.check("y", attnlib.softmax(case.inputs["x"], case.attributes.get("axis", -1)))


def run_layer_norm(case):
    X, gain, bias = case.inputs["X"], case.inputs["W"], case.inputs["B"]
    axis = case.attributes.get("axis", -1) % X.ndim
    rows = X.reshape(*X.shape[:axis], -1)  # several axes normalised together are one long row
    eps = case.attributes.get("epsilon", 1e-5)
    case.check("Y", layer_norm(rows, gain.ravel(), bias.ravel(), eps).reshape(X.shape))


def run_gelu(case):
    case.check("y", gelu(case.inputs["x"]))


def allowed_keys(n_queries, n_keys, offset, attributes):
    """Give who may attend to whom by order alone; the first query stands at key `offset`."""
    n = max(n_keys, offset + n_queries)
    left, right = (attributes.get(f"{side}_window_size", -1) for side in ("left", "right"))
    if not attributes.get("is_causal") and left < 0 and right < 0:
        return np.ones((n_queries, n_keys), bool)
    allowed = np.ones((n, n), bool)
    if attributes.get("is_causal"):
        allowed &= attnlib.causal_mask(n)
    behind = attnlib.window_mask(n, width=left + 1) if left >= 0 else attnlib.causal_mask(n)
    ahead = attnlib.window_mask(n, width=right + 1).T if right >= 0 else attnlib.causal_mask(n).T
    allowed &= behind | ahead
    rows = np.zeros((n_queries, n_keys), bool)  # a query that stands before the first key sees nothing
    seen = range(max(0, -offset), n_queries)
    rows[seen.start :] = allowed[seen.start + offset : n_queries + offset, :n_keys]
    return rows


def run_attention(case):
    given, attributes = case.inputs, case.attributes
    Q, K, V = given["Q"], given["K"], given["V"]
    joined = Q.ndim == 3
    if joined:
        Q = attnlib.split_heads(Q, attributes["q_num_heads"])
        K, V = (attnlib.split_heads(rows, attributes["kv_num_heads"]) for rows in (K, V))
    past = 0
    if "past_key" in given:
        cache = KeyValueCache()
        cache.append(given["past_key"], given["past_value"])
        past = len(cache)
        cache.append(K, V)
        K, V = cache.keys, cache.values
        case.check("present_key", K)
        case.check("present_value", V)
    share = Q.shape[-3] // K.shape[-3]
    K, V = np.repeat(K, share, axis=-3), np.repeat(V, share, axis=-3)  # neighbouring query heads share
    n_queries, n_keys = Q.shape[-2], K.shape[-2]

    mask = given.get("attn_mask")
    if mask is not None:
        mask = np.atleast_2d(mask)
        rest = [(0, 0)] * (mask.ndim - 1) + [(0, n_keys - mask.shape[-1])]  # keys beyond the mask are hidden
        mask = np.pad(mask, rest, constant_values=False if mask.dtype == bool else -np.inf)
    lengths = given.get("nonpad_kv_seqlen")
    if lengths is None:
        mask = both(mask, allowed_keys(n_queries, n_keys, past, attributes))
    else:
        mask = both(mask, attnlib.padding_mask(lengths, n_keys)[:, None])
        order = [allowed_keys(n_queries, n_keys, int(n) - n_queries, attributes) for n in lengths]
        mask = both(mask, np.stack(order)[:, None])

    scale = attributes.get("scale")
    result = attnlib.attention(Q, K, V, mask, scale=scale)
    if "softcap" in attributes:
        capped = attnlib.soft_cap(result.scaled, attributes["softcap"])
        masked = apply_mask(capped, mask)
        weights = attnlib.softmax(masked)
        result = result._replace(masked=masked, weights=weights, output=weights @ V)
    else:
        capped = result.scaled
        blocks = attnlib.blockwise_attention(Q, K, V, mask, scale=scale, block=2)
        case.check("Y", attnlib.merge_heads(blocks) if joined else blocks)
    case.check("Y", attnlib.merge_heads(result.output) if joined else result.output)
    if "qk_matmul_output" in case.outputs:
        steps = (result.scaled, capped, result.masked, result.weights)
        case.check("qk_matmul_output", steps[attributes.get("qk_matmul_output_mode", 0)])


def run_rotary(case):
    # onnx brings numbers of its own in the place of cosines and sines: the turning itself is compared.
    X, cos, sin = (case.inputs[name] for name in ("input", "cos_cache", "sin_cache"))
    joined = X.ndim == 3
    if joined:
        X = attnlib.split_heads(X, case.attributes["num_heads"])
    if "position_ids" in case.inputs:
        cos, sin = (table[case.inputs["position_ids"]] for table in (cos, sin))  # (batch, n, d / 2)
    d = case.attributes.get("rotary_embedding_dim") or X.shape[-1]  # columns beyond these are not turned
    pairs = np.arange(d)
    if not case.attributes.get("interleaved"):  # partners stand half a row apart: bring them together
        pairs = pairs.reshape(2, -1).T.ravel()
    turned = X.copy()
    turned[..., pairs] = turn_pairs(X[..., pairs], cos[:, None], sin[:, None])  # (batch, heads, n, d)
    case.check("output", attnlib.merge_heads(turned) if joined else turned)


# --- what attnlib cannot say, and the proof that it cannot --------------------------------------------


def tanh_is_an_approximation(case):
    assert case.attributes["approximate"] == b"tanh"
    x, difference = case.inputs["x"], np.abs(gelu(case.inputs["x"]) - case.outputs["y"]).max()
    assert 2e-6 < difference < 1e-3, x


RUN = dict(zip(OPERATORS, (run_attention, run_softmax, run_layer_norm, run_gelu, run_rotary), strict=True))
REASONS = {tanh_is_an_approximation: "GELU approximated by tanh; attnlib has the exact one only"}


def cannot(case):
    """Give the proof that attnlib cannot say a case, or None."""
    return tanh_is_an_approximation if case.operator == "Gelu" and "approximate" in case.attributes else None


@pytest.mark.parametrize("name", CASES)
def test_case(name, record_property):
    case = Case(CASES[name])
    proof = cannot(case)
    if proof:
        proof(case)
    else:
        RUN[case.operator](case)
    outcome = REASONS[proof] if proof else "passed" if case.kind == "float32" else "passed, computed in float32"
    record_property("onnx", (case.operator, outcome))


def test_no_operator_is_missing():
    assert {Case(case).operator for case in CASES.values()} == set(OPERATORS)
    assert len(CASES) > 130


@pytest.mark.parametrize("name", [name for name in TWINS if TWINS[name] in CASES])
def test_a_twin_has_the_same_data(name):
    twin = next(case for case in cases_of_onnx._NodeTestCases if case.name == name)
    for mine, others in zip(twin.data_sets[0], CASES[TWINS[name]].data_sets[0], strict=True):
        for a, b in zip(mine, others, strict=True):
            np.testing.assert_array_equal(as_array(a), as_array(b))
