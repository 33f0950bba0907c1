"""Gradients: how a loss changes when each number changes a little (chapter 09).

`d_output` is the gradient of the loss with respect to `output`: one number for each number of the output. Every
function here takes the gradient of what came out, and gives the gradient of what went in, in the same shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnlib.attention import AttentionResult, attention, largest
from attnlib.checks import (
    FLOAT64,
    Array,
    as_count,
    as_floats,
    as_real,
    as_whole_numbers,
    brief,
    first_true,
    require_bounded,
    require_finite,
    require_linear,
    require_shape,
)


def softmax_backward(weights: ArrayLike, d_weights: ArrayLike) -> Array:
    """Go back through softmax: from the gradient of the weights to that of the scores.

    It is d_weights times the Jacobian diag(w) − w wᵀ, without ever building that matrix.

    Parameters
    ----------
    weights : (..., n), what softmax gave
    d_weights : (..., n)

    Returns
    -------
    d_scores : (..., n). Each row sums to 0: to add the same number to all scores changes nothing.

    Examples
    --------
    >>> softmax_backward([0.5, 0.5], [1.0, 0.0])
    array([ 0.25, -0.25])
    """
    weights, d_weights = as_floats("softmax_backward", 1, weights=weights, d_weights=d_weights)
    require_shape("softmax_backward", "d_weights", d_weights, weights.shape, "the shape of weights")
    require_finite("softmax_backward", weights=weights, d_weights=d_weights)
    share = max(1, largest(weights))  # 1 if they are weights
    reach = largest(d_weights) * share * share * (weights.shape[-1] + 1)
    require_bounded("softmax_backward", "the gradient", reach, weights.dtype, "scale d_weights down")
    with np.errstate(under="ignore"):  # a weight of almost 0 passes almost nothing on
        mean = (weights * d_weights).sum(axis=-1, keepdims=True)  # (..., 1)
        return weights * (d_weights - mean)


class AttentionGradients(NamedTuple):
    """The gradients of attention, each in the shape of its input.

    >>> attention_backward(np.ones((3, 4)), np.ones((5, 4)), np.ones((5, 2)), np.ones((3, 2)))
    AttentionGradients(dQ (3, 4), dK (5, 4), dV (5, 2))
    """

    dQ: Array  # noqa: N815 - Q, K and V are the paper's names
    """(..., n_queries, d_k)"""
    dK: Array  # noqa: N815
    """(..., n_keys, d_k)"""
    dV: Array  # noqa: N815
    """(..., n_keys, d_v)"""

    def __repr__(self) -> str:
        """Show names and shapes; the numbers would fill the screen."""
        shapes = ", ".join(f"{name} {getattr(self, name).shape}" for name in self._fields)
        return f"AttentionGradients({shapes})"


def attention_backward(
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    d_output: ArrayLike,
    mask: ArrayLike | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> AttentionGradients:
    """Go back through attention: from the gradient of the output to those of Q, K and V.

    The steps of `attention` in the opposite order; the weights are computed again on the way.

    Parameters
    ----------
    Q, K, V, mask, causal, scale : what `attention` was given
    d_output : (..., n_queries, d_v)

    Returns
    -------
    AttentionGradients with `dQ`, `dK` and `dV`, in the shapes of Q, K and V: where a leading axis was broadcast,
    the gradient is summed over it. A query that may attend to nothing gets, and gives, zeros.

    Examples
    --------
    >>> Q, K, V = np.eye(2), np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 10.0]])
    >>> dQ, dK, dV = attention_backward(Q, K, V, d_output=np.ones((2, 2)))
    >>> dQ.round(2)
    array([[-2.,  2.],
           [-2.,  2.]])
    >>> dV.round(2)
    array([[1., 1.],
           [1., 1.]])
    """
    Q, K, V, d_output = as_floats("attention_backward", Q=Q, K=K, V=V, d_output=d_output)
    result = _forward(Q, K, V, mask, causal, scale)
    require_shape("attention_backward", "d_output", d_output, result.output.shape, "the shape of the output")
    require_finite("attention_backward", d_output=d_output)
    factor = 1 / math.sqrt(Q.shape[-1]) if scale is None else float(scale)
    steps = 2 * largest(V) * V.shape[-1] * max(1, abs(factor)) * max(1, largest(Q), largest(K))
    reach = largest(d_output) * result.output.size * K.shape[-2] * max(1, steps)
    require_bounded("attention_backward", "the gradient", reach, Q.dtype, "scale d_output down")

    dV = result.weights.swapaxes(-1, -2) @ d_output  # (..., n_keys, d_v)
    d_weights = d_output @ V.swapaxes(-1, -2)  # (..., n_queries, n_keys)
    d_scaled = softmax_backward(result.weights, sum_to_shape(d_weights, result.weights.shape))
    d_scores = factor * d_scaled  # a mask is added or hides: where it hides, the weight is 0, and so is this
    dQ = d_scores @ K  # (..., n_queries, d_k)
    dK = d_scores.swapaxes(-1, -2) @ Q  # (..., n_keys, d_k)
    return AttentionGradients(sum_to_shape(dQ, Q.shape), sum_to_shape(dK, K.shape), sum_to_shape(dV, V.shape))


def _forward(Q: Array, K: Array, V: Array, mask: Any, causal: bool, scale: float | None) -> AttentionResult:
    """Run `attention`, whose complaints then come in the name of `attention_backward`."""
    try:
        return attention(Q, K, V, mask, causal=causal, scale=scale)
    except (TypeError, ValueError) as error:
        raise type(error)("attention_backward" + str(error).removeprefix("attention")) from None


def sum_to_shape(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Undo broadcasting: what was used several times gets the sum of its gradients.

    Parameters
    ----------
    gradient : an array of the shape to which broadcasting stretched
    shape : the shape before

    Examples
    --------
    >>> sum_to_shape(np.ones((5, 2, 3)), (1, 3))
    array([[10., 10., 10.]])
    """
    if gradient.shape == shape:
        return gradient
    added = tuple(range(gradient.ndim - len(shape)))
    gradient = gradient.sum(axis=added)  # as many axes as `shape`
    stretched = tuple(axis for axis, length in enumerate(shape) if length == 1)
    return gradient.sum(axis=stretched, keepdims=True)  # `shape`


def linear_backward(X: ArrayLike, W: ArrayLike, d_output: ArrayLike) -> tuple[Array, Array]:
    """Go back through output = X W.

    Parameters
    ----------
    X : (..., n, d_in)
    W : (d_in, d_out)
    d_output : (..., n, d_out)

    Returns
    -------
    dX : (..., n, d_in)
    dW : (d_in, d_out), summed over all rows of X, because all of them use the same W

    Examples
    --------
    >>> dX, dW = linear_backward([[1.0, 2.0]], [[3.0], [4.0]], [[10.0]])
    >>> dX
    array([[30., 40.]])
    >>> dW
    array([[10.],
           [20.]])
    """
    X, W, d_output = as_floats("linear_backward", 1, X=X, W=W, d_output=d_output)
    require_linear("linear_backward", X, "W", W)
    require_shape("linear_backward", "d_output", d_output, (*X.shape[:-1], W.shape[1]), "the shape of X W")
    require_finite("linear_backward", X=X, W=W, d_output=d_output)
    size = largest(d_output)
    reach = max(size * largest(W) * W.shape[1], size * largest(X) * (X.size // X.shape[-1]))
    require_bounded("linear_backward", "the gradient", reach, X.dtype, "scale d_output down")
    rows, d_rows = X.reshape(-1, W.shape[0]), d_output.reshape(-1, W.shape[1])  # (rows, d_in), (rows, d_out)
    return (d_rows @ W.T).reshape(X.shape), rows.T @ d_rows  # dX: (..., n, d_in), dW: (d_in, d_out)


def embedding_backward(ids: ArrayLike, d_X: ArrayLike, size: int) -> Array:
    """Go back through X = table[ids], which is `embed`.

    Parameters
    ----------
    ids : (..., n) whole numbers from 0 to size − 1
    d_X : (..., n, d)
    size : number of tokens in the vocabulary

    Returns
    -------
    d_table : (size, d). A token that is there twice gets the sum; one that is not there gets zeros.

    Examples
    --------
    >>> embedding_backward([2, 0, 2], [[1.0, 1.0], [5.0, 6.0], [10.0, 20.0]], size=3)
    array([[ 5.,  6.],
           [ 0.,  0.],
           [11., 21.]])
    """
    (d_X,) = as_floats("embedding_backward", d_X=d_X)
    size = as_count("embedding_backward", "size", size)
    places = as_whole_numbers("embedding_backward", "ids", ids, 0, size - 1)
    require_shape("embedding_backward", "d_X", d_X, (*places.shape, d_X.shape[-1]), "one row for each id")
    require_finite("embedding_backward", d_X=d_X)
    require_bounded("embedding_backward", "the sum", largest(d_X) * places.size, d_X.dtype, "scale d_X down")
    columns = d_X.reshape(-1, d_X.shape[-1]).T  # (d, all ids)
    # Unlike d_table[ids] += d_X, bincount adds twice what is there twice.
    sums = [np.bincount(places.ravel(), weights=column, minlength=size) for column in columns]  # d times (size,)
    return np.stack(sums, axis=1).astype(d_X.dtype, copy=False)  # (size, d)


def cross_entropy(logits: ArrayLike, targets: ArrayLike) -> tuple[float, Array]:
    """Tell how surprised softmax(logits) is by the targets, on average, and how to be less so.

    Parameters
    ----------
    logits : (..., classes), one score for each class
    targets : (...) whole numbers from 0 to classes − 1: the class that was right

    Returns
    -------
    loss : the mean of −log(weight of the target), a Python float: 0 if certain and right, log(classes) if clueless
    d_logits : (..., classes): softmax(logits), less 1 at the target, divided by the number of targets

    Examples
    --------
    >>> loss, d_logits = cross_entropy([[0.0, 0.0], [0.0, 0.0]], [0, 1])
    >>> round(loss, 4)
    0.6931
    >>> d_logits
    array([[-0.25,  0.25],
           [ 0.25, -0.25]])
    """
    (logits,) = as_floats("cross_entropy", 1, logits=logits)
    places = as_whole_numbers("cross_entropy", "targets", targets, 0, logits.shape[-1] - 1)
    require_shape("cross_entropy", "targets", places, logits.shape[:-1], "one for each row of logits")
    require_finite("cross_entropy", logits=logits)
    spread = 2 * largest(logits)
    require_bounded("cross_entropy", "the difference of two logits", spread, logits.dtype, "scale logits down")

    at_target = places[..., None]  # (..., 1)
    shifted = logits - logits.max(axis=-1, keepdims=True)  # at most 0, so that exp cannot overflow
    with np.errstate(under="ignore"):  # exp(-huge) = 0 is what is meant
        exps = np.exp(shifted)
        total = exps.sum(axis=-1, keepdims=True)  # (..., 1)
        surprise = np.log(total) - np.take_along_axis(shifted, at_target, axis=-1)  # (..., 1)
        d_logits = exps / total
        d_logits -= np.arange(logits.shape[-1]) == at_target  # 1 at the target, 0 elsewhere
        d_logits /= places.size
    return float(surprise.mean(dtype=FLOAT64)), d_logits


def numerical_gradient(f: Callable[[Array], Any], x: ArrayLike, step: float = 1e-6) -> Array:
    """Measure a gradient: move each number of `x` a little up and a little down, and watch `f`.

    It is slow (two calls of `f` for each number) but knows no calculus, and so can judge what was derived with it.

    Parameters
    ----------
    f : a function of an array of the shape of `x`, that gives one number
    x : any shape, float64
    step : how far to move

    Returns
    -------
    (f(x + step) − f(x − step)) / (2 · step) for each number, in the shape of `x`

    Examples
    --------
    >>> numerical_gradient(lambda x: (x**2).sum(), [1.0, 5.0]).round(6)
    array([ 2., 10.])
    """
    if not callable(f):
        raise TypeError(f"numerical_gradient: f is {brief(f)} ({type(f).__name__}); expected a function")
    (x,) = as_floats("numerical_gradient", 0, x=x)
    if x.dtype != FLOAT64:
        raise TypeError(f"numerical_gradient: x holds {x.dtype}; expected float64, or rounding drowns the step")
    require_finite("numerical_gradient", x=x)
    step = as_real("numerical_gradient", "step", step, "a number above 0")
    require_bounded("numerical_gradient", "x and step", largest(x) + step, FLOAT64, "use smaller ones")
    stays = (x + step == x) | (x - step == x)
    if stays.any():
        found = x[first_true(stays)]
        raise ValueError(
            f"numerical_gradient: step is {step}, which is lost beside {found} in x; use a longer one"
        )
    gradient = np.empty_like(x)
    for place in np.ndindex(x.shape):
        move = np.zeros_like(x)
        move[place] = step
        rise = _value(f, x + move) - _value(f, x - move)
        slope = rise / (2 * step)
        require_bounded("numerical_gradient", "the gradient", abs(slope), FLOAT64, "use a longer step")
        gradient[place] = slope
    return gradient


def _value(f: Callable[[Array], Any], x: Array) -> float:
    """Give f(x), which must be one number."""
    value = f(x)
    if isinstance(value, (tuple, list)) or np.ndim(value) or np.asarray(value).dtype.kind not in "fiu":
        raise TypeError(f"numerical_gradient: f gave a {type(value).__name__}; expected one number")
    if not math.isfinite(value):
        raise ValueError(f"numerical_gradient: f gave {float(value)}; expected a finite number")
    return float(value)
