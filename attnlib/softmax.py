"""Softmax: from scores to weights (chapter 05)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attnlib.checks import Array, as_count, as_floats, first_true, require_finite


def softmax(x: ArrayLike, axis: int = -1) -> Array:
    """Turn scores into positive weights that sum to 1 along `axis`.

    Parameters
    ----------
    x : (..., n) scores. −inf means "never": its weight is exactly 0.
    axis : the axis along which the weights sum to 1. The last one by default: each row.

    Returns
    -------
    weights of the same shape and dtype as `x`. Where *all* scores along `axis` are −inf there is nothing to
    choose from, and all weights are 0.

    Examples
    --------
    >>> softmax([[0.0, 0.0], [0.0, np.log(3.0)]])
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    (x,) = as_floats("softmax", 1, x=x)
    axis = as_count("softmax", "axis", axis, least=-x.ndim)
    if axis >= x.ndim:
        raise ValueError(f"softmax: axis is {axis}, but x {x.shape} has axes 0 to {x.ndim - 1}")
    wrong = np.isnan(x) | (x == np.inf)
    if wrong.any():
        where = first_true(wrong)
        raise ValueError(f"softmax: x has {x[where]} at {where}; expected finite numbers or -inf")
    return np.moveaxis(shares_of_exp(np.moveaxis(x, axis, -1)), -1, axis)


def shares_of_exp(x: Array, out: Array | None = None) -> Array:
    """Compute softmax of the last axis without checking: `x` holds finite numbers or −inf.

    >>> shares_of_exp(np.array([-np.inf, 1e4, 1e4]))
    array([0. , 0.5, 0.5])
    """
    with np.errstate(over="ignore", under="ignore"):  # exp(-huge) = 0 is what is meant
        lowest = np.finfo(x.dtype).min  # where there is nothing to choose from: -inf - lowest = -inf, its exp is 0
        top = x.max(axis=-1, keepdims=True, initial=lowest)
        weights = np.subtract(x, top, out=out)  # at most 0, so that exp cannot overflow
        np.exp(weights, out=weights)
        total = np.einsum("...j->...", weights)[..., None]  # the sum of each row; quicker than .sum()
        weights /= np.maximum(total, 1)  # exp(top - top) is 1: less only if there is nothing, and then 0 / 1 = 0
    return weights


def softmax_jacobian(weights: ArrayLike) -> Array:
    """Tell how each weight moves when each score moves: d weight_i / d score_j.

    Parameters
    ----------
    weights : (..., n), what softmax gave

    Returns
    -------
    (..., n, n): diag(w) − w wᵀ, row i for weight i, column j for score j

    Examples
    --------
    >>> softmax_jacobian([0.5, 0.5])
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    w = as_weights("softmax_jacobian", weights)
    with np.errstate(under="ignore"):
        return w[..., :, None] * (np.eye(w.shape[-1], dtype=w.dtype) - w[..., None, :])


def entropy(weights: ArrayLike) -> Array:
    """Tell how spread out weights are, in bits: 0 for one-hot, log2(n) for n equal weights.

    Parameters
    ----------
    weights : (..., n), not negative; a weight of 0 adds nothing

    Returns
    -------
    (...) bits: 2 to that power is about how many keys take part

    Examples
    --------
    >>> entropy([[0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0]])
    array([2., 0.])
    """
    w = as_weights("entropy", weights)
    with np.errstate(under="ignore"):
        logs = np.log2(np.where(w > 0, w, 1))  # 0 · log 0 counts as 0
        return np.abs((w * logs).sum(axis=-1))  # the sum is at most 0; abs also turns -0 into 0


def as_weights(who: str, weights: ArrayLike) -> Array:
    """Give `weights` as floats from 0 to 1.

    >>> as_weights("demo", [0.25, 0.75])
    array([0.25, 0.75])
    """
    (w,) = as_floats(who, 1, weights=weights)
    require_finite(who, weights=w)
    wrong = (w < 0) | (w > 1 + 1e-6)
    if wrong.any():
        where = first_true(wrong)
        raise ValueError(f"{who}: weights has {w[where]} at {where}; expected shares from 0 to 1")
    return w
