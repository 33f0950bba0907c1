"""Rotary positions: turn queries and keys, so that their products know the distance (chapter 11)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attnlib.attention import largest
from attnlib.checks import Array, as_floats, as_real, require_bounded, require_finite


def rotary(X: ArrayLike, positions: ArrayLike | None = None, *, base: float = 10000.0) -> Array:
    """Turn each pair of columns (2i, 2i + 1) of each row by the angle position · base^(−2i / d).

    Turn the queries and the keys (not the values): the dot product of the query at p and the key at r then
    depends on where they stand only through p − r.

    Parameters
    ----------
    X : (..., n, d), d even
    positions : (n,), or (..., n) that broadcasts to the rows of X; 0 to n − 1 if not given
    base : how slow the slowest pairs turn

    Returns
    -------
    (..., n, d) of the same dtype. Every row keeps its length.

    Examples
    --------
    >>> rotary([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]).round(3)
    array([[ 1.   ,  0.   ],
           [ 0.54 ,  0.841],
           [-0.416,  0.909]])
    >>> rotary([[1.0, 0.0]], positions=[2]).round(3)  # one new token, the third
    array([[-0.416,  0.909]])
    """
    (X,) = as_floats("rotary", X=X)
    require_finite("rotary", X=X)
    require_bounded("rotary", "the result", largest(X), X.dtype, "scale X down")
    n, d = X.shape[-2:]
    if d % 2:
        raise ValueError(
            f"rotary: X has {d} columns; expected an even number, to turn them in pairs (X is {X.shape})"
        )
    base = as_real("rotary", "base", base, "a number above 0")
    (places,) = as_floats("rotary", 1, positions=np.arange(n) if positions is None else positions)
    require_finite("rotary", positions=places)
    rows = X.shape[:-1]
    fits = places.shape[-1] == n and places.ndim <= len(rows)
    fits = fits and all(found in (1, row) for found, row in zip(places.shape[::-1], rows[::-1], strict=False))
    if not fits:
        raise ValueError(
            f"rotary: positions has shape {places.shape}; expected ({n},), one for each row of X {X.shape}"
        )

    speed = base ** (-np.arange(0, d, 2) / d)  # (d / 2,)
    angle = places[..., None] * speed  # (..., n, d / 2), of float64
    return turn_pairs(X, np.cos(angle).astype(X.dtype), np.sin(angle).astype(X.dtype))


def turn_pairs(X: Array, cos: Array, sin: Array) -> Array:
    """Turn each pair of columns (2i, 2i + 1), a point of the plane, by the angle of a cosine and a sine.

    Parameters
    ----------
    X : (..., n, d), d even
    cos, sin : (..., n, d / 2) of the same dtype, or what broadcasts to that

    Returns
    -------
    (..., n, d)

    Examples
    --------
    >>> turn_pairs(np.array([[3.0, 1.0]]), cos=np.array([[0.0]]), sin=np.array([[1.0]]))  # a quarter turn
    array([[-1.,  3.]])
    """
    even, odd = X[..., 0::2], X[..., 1::2]  # (..., n, d / 2) each
    turned = np.empty_like(X)  # (..., n, d)
    turned[..., 0::2] = even * cos - odd * sin
    turned[..., 1::2] = even * sin + odd * cos
    return turned
