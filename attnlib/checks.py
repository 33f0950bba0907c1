"""Checks of arguments, in words that help: who complains, what was expected, what came.

Every public function turns its array arguments into float arrays here, before any computing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
MOST = 10**8
"""the largest count; more tokens, heads or columns than any machine can hold a matrix of"""


def as_floats(who: str, least: int = 2, /, **arrays: ArrayLike) -> list[Array]:
    """Give the named arrays as float arrays of one dtype, with at least `least` axes.

    float32 stays float32; float64 stays float64; mixed gives float64; whole numbers follow the others.
    The arrays come back unchanged (not copied) where nothing had to be done.

    >>> X, W = as_floats("demo", X=np.ones((2, 3), np.float32), W=[[1, 2], [3, 4], [5, 6]])
    >>> X.dtype, W.dtype
    (dtype('float32'), dtype('float32'))
    """
    found = [as_numbers(who, name, value) for name, value in arrays.items()]
    floating = {array.dtype for array in found if array.dtype.kind == "f"}
    dtype = FLOAT32 if floating == {FLOAT32} else FLOAT64
    for name, array in zip(arrays, found, strict=True):
        if array.ndim < least:
            raise ValueError(
                f"{who}: {name} has shape {array.shape}; expected at least {least} "
                f"{'axes: (..., n, d)' if least == 2 else 'axis: (..., n)'}"
            )
        if array.size == 0:
            raise ValueError(f"{who}: {name} is empty {array.shape}; every axis needs at least one entry")
    return [array.astype(dtype, copy=False) for array in found]


def as_numbers(who: str, name: str, value: ArrayLike) -> Array:
    """Give `value` as an array of float32, float64 or whole numbers, or say why it cannot be.

    >>> as_numbers("demo", "X", [[1, 2], [3, 4]]).shape
    (2, 2)
    """
    array = as_regular(who, name, value)
    if array.dtype not in (FLOAT32, FLOAT64) and array.dtype.kind not in "iu":
        raise TypeError(f"{who}: {name} holds {array.dtype}; expected float32, float64 or whole numbers")
    return array


def as_regular(who: str, name: str, value: Any) -> Array:
    """Give `value` as an array of any kind; refuse ragged rows, and arrays that hide some of their entries.

    >>> as_regular("demo", "X", [[1, 2], [3]])
    Traceback (most recent call last):
    ...
    ValueError: demo: X is not a regular array: its rows differ in length
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{who}: {name} is a masked array; expected a plain one (use mask= to hide keys)")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{who}: {name} is not a regular array: its rows differ in length") from error


def as_whole_numbers(who: str, name: str, value: Any, low: int, high: int) -> Array:
    """Give `value` as an array of whole numbers from `low` to `high`.

    >>> as_whole_numbers("demo", "ids", [0, 2], 0, 2)
    array([0, 2])
    """
    array = as_regular(who, name, value)
    if array.size == 0:
        raise ValueError(f"{who}: {name} is empty; expected at least one whole number")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{who}: {name} holds {array.dtype}; expected whole numbers")
    wrong = (array < low) | (array > high)
    if wrong.any():
        found = array[first_true(wrong)]
        raise ValueError(f"{who}: {name} has {found}; expected whole numbers from {low} to {high}")
    return array


def require_finite(who: str, **arrays: Array) -> None:
    """Refuse NaN and infinity, and say where they are.

    >>> require_finite("demo", X=np.array([[1.0, np.nan]]))
    Traceback (most recent call last):
    ...
    ValueError: demo: X has nan at (0, 1); expected finite numbers
    """
    for name, array in arrays.items():
        if not math.isfinite(length_of_all(array)) and not np.isfinite(array).all():
            where = first_true(~np.isfinite(array))
            raise ValueError(f"{who}: {name} has {array[where]} at {where}; expected finite numbers")


def length_of_all(array: Array) -> float:
    """Give the length of all entries as one vector: no entry is larger, and any NaN or infinity shows in it.

    It is one fast product, so that only where it is large or not finite is it worth looking closer.

    >>> length_of_all(np.array([[3.0, 4.0]]))
    5.0
    """
    return math.sqrt(np.vdot(array, array))


def require_bounded(who: str, what: str, bound: float, dtype: np.dtype[Any], advice: str) -> None:
    """Refuse input whose result could not be held by `dtype`.

    >>> require_bounded("demo", "the scores", 1e39, np.dtype(np.float32), "use float64")
    Traceback (most recent call last):
    ...
    ValueError: demo: the scores could reach 1e+39, more than float32 can hold; use float64
    """
    if not bound <= float(np.finfo(dtype).max) / 4:  # a quarter: room for rounding, and for sums of two
        raise ValueError(f"{who}: {what} could reach {bound:.0e}, more than {dtype} can hold; {advice}")


def as_count(who: str, name: str, value: Any, least: int = 1) -> int:
    """Give `value` as a Python int of at least `least`.

    >>> as_count("demo", "n", np.int64(3))
    3
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{who}: {name} is {brief(value)} ({type(value).__name__}); expected a whole number"
        ) from None
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{who}: {name} is {brief(value)} (bool); expected a whole number")
    if number < least:
        raise ValueError(f"{who}: {name} is {brief(number)}; expected at least {least}")
    if number > MOST:
        raise ValueError(f"{who}: {name} is {brief(number)}; expected at most {MOST}")
    return number


def brief(value: Any) -> str:
    """Show a value in an error: on one line, and cut where it is long.

    >>> brief(np.ones((2, 2)))
    'array([[1., 1.], [1., 1.]])'
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def as_flag(who: str, name: str, value: Any) -> bool:
    """Give `value` as True or False; nothing else will do.

    >>> as_flag("demo", "causal", True)
    True
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{who}: {name} is {brief(value)} ({type(value).__name__}); expected True or False")
    return bool(value)


def first_true(found: Array) -> tuple[int, ...]:
    """Give the index of the first True of a boolean array, as plain ints.

    >>> first_true(np.array([[False, False], [False, True]]))
    (1, 1)
    """
    return tuple(int(i) for i in np.unravel_index(int(found.argmax()), found.shape))


def require_shape(who: str, name: str, array: Array, shape: tuple[int, ...], meaning: str) -> None:
    """Refuse an array of another shape.

    >>> require_shape("demo", "d_X", np.ones((2, 3)), (2, 4), "the shape of X")
    Traceback (most recent call last):
    ...
    ValueError: demo: d_X has shape (2, 3); expected (2, 4), the shape of X
    """
    if array.shape != shape:
        raise ValueError(f"{who}: {name} has shape {array.shape}; expected {shape}, {meaning}")


def require_linear(who: str, X: Array, name: str, W: Array) -> None:
    """Refuse what cannot be multiplied: X (..., d_in) and the matrix W (d_in, d_out).

    >>> require_linear("demo", np.ones((2, 3)), "W", np.ones((4, 5)))
    Traceback (most recent call last):
    ...
    ValueError: demo: the rows of X have 3 numbers but W takes 4 (X is (2, 3), W is (4, 5))
    """
    if W.ndim != 2:
        raise ValueError(f"{who}: {name} has shape {W.shape}; expected two axes (d_in, d_out)")
    if X.shape[-1] != W.shape[0]:
        raise ValueError(
            f"{who}: the rows of X have {X.shape[-1]} numbers but {name} takes {W.shape[0]} "
            f"(X is {X.shape}, {name} is {W.shape})"
        )


def as_held(who: str, name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Give `value` as a number above 0 of `dtype`: there a number may be too small or too large.

    >>> as_held("demo", "eps", 1e-60, np.dtype(np.float32))
    Traceback (most recent call last):
    ...
    ValueError: demo: eps is 1e-60; expected a number that float32 can hold
    """
    number = as_real(who, name, value, "a number above 0")
    with np.errstate(over="ignore", under="ignore"):
        held = dtype.type(number)
    if held == 0 or held == np.inf:
        raise ValueError(f"{who}: {name} is {number}; expected a number that {dtype} can hold")
    return held


def require_kind(who: str, name: str, value: Any, kind: type, example: str) -> None:
    """Refuse what is not of a kind: `example` says how to get one.

    >>> require_kind("demo", "rng", 7, np.random.Generator, "np.random.default_rng(seed)")
    Traceback (most recent call last):
    ...
    TypeError: demo: rng is 7 (int); expected np.random.default_rng(seed)
    """
    if not isinstance(value, kind):
        raise TypeError(f"{who}: {name} is {brief(value)} ({type(value).__name__}); expected {example}")


def require_rng(who: str, rng: Any) -> None:
    """Refuse what cannot draw random numbers.

    >>> require_rng("demo", np.random.default_rng(0))
    """
    require_kind(who, "rng", rng, np.random.Generator, "np.random.default_rng(seed)")


RANGES: dict[str, Callable[[float], bool]] = {
    "a number above 0": lambda number: 0 < number < math.inf,
    "a number of at least 0": lambda number: 0 <= number < math.inf,
    "a number from 0 to below 1": lambda number: 0 <= number < 1,
}


def as_real(who: str, name: str, value: Any, expected: str) -> float:
    """Give `value` as a Python float in a range: `expected` is one of RANGES.

    >>> as_real("demo", "eps", np.float32(0.5), "a number above 0")
    0.5
    """
    array = as_regular(who, name, value)
    if array.ndim or array.dtype.kind not in "fiu":
        raise TypeError(f"{who}: {name} is {brief(value)} ({type(value).__name__}); expected {expected}")
    number = float(array)
    if not RANGES[expected](number):
        raise ValueError(f"{who}: {name} is {number}; expected {expected}")
    return number
