"""How alike are two vectors? Dot product and cosine, for all pairs of rows (chapter 03)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attnlib.checks import Array, as_floats, first_true, require_bounded, require_finite


def dot_products(A: ArrayLike, B: ArrayLike) -> Array:
    """Give the dot product of every row of `A` with every row of `B`.

    Parameters
    ----------
    A : (..., n, d)
    B : (..., m, d)

    Returns
    -------
    (..., n, m): entry i, j belongs to row i of A and row j of B. With A = Q and B = K these are the scores.

    Examples
    --------
    >>> dot_products([[1.0, 2.0]], [[3.0, 4.0], [2.0, -1.0]])
    array([[11.,  0.]])
    """
    A, B = _pair_of_rows("dot_products", A, B)
    with np.errstate(over="ignore"):
        bound = float(np.abs(A).max()) * float(np.abs(B).max()) * A.shape[-1]
    require_bounded("dot_products", "the products", bound, A.dtype, "scale A or B down")
    return A @ B.swapaxes(-1, -2)


def cosine_similarity(A: ArrayLike, B: ArrayLike) -> Array:
    """Give the cosine of the angle between every row of `A` and every row of `B`.

    It is the dot product of the directions: each row is first divided by its length.

    Parameters
    ----------
    A : (..., n, d), no row all zeros
    B : (..., m, d), no row all zeros

    Returns
    -------
    (..., n, m), each entry from −1 (opposite) over 0 (at right angles) to 1 (same direction).

    Examples
    --------
    >>> cosine_similarity([[1.0, 0.0]], [[5.0, 0.0], [0.0, 5.0], [-1.0, 0.0]])
    array([[ 1.,  0., -1.]])
    """
    A, B = _pair_of_rows("cosine_similarity", A, B)
    products = _directions("A", A) @ _directions("B", B).swapaxes(-1, -2)
    return np.clip(products, -1, 1)  # rounding can give 1.0000000000000002


def _pair_of_rows(who: str, A: ArrayLike, B: ArrayLike) -> tuple[Array, Array]:
    a, b = as_floats(who, A=A, B=B)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"{who}: the rows of A have {a.shape[-1]} numbers, those of B {b.shape[-1]}; "
            f"they must have the same (A is {a.shape}, B is {b.shape})"
        )
    require_broadcast(who, A=a, B=b)
    require_finite(who, A=a, B=b)
    return a, b


def require_broadcast(who: str, **arrays: Array) -> tuple[int, ...]:
    """Give the common leading shape (all axes but the last two), or say why there is none.

    >>> require_broadcast("demo", Q=np.ones((8, 1, 3, 4)), K=np.ones((2, 5, 4)))
    (8, 2)
    """
    shapes = {array.shape[:-2] for array in arrays.values()}
    if len(shapes) == 1:  # the usual case, and NumPy need not be asked
        return shapes.pop()
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        leading = ", ".join(f"{name} is {array.shape}" for name, array in arrays.items())
        raise ValueError(
            f"{who}: the leading (batch or head) axes do not fit together; each pair must be equal, or one "
            f"of them 1 ({leading})"
        ) from None


def _directions(name: str, rows: Array) -> Array:
    """Divide each row by its length; by its largest entry first, so that no square overflows."""
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    if not largest.all():
        where = first_true(largest[..., 0] == 0)
        raise ValueError(
            f"cosine_similarity: row {', '.join(map(str, where))} of {name} is all zeros; it has no direction"
        )
    with np.errstate(under="ignore"):
        rows = rows / largest
        return rows / np.sqrt((rows * rows).sum(axis=-1, keepdims=True))
