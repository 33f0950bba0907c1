"""Scaled dot-product attention, with every step kept by name (chapter 06)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnlib.checks import (
    Array,
    as_flag,
    as_floats,
    as_regular,
    brief,
    first_true,
    length_of_all,
    require_bounded,
    require_finite,
)
from attnlib.masks import causal_mask
from attnlib.similarity import require_broadcast
from attnlib.softmax import shares_of_exp

FAR_BELOW = 1e30  # the largest float32, and so the largest float64
MANY = 2**19  # scores in one head: from so many on it pays to give heads to threads


class AttentionResult(NamedTuple):
    """Every step of one attention, in order. Rows are queries, columns are keys.

    >>> attention(np.ones((3, 4)), np.ones((5, 4)), np.ones((5, 2)))
    AttentionResult(scores (3, 5), scaled (3, 5), masked (3, 5), weights (3, 5), output (3, 2))
    """

    scores: Array
    """Q Kᵀ: (..., n_queries, n_keys)"""
    scaled: Array
    """scores · scale, by default scores / √d_k"""
    masked: Array
    """what softmax sees: scaled, with −inf where a query may not attend; `scaled` itself without a mask"""
    weights: Array
    """softmax of each row of masked"""
    output: Array
    """weights V: (..., n_queries, d_v)"""

    def __repr__(self) -> str:
        """Show names and shapes; the numbers would fill the screen."""
        shapes = ", ".join(f"{name} {getattr(self, name).shape}" for name in self._fields)
        return f"AttentionResult({shapes})"


def attention(
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    mask: ArrayLike | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> AttentionResult:
    """Let each query gather values, weighted by how well its query meets their keys.

    softmax(Q Kᵀ / √d_k) V, with every intermediate kept.

    Parameters
    ----------
    Q : (..., n_queries, d_k)
    K : (..., n_keys, d_k)
    V : (..., n_keys, d_v)
    mask : broadcasts to (..., n_queries, n_keys). Boolean: True = may attend. Float: added to the scaled scores
        (−inf = may not attend). A query that may attend to nothing gets weights 0 and output 0.
    causal : also hide the later keys from each query; the last query lines up with the last key.
    scale : the scores are multiplied by it; 1/√d_k if not given.

    Returns
    -------
    AttentionResult with `scores`, `scaled`, `masked`, `weights` and `output`. Leading (batch or head) axes
    broadcast. float32 in gives float32 out.

    Examples
    --------
    >>> Q, K, V = np.eye(2), np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 10.0]])
    >>> result = attention(Q, K, V)
    >>> result.weights.round(2)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    >>> result.output.round(2)
    array([[0.8 , 1.96],
           [0.2 , 8.04]])
    """
    Q, K, V, factor = as_attention("attention", Q, K, V, scale)
    n_queries, n_keys = Q.shape[-2], K.shape[-2]
    allowed = as_mask("attention", mask, (n_queries, n_keys), Q.dtype, leading=(Q, K, V))
    if as_flag("attention", "causal", causal):
        allowed = both(allowed, causal_mask(n_queries, n_keys))
    if n_queries * n_keys >= MANY and math.prod(Q.shape[:-2]) > 1:
        return _by_heads(Q, K, V, allowed, factor)

    scores = Q @ K.swapaxes(-1, -2)  # (..., n_queries, n_keys)
    scaled = scores * scores.dtype.type(factor)  # a float of the same dtype: float32 stays float32
    masked = scaled if allowed is None else apply_mask(scaled, allowed)
    weights = shares_of_exp(masked)  # (..., n_queries, n_keys)
    output = weights @ V  # (..., n_queries, d_v)
    return AttentionResult(scores, scaled, masked, weights, output)


def _by_heads(Q: Array, K: Array, V: Array, mask: Array | None, factor: float) -> AttentionResult:
    """Take the same steps with threads, each with one head at a time: no head needs another."""
    from attnlib.threads import share  # here: most calls are small, and need not wait for its import

    leading = require_broadcast("attention", Q=Q, K=K, V=V, mask=Q if mask is None else mask)
    n_queries, n_keys = Q.shape[-2], K.shape[-2]
    scores, scaled, weights = (np.empty((*leading, n_queries, n_keys), Q.dtype) for _ in range(3))
    masked = scaled if mask is None else np.empty_like(scaled)
    output = np.empty((*leading, n_queries, V.shape[-1]), Q.dtype)
    Q, K, V = (np.broadcast_to(array, (*leading, *array.shape[-2:])) for array in (Q, K, V))  # views, no copies
    if mask is not None:
        mask = np.broadcast_to(mask, scores.shape)

    def take(head: tuple[int, ...]) -> None:
        np.matmul(Q[head], K[head].T, out=scores[head])  # (n_queries, n_keys)
        np.multiply(scores[head], Q.dtype.type(factor), out=scaled[head])
        if mask is not None:
            masked[head] = apply_mask(scaled[head], mask[head])
        shares_of_exp(masked[head], out=weights[head])
        np.matmul(weights[head], V[head], out=output[head])  # (n_queries, d_v)

    share(take, list(np.ndindex(leading)))
    return AttentionResult(scores, scaled, masked, weights, output)


def as_attention(
    who: str, Q: ArrayLike, K: ArrayLike, V: ArrayLike, scale: float | None
) -> tuple[Array, Array, Array, float]:
    """Give Q, K, V as float arrays that fit together, and the factor of the scores.

    >>> as_attention("demo", [[1, 2, 3, 4]], [[5, 6, 7, 8]], [[9]], None)[3]
    0.5
    """
    Q, K, V = as_floats(who, Q=Q, K=K, V=V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"{who}: the queries have d_k = {Q.shape[-1]} numbers but the keys have {K.shape[-1]}; "
            f"a dot product needs the same (Q is {Q.shape}, K is {K.shape})"
        )
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"{who}: K has {K.shape[-2]} keys but V has {V.shape[-2]} values; each key needs exactly one "
            f"value (K is {K.shape}, V is {V.shape})"
        )
    require_broadcast(who, Q=Q, K=K, V=V)
    factor = 1 / math.sqrt(Q.shape[-1]) if scale is None else as_scale(who, scale)
    stretch = max(1, abs(factor))
    reach = stretch * (1 + length_of_all(Q) * length_of_all(K)) + length_of_all(V)
    if not reach < FAR_BELOW:  # NaN is not, either
        require_finite(who, Q=Q, K=K, V=V)
        require_bounded(who, "scale", abs(factor), Q.dtype, "use a smaller one")
        require_bounded(who, "the scores", stretch * score_bound(Q, K), Q.dtype, "scale Q or K down")
        require_bounded(who, "the output", largest(V), Q.dtype, "scale V down")
    return Q, K, V, factor


def apply_mask(scaled: Array, mask: Array) -> Array:
    """Hide keys from queries, *before* softmax.

    Parameters
    ----------
    scaled : (..., n_queries, n_keys)
    mask : broadcasts to that; boolean (False becomes −inf) or float (added)

    Examples
    --------
    >>> apply_mask(np.array([[1.0, 2.0]]), np.array([[True, False]]))
    array([[  1., -inf]])
    """
    if mask.dtype == bool:
        return np.where(mask, scaled, scaled.dtype.type(-np.inf))
    return scaled + mask


def both(mask: Array | None, allowed: Array) -> Array:
    """Join a boolean or float mask (or none) and a boolean one: only what both let through.

    >>> both(np.array([[0.5, 0.5]]), np.array([[True, False]]))
    array([[ 0.5, -inf]])
    """
    if mask is None:
        return allowed
    if mask.dtype == bool:
        return mask & allowed
    return apply_mask(mask, allowed)


def as_mask(
    who: str, mask: ArrayLike | None, pair: tuple[int, int], dtype: np.dtype[Any], leading: tuple[Array, ...]
) -> Array | None:
    """Give a mask that fits (..., n_queries, n_keys), as booleans or floats of `dtype`.

    >>> as_mask("demo", [[True, False]], (3, 2), np.dtype(float), leading=())
    array([[ True, False]])
    """
    if mask is None:
        return None
    array = as_regular(who, "mask", mask)
    if array.dtype != bool and array.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"{who}: mask holds {array.dtype}; expected booleans (True = may attend) or floats (added to the "
            "scaled scores)"
        )
    if array.ndim < 2:
        raise ValueError(
            f"{who}: mask has shape {array.shape}; expected (n_queries, n_keys) = {pair}, or (1, {pair[1]}) to "
            "hide the same keys from all queries"
        )
    if array.size == 0:
        raise ValueError(f"{who}: mask is empty {array.shape}; every axis needs at least one entry")
    if any(found not in (1, wanted) for found, wanted in zip(array.shape[-2:], pair, strict=True)):
        raise ValueError(f"{who}: mask has shape {array.shape}; expected (..., n_queries, n_keys) = {pair}")
    require_broadcast(who, **dict(zip("QKV", leading, strict=False)), mask=array)
    if array.dtype == bool:
        return array
    with np.errstate(invalid="ignore"):
        wrong = (
            np.isnan(array) | (array == np.inf) | (np.abs(array) > np.finfo(dtype).max / 4) & np.isfinite(array)
        )
    if wrong.any():
        where = first_true(wrong)
        raise ValueError(f"{who}: mask has {array[where]} at {where}; expected moderate numbers or -inf")
    return array.astype(dtype, copy=False)


def as_scale(who: str, scale: Any) -> float:
    """Give `scale` as a finite Python float.

    >>> as_scale("demo", np.float32(0.5))
    0.5
    """
    number = as_regular(who, "scale", scale)
    if number.ndim or number.dtype.kind not in "fiu":
        raise TypeError(f"{who}: scale is {brief(scale)} ({type(scale).__name__}); expected one number")
    factor = float(number)
    if not math.isfinite(factor):
        raise ValueError(f"{who}: scale is {factor}; expected a finite number such as 1/√d_k")
    return factor


def score_bound(Q: Array, K: Array) -> float:
    """Give a number that no score can exceed: |q·k| ≤ |q| |k|, and no row is longer than the whole.

    >>> score_bound(np.array([[3.0, 4.0]]), np.array([[2.0, 0.0]]))
    10.0
    """
    bound = length_of_all(Q) * length_of_all(K)
    return bound if bound < FAR_BELOW else largest(Q) * largest(K) * Q.shape[-1]  # closer where one entry is huge


def largest(array: Array) -> float:
    """Give the largest size of any entry.

    >>> largest(np.array([1.0, -3.0]))
    3.0
    """
    return max(float(array.max()), -float(array.min()))
