"""What a picture can show: checks of numbers, names and sizes before anything is drawn, in words that help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlib.checks import Array, as_count, as_regular, brief, first_true

MOST_WRITTEN = 1e6
"""numbers that are written into a picture are smaller"""
MOST_DRAWN = 1e100
"""numbers that are only drawn are smaller"""
ROOM = 1000
"""square inches: a larger picture would take more memory than it is worth"""
DIGITS = 9
"""decimals of a number in a picture, at most"""


def written(text: str, longest: int = 24) -> str:
    r"""Give a text as it is drawn: cut where it is longer, with no control signs and no formula between dollars.

    >>> written("the longest word of the whole sentence"), written("$5")
    ('the longest word of the…', '\\$5')
    """
    text = "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text)
    text = text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
    return text.replace("$", r"\$")


def as_drawn(
    who: str,
    name: str,
    value: ArrayLike,
    axes: tuple[str, ...],
    limit: float = MOST_WRITTEN,
    *,
    positive: bool = False,
) -> Array:
    """Give `value` as an array of float64 that can be drawn, with one axis for each name in `axes`.

    >>> as_drawn("demo", "the query", [0.5, 0.5], ("n",))
    array([0.5, 0.5])
    >>> as_drawn("demo", "the query", [[0.5, np.nan]], ("n", "m"))
    Traceback (most recent call last):
    ...
    ValueError: demo: the query has nan at (0, 1); a picture needs numbers below 1e+06 in size
    """
    array = as_regular(who, name, value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{who}: {name} holds {array.dtype}; expected numbers")
    sizes = zip(array.shape, axes, strict=False)
    if array.ndim != len(axes) or array.size == 0 or any(a.isdigit() and n != int(a) for n, a in sizes):
        wanted = f"({', '.join(axes)}{',' * (len(axes) == 1)})"
        raise ValueError(f"{who}: {name} has shape {array.shape}; expected {wanted}, not empty")
    with np.errstate(over="ignore"):
        numbers = array.astype(float)
    wrong = ~(np.abs(numbers) < limit) | (positive and numbers <= 0)
    if wrong.any():
        where = first_true(wrong)
        needs = f"numbers below {limit:.0e} in size" if not positive else f"numbers above 0 and below {limit:.0e}"
        raise ValueError(f"{who}: {name} has {array[where]} at {where}; a picture needs {needs}")
    return numbers


def as_names(who: str, name: str, value: Any, count: int | None = None, of: str = "") -> list[str]:
    """Give `value` as a list of texts; with `count`, one for each of so many things.

    >>> as_names("demo", "tokens", ("write", "a"), 3, "rows of 'weights'")
    Traceback (most recent call last):
    ...
    ValueError: demo: there are 2 tokens for 3 rows of 'weights'; each needs one name
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise TypeError(f"{who}: {name} is {brief(value)} ({type(value).__name__}); expected a list of texts")
    for one in value:
        as_text(who, f"one of {name}", one)
    if count is not None and len(value) != count:
        raise ValueError(f"{who}: there are {len(value)} {name} for {count} {of}; each needs one name")
    return [str(one) for one in value]


def as_text(who: str, name: str, value: Any) -> str:
    """Give `value`, which must be a text.

    >>> as_text("demo", "title", "weights")
    'weights'
    """
    if not isinstance(value, str):
        raise TypeError(f"{who}: {name} is {brief(value)} ({type(value).__name__}); expected a text")
    return value


def as_parts(who: str, name: str, value: Any) -> dict[str, Any]:
    """Give `value` as a dict with at least one title and what stands under it.

    >>> as_parts("demo", "matrices", [[0.5, 0.5]])
    Traceback (most recent call last):
    ...
    TypeError: demo: matrices is [[0.5, 0.5]] (list); expected a dict, such as {"weights": [[0.5, 0.5]]}
    """
    if not isinstance(value, Mapping) or not value:
        expected = 'a dict, such as {"weights": [[0.5, 0.5]]}'
        raise TypeError(f"{who}: {name} is {brief(value)} ({type(value).__name__}); expected {expected}")
    return {as_text(who, f"a title of {name}", title): part for title, part in value.items()}


def as_one_of(who: str, name: str, value: Any, known: Sequence[str]) -> str:
    """Give `value`, which must be one of the known words.

    >>> as_one_of("demo", "kind", "weight", ["weights", "scores"])
    Traceback (most recent call last):
    ...
    ValueError: demo: kind is 'weight'; expected one of 'weights', 'scores'
    """
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{who}: {name} is {brief(value)}; expected one of {', '.join(map(repr, known))}")
    return value


def as_digits(who: str, value: Any) -> int:
    """Give the number of decimals.

    >>> as_digits("demo", 2)
    2
    """
    digits = as_count(who, "digits", value, least=0)
    if digits > DIGITS:
        raise ValueError(f"{who}: digits is {digits}; expected at most {DIGITS}")
    return digits


def require_room(who: str, width: float, height: float) -> None:
    """Refuse a picture that would be too large, in inches.

    >>> require_room("demo", 60, 40)
    Traceback (most recent call last):
    ...
    ValueError: demo: the picture would be 60 by 40 inches; draw fewer rows, columns or parts at once
    """
    if width * height > ROOM or max(width, height) > ROOM / 4:
        size = f"{width:.0f} by {height:.0f} inches"
        raise ValueError(f"{who}: the picture would be {size}; draw fewer rows, columns or parts at once")
