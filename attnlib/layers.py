"""The other parts of a transformer block, forward and backward: layer norm, GELU, feed-forward (chapter 10)."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from attnlib.attention import largest
from attnlib.checks import (
    FLOAT64,
    Array,
    as_floats,
    as_held,
    require_bounded,
    require_finite,
    require_linear,
    require_shape,
)
from attnlib.gradients import linear_backward, sum_to_shape


def layer_norm(X: ArrayLike, gain: ArrayLike, bias: ArrayLike, eps: float = 1e-5) -> Array:
    """Bring each row to mean 0 and variance 1, then stretch and shift its columns.

    Parameters
    ----------
    X : (..., d)
    gain : (d,), times each row
    bias : (d,), added to each row
    eps : added to the variance, so that a row of equal numbers does not divide by 0

    Returns
    -------
    (..., d)

    Examples
    --------
    >>> layer_norm([[1.0, 3.0], [10.0, 30.0]], gain=[1.0, 1.0], bias=[0.0, 5.0]).round(3)
    array([[-1.,  6.],
           [-1.,  6.]])
    """
    X, gain, bias = as_floats("layer_norm", 1, X=X, gain=gain, bias=bias)
    eps = _check_norm("layer_norm", X, eps, gain=gain, bias=bias)
    reach = largest(gain) * math.sqrt(X.shape[-1]) + largest(bias)  # no entry of a normal row exceeds √d
    require_bounded("layer_norm", "the output", reach, X.dtype, "scale gain or bias down")
    normal, _ = _standardise(X, eps)
    return gain * normal + bias


def layer_norm_backward(
    X: ArrayLike, gain: ArrayLike, d_output: ArrayLike, eps: float = 1e-5
) -> tuple[Array, Array, Array]:
    """Go back through `layer_norm`.

    Parameters
    ----------
    X, gain, eps : what `layer_norm` was given
    d_output : (..., d)

    Returns
    -------
    dX : (..., d). Each row sums to 0: to add the same number to a whole row changes nothing.
    d_gain : (d,), summed over all rows
    d_bias : (d,), summed over all rows

    Examples
    --------
    >>> dX, d_gain, d_bias = layer_norm_backward([[1.0, 3.0]], [1.0, 1.0], [[-2.0, 1.0]])
    >>> d_gain.round(3), d_bias
    (array([2., 1.]), array([-2.,  1.]))
    """
    X, gain, d_output = as_floats("layer_norm_backward", 1, X=X, gain=gain, d_output=d_output)
    eps = _check_norm("layer_norm_backward", X, eps, gain=gain)
    require_shape("layer_norm_backward", "d_output", d_output, X.shape, "the shape of X")
    require_finite("layer_norm_backward", d_output=d_output)
    d = X.shape[-1]
    reach = largest(d_output) * max(largest(gain) * (2 + d) / math.sqrt(eps), X.size)
    require_bounded("layer_norm_backward", "the gradient", reach, X.dtype, "scale d_output down")
    normal, deviation = _standardise(X, eps)
    d_gain = sum_to_shape(d_output * normal, gain.shape)  # (d,)
    d_bias = sum_to_shape(d_output, gain.shape).copy()  # (d,), never the caller's own array
    d_normal = d_output * gain
    through_mean = d_normal.mean(axis=-1, keepdims=True)  # (..., 1)
    through_deviation = normal * (d_normal * normal).mean(axis=-1, keepdims=True)  # (..., d)
    return (d_normal - through_mean - through_deviation) / deviation, d_gain, d_bias


def _standardise(X: Array, eps: float) -> tuple[Array, Array]:
    """Give each row less its mean, divided by its deviation, (..., d); and the deviations (..., 1)."""
    deviation = np.sqrt(X.var(axis=-1, keepdims=True) + eps)  # (..., 1)
    return (X - X.mean(axis=-1, keepdims=True)) / deviation, deviation


def _check_norm(who: str, X: Array, eps: float, **rows: Array) -> float:
    for name, row in rows.items():
        require_shape(who, name, row, X.shape[-1:], "one number for each column of X")
    require_finite(who, X=X, **rows)
    bound = largest(X) * largest(X) * X.shape[-1]
    require_bounded(who, "the variance", bound, X.dtype, "scale X down")
    return float(as_held(who, "eps", eps, X.dtype))


def relu(x: ArrayLike) -> Array:
    """Keep what is positive; make the rest 0.

    Parameters
    ----------
    x : any shape

    Examples
    --------
    >>> relu([-2.0, 0.0, 3.0])
    array([0., 0., 3.])
    """
    (x,) = as_floats("relu", 0, x=x)
    require_finite("relu", x=x)
    return np.maximum(x, 0)


def relu_backward(x: ArrayLike, d_output: ArrayLike) -> Array:
    """Go back through `relu`: the gradient passes where x was positive.

    At 0 exactly there are two slopes, 0 and 1; this takes 0.

    Parameters
    ----------
    x : any shape, what `relu` was given
    d_output : the same shape

    Examples
    --------
    >>> relu_backward([-2.0, 0.0, 3.0], [10.0, 20.0, 30.0])
    array([ 0.,  0., 30.])
    """
    x, d_output = _same_shape("relu_backward", x, d_output)
    return np.where(x > 0, d_output, 0)


def erf(x: ArrayLike) -> Array:
    """Give the error function, 2/√π ∫₀ˣ exp(−t²) dt, which NumPy does not have; off by less than 1e-15.

    A step from −1 to 1, blurred by exp(−t²)/√π, is erf. So take a square wave: such steps up and down, 12 apart.
    It is a sum of sines, (4/π) Σ sin(ωx)/k with ω = kπ/12 and k = 1, 3, 5, ..., and the blur shrinks each of them
    by exp(−ω²/4): few are left. Between −6 and 6 the other steps, and the sines after k = 47, change it by less
    than 1e-16. Farther away erf is ±1, to the last digit. For float32, steps 8 apart and sines up to k = 21 do;
    it is off by less than 1.2e-7, two of its last digits.

    Parameters
    ----------
    x : any shape

    Examples
    --------
    >>> erf([-9.0, 0.0, 0.5]).round(8)
    array([-1.        ,  0.        ,  0.52049988])
    """
    (x,) = as_floats("erf", 0, x=x)
    require_finite("erf", x=x)
    apart, last = (12, 47) if x.dtype == FLOAT64 else (8, 21)
    flat, result = x.ravel(), np.empty(x.size, x.dtype)
    for start in range(0, x.size, 16384):  # so many at a time stay in the processor's cache
        part = flat[start : start + 16384]
        near = np.clip(part, -apart / 2, apart / 2)
        wave = _blurred_wave(near, apart, last)
        np.clip(wave, -1, 1, out=wave)  # rounding keeps off ±1
        result[start : start + 16384] = np.where(near == part, wave, np.sign(part))
    return result.reshape(x.shape)


def _blurred_wave(x: Array, apart: int, last: int) -> Array:
    """Add the sines up to k = `last` of the square wave of `erf`, with one call of sin instead of one for each k.

    For every odd k, sin(kθ) is sin θ times a polynomial of y = 2 cos(2θ). So the sum of them is that, too.
    """
    sine = np.sin(x * (math.pi / apart)).astype(FLOAT64, copy=False)  # sin θ
    with np.errstate(under="ignore"):
        y = 2 - 4 * sine * sine
    *factors, highest = _wave_in_y(apart, last)
    wave = np.full_like(sine, highest)
    for factor in reversed(factors):  # Horner's way
        wave *= y
        wave += factor
    wave *= sine
    return wave


@cache
def _wave_in_y(apart: int, last: int) -> list[float]:
    """Give the factors of 1, y, y², ... in it: sin(kθ) = y sin((k−2)θ) − sin((k−4)θ) gives one k after another."""
    before, now, total = np.zeros((3, (last + 1) // 2))
    before[0], now[0] = -1, 1  # sin(−θ) = −sin θ, and sin θ itself
    for k in range(1, last + 1, 2):
        omega = k * math.pi / apart
        total += 4 / math.pi * math.exp(-omega * omega / 4) / k * now
        before, now = now, np.roll(now, 1) - before  # to multiply by y is to move each factor on by one place
    return total.tolist()


def gelu(x: ArrayLike) -> Array:
    """Give x Φ(x): each number times the share of a normal distribution that lies below it.

    A smooth `relu`, and the exact GELU: Φ(x) = (1 + erf(x/√2)) / 2, not its approximation by tanh.

    Parameters
    ----------
    x : any shape

    Examples
    --------
    >>> gelu([-9.0, -1.0, 0.0, 1.0, 9.0]).round(4)
    array([-0.    , -0.1587,  0.    ,  0.8413,  9.    ])
    """
    (x,) = as_floats("gelu", 0, x=x)
    require_finite("gelu", x=x)
    share = _share_below(x)
    share *= x
    return share


def gelu_backward(x: ArrayLike, d_output: ArrayLike) -> Array:
    """Go back through `gelu`: its slope is Φ(x) + x φ(x), where φ(x) = exp(−x²/2)/√(2π) is the slope of Φ.

    Parameters
    ----------
    x : any shape, what `gelu` was given
    d_output : the same shape

    Examples
    --------
    >>> gelu_backward([-9.0, 0.0, 9.0], [1.0, 1.0, 1.0]).round(4)
    array([-0. ,  0.5,  1. ])
    """
    x, d_output = _same_shape("gelu_backward", x, d_output)
    reach = 2 * largest(d_output)  # the slope is never steeper than 1.13
    require_bounded("gelu_backward", "the gradient", reach, x.dtype, "scale d_output down")
    near = np.clip(x, -40, 40)  # farther away φ is 0 anyway, and x² could overflow
    with np.errstate(under="ignore"):
        density = np.exp(-near * near / 2) / math.sqrt(2 * math.pi)
        return d_output * (_share_below(x) + near * density)


def _share_below(x: Array) -> Array:
    """Give Φ(x): the share of a normal distribution below x."""
    share = erf(x / math.sqrt(2))
    share += 1  # in place: large arrays cost more to make than to fill
    share /= 2
    return share


def _same_shape(who: str, x: ArrayLike, d_output: ArrayLike) -> tuple[Array, Array]:
    x, d_output = as_floats(who, 0, x=x, d_output=d_output)
    require_shape(who, "d_output", d_output, x.shape, "the shape of x")
    require_finite(who, x=x, d_output=d_output)
    return x, d_output


def feed_forward(X: ArrayLike, W_1: ArrayLike, b_1: ArrayLike, W_2: ArrayLike, b_2: ArrayLike) -> Array:
    """Let each token think for itself: relu(X W_1 + b_1) W_2 + b_2, row by row.

    Parameters
    ----------
    X : (..., n, d_model)
    W_1 : (d_model, d_ff)
    b_1 : (d_ff,)
    W_2 : (d_ff, d_out), where d_out = d_model in a transformer block
    b_2 : (d_out,)

    Returns
    -------
    (..., n, d_out)

    Examples
    --------
    >>> feed_forward([[1.0], [-1.0]], W_1=[[1.0, -1.0]], b_1=[0.0, 0.0], W_2=[[1.0], [10.0]], b_2=[0.5])
    array([[ 1.5],
           [10.5]])
    """
    X, W_1, b_1, W_2, b_2 = as_floats("feed_forward", 1, X=X, W_1=W_1, b_1=b_1, W_2=W_2, b_2=b_2)
    _check_feed_forward("feed_forward", X, W_1, b_1, W_2, b_2)
    hidden = relu(X @ W_1 + b_1)  # (..., n, d_ff)
    return hidden @ W_2 + b_2  # (..., n, d_out)


def feed_forward_backward(
    X: ArrayLike, W_1: ArrayLike, b_1: ArrayLike, W_2: ArrayLike, b_2: ArrayLike, d_output: ArrayLike
) -> tuple[Array, Array, Array, Array, Array]:
    """Go back through `feed_forward`.

    Parameters
    ----------
    X, W_1, b_1, W_2, b_2 : what `feed_forward` was given
    d_output : (..., n, d_out)

    Returns
    -------
    dX, dW_1, db_1, dW_2, db_2 : each in the shape of its input

    Examples
    --------
    >>> gradients = feed_forward_backward([[1.0]], [[1.0, -1.0]], [0.0, 0.0], [[1.0], [10.0]], [0.5], [[2.0]])
    >>> [gradient.tolist() for gradient in gradients]
    [[[2.0]], [[2.0, 0.0]], [2.0, 0.0], [[2.0], [0.0]], [2.0]]
    """
    who = "feed_forward_backward"
    X, W_1, b_1, W_2, b_2, d_output = as_floats(who, 1, X=X, W_1=W_1, b_1=b_1, W_2=W_2, b_2=b_2, d_output=d_output)
    hidden = _check_feed_forward(who, X, W_1, b_1, W_2, b_2)
    require_shape(who, "d_output", d_output, (*X.shape[:-1], W_2.shape[1]), "the shape of the output")
    require_finite(who, d_output=d_output)
    rows = X.size // X.shape[-1]
    d_hidden = largest(d_output) * largest(W_2) * W_2.shape[1]
    reach = largest(d_output) * (1 + hidden) * rows
    reach += d_hidden * (largest(W_1) * W_1.shape[1] + (1 + largest(X)) * rows)
    require_bounded(who, "the gradient", reach, X.dtype, "scale d_output down")
    before = X @ W_1 + b_1  # (..., n, d_ff)
    d_hidden, dW_2 = linear_backward(relu(before), W_2, d_output)  # (..., n, d_ff), (d_ff, d_out)
    d_before = relu_backward(before, d_hidden)
    dX, dW_1 = linear_backward(X, W_1, d_before)  # (..., n, d_model), (d_model, d_ff)
    db_2 = sum_to_shape(d_output, b_2.shape).copy()  # never the caller's own array
    return dX, dW_1, sum_to_shape(d_before, b_1.shape), dW_2, db_2


def _check_feed_forward(who: str, X: Array, W_1: Array, b_1: Array, W_2: Array, b_2: Array) -> float:
    """Refuse what does not fit or could not be held; give what no number of the hidden layer can exceed."""
    require_linear(who, X, "W_1", W_1)
    require_shape(who, "b_1", b_1, W_1.shape[1:], "one number for each column of W_1")
    if W_2.ndim != 2 or W_2.shape[0] != W_1.shape[1]:
        raise ValueError(
            f"{who}: W_2 has shape {W_2.shape}; expected ({W_1.shape[1]}, d_out), one row for each column of W_1"
        )
    require_shape(who, "b_2", b_2, W_2.shape[1:], "one number for each column of W_2")
    require_finite(who, X=X, W_1=W_1, b_1=b_1, W_2=W_2, b_2=b_2)
    hidden = largest(X) * largest(W_1) * X.shape[-1] + largest(b_1)
    reach = max(hidden, hidden * largest(W_2) * len(W_2) + largest(b_2))
    require_bounded(who, "the output", reach, X.dtype, "scale the input or the weights down")
    return hidden
