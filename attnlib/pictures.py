"""Pictures: arrays and labels in, a Matplotlib figure out. Nothing here computes attention.

One look for the whole course: query, key, value, weights and output keep one colour each; numbers stand in the
cells; the background is white in a light and in a dark theme. A picture's text form says what it shows, with its
main figures, so that a reader without the image, and a test that compares text, have them too.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.patches import Arc, Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import ArrayLike
from PIL import Image

from attnlib.checks import as_count, as_flag, brief, first_true, require_kind
from attnlib.drawable import (
    MOST_DRAWN,
    as_digits,
    as_drawn,
    as_names,
    as_one_of,
    as_parts,
    as_text,
    require_room,
    written,
)

COLOURS = {
    "query": "#0068a8",
    "key": "#b24a00",
    "value": "#00755a",
    "scores": "#4d4d4d",
    "weights": "#7a3e8e",
    "output": "#8a5a00",
}
"""each idea's colour, dark enough to be read as text on white (contrast at least 4.5 : 1)"""

PROJECTOR = 1.5
scale = PROJECTOR if os.environ.get("ATTNLIB_PROJECTOR") == "1" else 1.0
"""how large pictures are drawn from now on; `attnlib.projector()` sets it"""

LINES = ("-", "--", ":", "-.", (0, (1, 3)), (0, (5, 1, 1, 1, 1, 1)))
TINY = 1e-100  # what is shorter is a point: its square could not be held
HATCHES = ("", "//", "..", "xx", "--", "\\\\")
TITLE, AXIS = 80, 40
"""characters that are drawn of a title, and of the name of an axis or a line; the picture's words have all"""


class Picture(Figure):
    """A Matplotlib figure that says in words what it shows, and draws itself in a notebook without pyplot.

    >>> picture = Picture(4, 3, "an empty page")
    >>> picture
    an empty page
    >>> picture._repr_png_()[1:4]
    b'PNG'
    """

    def __init__(self, width: float, height: float, description: str) -> None:
        super().__init__(figsize=(width, height), dpi=110 * scale, facecolor="white", layout="constrained")
        FigureCanvasAgg(self)
        self.description = description
        self.layout: tuple[Any, ...] | None = None  # what `panels` was asked for

    def __repr__(self) -> str:
        """Say what the picture shows."""
        return self.description

    def _repr_png_(self) -> bytes:
        with io.BytesIO() as file:
            self.save(file, "png")
            return file.getvalue()

    def frame(self) -> bytes:
        """Give the picture as PNG bytes in a hurry: drawn once, hardly compressed.

        >>> Picture(1, 1, "empty").frame()[1:4]
        b'PNG'
        """
        canvas: Any = self.canvas
        with look(), io.BytesIO() as file:
            canvas.draw()
            Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]).save(file, "png", compress_level=1)
            return file.getvalue()

    def wipe(self, description: str) -> None:
        """Take away all that was drawn in the areas, and keep the areas, their axes and their settings.

        >>> picture = Picture(1, 1, "a line")
        >>> axes = picture.add_subplot()
        >>> line = axes.plot([0, 1])
        >>> picture.wipe("nothing")
        >>> len(axes.lines), picture
        (0, nothing)
        """
        self.description = description
        for text in list(self.texts):
            text.remove()
        for axes in self.axes:
            for artist in [*axes.lines, *axes.patches, *axes.texts, *axes.collections, *axes.images]:
                artist.remove()
            axes.containers.clear()

    def save(self, file: io.BytesIO | Path, kind: str) -> None:
        """Write the picture as "png" or "svg": the same bytes each time.

        >>> with io.BytesIO() as file:
        ...     Picture(1, 1, "empty").save(file, "svg")
        ...     print(file.getvalue()[:5])
        b'<?xml'
        """
        metadata = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
        with look():
            self.savefig(file, format=kind, metadata=metadata)


@cache
def hangul_font() -> str:
    """Give the name of a font with Hangul, registered from the package that carries it.

    >>> hangul_font()
    'NanumGothic'
    """
    spec = find_spec("koreanize_matplotlib")  # found, never imported: importing it fails on Python 3.12
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise ImportError(
            "pictures: the package koreanize-matplotlib, which carries the Hangul font, is not installed; run "
            "pip install -r requirements.txt"
        )
    fontManager.addfont(Path(next(iter(folders))) / "fonts" / "NanumGothic.ttf")
    return "NanumGothic"


drawing = RLock()
"""whoever draws holds it: Matplotlib's settings are those of all threads, and JupyterLab moves an explorer in a
thread beside the one that runs the cells"""


@contextmanager
def look() -> Iterator[None]:
    """Give the course's settings for everything drawn inside `with look():`; other threads wait.

    >>> with look():
    ...     print(mpl.rcParams["font.size"])
    12.0
    """
    letters = 1 + (scale - 1) / 5  # on a projector also larger than the rest of the picture
    with (
        drawing,
        mpl.rc_context(
            {
                "font.family": ["DejaVu Sans", hangul_font()],
                "font.size": 12.0 * letters,
                "axes.titlesize": 13.0 * letters,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "hatch.linewidth": 0.8,
                "lines.linewidth": 2.2,
                "svg.hashsalt": "attnlib",
                "svg.fonttype": "path",
                "text.color": "#1a1a1a",
            }
        ),
    ):
        yield


def contrast(one: Any, other: Any) -> float:
    """Give the contrast ratio of two colours, from 1 (the same) to 21 (black on white), as WCAG defines it.

    >>> round(contrast("black", "white"))
    21
    """

    def luminance(colour: Any) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def readable_on(colour: Any) -> str:
    """Give black or white, whichever is easier to read on `colour`.

    >>> readable_on("#7a3e8e"), readable_on("#ffffff")
    ('white', 'black')
    """
    return max(("black", "white"), key=lambda ink: contrast(ink, colour))


def shades(kind: str) -> LinearSegmentedColormap:
    """Give the colours from white (none) to the kind's own (most); scores also go the other way, below zero.

    >>> shades("weights")(0.0)[:3] == (1.0, 1.0, 1.0)
    True
    """
    ends = ["#2166ac", "white", "#b35806"] if kind == "scores" else ["white", COLOURS[kind]]
    return LinearSegmentedColormap.from_list(kind, ends, N=257)  # an odd number: 0 is exactly white


def figure_of(number: float, digits: int) -> str:
    """Write a number with so many decimals, and never as −0.

    >>> figure_of(-0.001, 2), figure_of(0.125, 2)
    ('0.00', '0.12')
    """
    return f"{round(float(number), digits) + 0.0:.{digits}f}"


def draw_matrix(
    axes: Axes,
    matrix: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    kind: str = "weights",
    digits: int = 2,
    top: float | None = None,
    hidden: ArrayLike | None = None,
    lit: ArrayLike | None = None,
) -> None:
    """Draw a matrix as coloured cells with their numbers, the first row on top.

    Parameters
    ----------
    axes : where to draw
    matrix : (n, m)
    rows, columns : n and m labels
    kind : whose colour; "scores" also shows the sign
    digits : decimals in the cells
    top : the number that gets the full colour; the largest size in the matrix if not given
    hidden : (n, m) booleans: these cells are hatched and hold no number
    lit : (n, m) booleans: these cells get a frame, and all others are paler; no cell is, if not given

    Examples
    --------
    >>> picture = Picture(3, 3, "two cells")
    >>> draw_matrix(picture.add_subplot(), [[0.25, 0.75]], ["a"], ["b", "c"])
    >>> [text.get_text() for text in picture.axes[0].texts]
    ['0.25', '0.75']
    """
    numbers = np.asarray(matrix, dtype=float)
    top = float(np.abs(numbers).max()) if top is None else top
    low = -top if kind == "scores" else 0.0
    shown = np.ones(numbers.shape, bool) if lit is None else np.asarray(lit, bool)
    crossed = np.zeros(numbers.shape, bool) if hidden is None else np.asarray(hidden, bool)
    paper = np.where(shown, numbers, 0.15 * numbers)  # a pale cell has a part of its colour, and its whole number
    image = axes.imshow(paper, cmap=shades(kind), vmin=low, vmax=top or 1.0, aspect="auto")
    for (i, j), number in np.ndenumerate(numbers):
        corner = (j - 0.5, i - 0.5)
        if crossed[i, j]:
            continue
        ink = readable_on(image.cmap(image.norm(paper[i, j]))) if shown[i, j] else "#5f5f5f"
        axes.text(j, i, figure_of(number, digits), ha="center", va="center", color=ink)
        if lit is not None and shown[i, j]:
            axes.add_patch(
                Rectangle(
                    corner, 1, 1, fill=False, edgecolor=COLOURS[kind], linewidth=2.4, zorder=3, clip_on=False
                )
            )
    squares = [Rectangle((j - 0.5, i - 0.5), 1, 1) for i, j in np.argwhere(crossed)]
    axes.add_collection(
        PatchCollection(squares, facecolor="#e6e6e6", edgecolor="#a0a0a0", hatch="///", linewidth=0)
    )
    axes.set_xticks(range(len(columns)), map(written, columns))
    axes.set_yticks(range(len(rows)), map(written, rows))
    axes.tick_params(length=0)
    n, m = numbers.shape
    axes.hlines(np.arange(n + 1) - 0.5, -0.5, m - 0.5, color="#bbbbbb", linewidth=0.8)
    axes.vlines(np.arange(m + 1) - 0.5, -0.5, n - 0.5, color="#bbbbbb", linewidth=0.8)
    axes.spines[:].set_visible(False)


def heat_map(
    matrices: Mapping[str, ArrayLike],
    tokens: Sequence[str],
    *,
    keys: Sequence[str] | None = None,
    kind: str = "weights",
    digits: int = 2,
    sides: tuple[str, str] = ("query (row)", "attends to key (column)"),
) -> Picture:
    """Draw score or weight matrices side by side: query (row) attends to key (column).

    Parameters
    ----------
    matrices : title → (n_queries, n_keys)
    tokens : the queries' names; also the keys', if `keys` is not given
    keys : the keys' names
    kind : "weights" or "scores"
    digits : decimals in the cells
    sides : what rows and columns are, if they are not queries and keys

    Examples
    --------
    >>> heat_map({"weights": [[0.1, 0.9], [0.5, 0.5]]}, ["it", "cat"])
    Heat map, query (row) attends to key (column). weights: it 0.10 0.90; cat 0.50 0.50
    """
    who = "heat_map"
    digits, kind = as_digits(who, digits), as_one_of(who, "kind", kind, list(COLOURS))
    sides = _as_pair(who, "sides", sides)
    arrays = {
        title: as_drawn(who, repr(title), matrix, ("n_queries", "n_keys"))
        for title, matrix in as_parts(who, "matrices", matrices).items()
    }
    tokens = as_names(who, "tokens", tokens)
    keys, of_columns = (tokens, "tokens") if keys is None else (as_names(who, "keys", keys), "keys")
    for title, array in arrays.items():
        as_names(who, "tokens", tokens, array.shape[0], f"rows of {title!r}")
        as_names(who, of_columns, keys, array.shape[1], f"columns of {title!r}")
    spoken = [
        f"{title}: "
        + "; ".join(
            f"{token} " + " ".join(f"{x:.{digits}f}" for x in row)
            for token, row in zip(tokens, array, strict=True)
        )
        for title, array in arrays.items()
    ]
    description = f"Heat map, {' '.join(sides)}. " + ". ".join(spoken)
    width, height = 1.6 + max(0.85 * len(keys), 2.2), 1.5 + 0.62 * len(tokens)
    require_room(who, width * len(arrays), height)
    with look():
        picture = Picture(width * len(arrays), height, description)
        top = 1.0 if kind == "weights" else max(float(np.abs(array).max()) for array in arrays.values())
        for axes, (title, array) in zip(
            picture.subplots(1, len(arrays), squeeze=False)[0], arrays.items(), strict=True
        ):
            draw_matrix(axes, array, tokens, keys, kind=kind, digits=digits, top=top)
            axes.set_title(written(title, TITLE))
            axes.set_xlabel(written(sides[1], AXIS), color=COLOURS["key"])
            axes.set_ylabel(written(sides[0], AXIS), color=COLOURS["query"])
    return picture


def draw_bars(
    axes: Axes,
    values: ArrayLike,
    labels: Sequence[str],
    *,
    kind: str = "weights",
    digits: int = 2,
    hatch: str = "",
    marked: Sequence[int] = (),
) -> None:
    """Draw bars with the number at each.

    Parameters
    ----------
    axes : where to draw
    values : (n,)
    labels : n names under the bars
    kind : whose colour
    marked : the bars that are filled; the others are only outlined. All are filled if none is named.

    Examples
    --------
    >>> axes = Picture(2, 2, "two bars").add_subplot()
    >>> draw_bars(axes, [0.25, 0.75], ["a", "b"])
    >>> [text.get_text() for text in axes.texts]
    ['0.25', '0.75']
    """
    numbers = np.asarray(values, dtype=float)
    drawn = axes.bar(range(len(labels)), numbers, color=COLOURS[kind], hatch=hatch, edgecolor="white", width=0.72)
    for place, bar in enumerate(drawn):
        if marked and place not in marked:
            bar.set(facecolor="white", edgecolor=COLOURS[kind], linewidth=1.6)
    axes.bar_label(drawn, [figure_of(x, digits) for x in numbers], padding=3)
    axes.axhline(0, color="#1a1a1a", linewidth=0.8, clip_on=False)
    axes.set_xticks(range(len(labels)), map(written, labels))
    axes.set_yticks([])
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(axis="x", length=0)


def bars(
    groups: Mapping[str, ArrayLike],
    labels: Sequence[str],
    *,
    colours: Sequence[str] | None = None,
    digits: int = 2,
    ylabel: str = "",
) -> Picture:
    """Draw one small bar chart per group, side by side, with the number at each bar.

    Parameters
    ----------
    groups : title → (n,) numbers
    labels : n names under the bars
    colours : one kind of `COLOURS` per group; weights if not given

    Examples
    --------
    >>> bars({"scores": [1, -1], "weights": [0.88, 0.12]}, ["a", "b"])
    Bars. scores: a 1.00, b -1.00. weights: a 0.88, b 0.12
    """
    who = "bars"
    digits, labels = as_digits(who, digits), as_names(who, "labels", labels)
    arrays = {
        title: as_drawn(who, repr(title), values, ("n",))
        for title, values in as_parts(who, "groups", groups).items()
    }
    for title, array in arrays.items():
        as_names(who, "labels", labels, len(array), f"numbers of {title!r}")
    kinds = _as_kinds(who, colours) or ["weights"] * len(arrays)
    if len(kinds) != len(arrays):
        raise ValueError(f"{who}: there are {len(kinds)} colours for {len(arrays)} groups; each needs one")
    ylabel = as_text(who, "ylabel", ylabel)
    width = max(2.6, 0.75 * len(labels) + 1.1)
    require_room(who, width * len(arrays), 3.2)
    spoken = [
        f"{title}: "
        + ", ".join(f"{label} {figure_of(x, digits)}" for label, x in zip(labels, values, strict=True))
        for title, values in arrays.items()
    ]
    with look():
        picture = Picture(width * len(arrays), 3.2, "Bars. " + ". ".join(spoken))
        subplots = picture.subplots(1, len(arrays), squeeze=False)[0]
        for place, (axes, (title, values), kind) in enumerate(zip(subplots, arrays.items(), kinds, strict=True)):
            draw_bars(axes, values, labels, kind=kind, digits=digits, hatch=HATCHES[place % len(HATCHES)])
            axes.margins(y=0.18)
            axes.set_title(written(title, TITLE))
        subplots[0].set_ylabel(written(ylabel, AXIS))
    return picture


def draw_curves(
    axes: Axes, x: ArrayLike, lines: Mapping[str, ArrayLike], *, kinds: Sequence[str], marks: bool = False
) -> None:
    """Draw lines over a common x axis, told apart by colour and dash.

    Parameters
    ----------
    axes : where to draw
    x : (n,)
    lines : label → (n,)
    kinds : whose colours; they are used again if there are more lines
    marks : also mark the points

    Examples
    --------
    >>> axes = Picture(2, 2, "a line").add_subplot()
    >>> draw_curves(axes, [0, 1], {"line": [0.0, 2.0]}, kinds=["query"])
    >>> axes.lines[0].get_label()
    'line'
    """
    for place, (label, values) in enumerate(lines.items()):
        axes.plot(
            x,
            values,
            color=COLOURS[kinds[place % len(kinds)]],
            linestyle=LINES[place % len(LINES)],
            marker="o" if marks else None,
            label=written(label, AXIS),
        )


def curves(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    xlabel: str,
    ylabel: str,
    title: str = "",
    colours: Sequence[str] | None = None,
    log: str = "",
    marks: bool = False,
) -> Picture:
    """Draw lines over a common x axis, told apart by colour, dash and a label at their end.

    Parameters
    ----------
    x : (n,)
    lines : label → (n,)
    log : which axes are logarithmic: "", "x", "y" or "xy"
    marks : also mark the measured points

    Examples
    --------
    >>> curves([0, 1], {"line": [0.0, 2.0]}, xlabel="x", ylabel="y")
    Curves of y against x, from x = 0 to 1. line: 0 to 2
    """
    who = "curves"
    log, marks = as_one_of(who, "log", log, ("", "x", "y", "xy")), as_flag(who, "marks", marks)
    xlabel, ylabel, title = _as_texts(who, xlabel=xlabel, ylabel=ylabel, title=title)
    xs = as_drawn(who, "x", x, ("n",), MOST_DRAWN, positive="x" in log)
    ys = {
        label: as_drawn(who, repr(label), values, ("n",), MOST_DRAWN, positive="y" in log)
        for label, values in as_parts(who, "lines", lines).items()
    }
    for label, values in ys.items():
        if len(values) != len(xs):
            raise ValueError(f"{who}: {label!r} has {len(values)} numbers but x has {len(xs)}; each needs its own")
    spoken = [f"{label}: {values[0]:.4g} to {values[-1]:.4g}" for label, values in ys.items()]
    description = f"Curves of {ylabel} against {xlabel}, from {xlabel} = {xs[0]:g} to {xs[-1]:g}. " + ". ".join(
        spoken
    )
    kinds = _as_kinds(who, colours) or list(COLOURS)
    with look():
        picture = Picture(7.2, 3.8, description)
        axes = picture.add_subplot()
        draw_curves(axes, xs, ys, kinds=kinds, marks=marks)
        axes.set_xscale("log" if "x" in log else "linear")
        axes.set_yscale("log" if "y" in log else "linear")
        if "y" in log:
            axes.yaxis.set_minor_formatter(NullFormatter())  # else 3 and 4 can run into each other
            if max(map(np.max, ys.values())) < 100 * min(map(np.min, ys.values())):
                axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        if marks:
            axes.set_xticks(xs, [f"{number:g}" for number in xs])
            axes.set_xticks([], minor=True)
        axes.set(xlabel=written(xlabel, AXIS), ylabel=written(ylabel, AXIS), title=written(title, TITLE))
        axes.grid(color="#dddddd", linewidth=0.8)
        if len(ys) > 1:
            axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=3.2)
    return picture


def box(axes: Axes, x: float, y: float, width: float, height: float, text: str, colour: str) -> None:
    """Draw a box with rounded corners, its text inside, around the point (x, y).

    >>> axes = Picture(2, 2, "a box").add_subplot()
    >>> box(axes, 0.5, 0.5, 0.4, 0.2, "softmax", "#7a3e8e")
    >>> axes.texts[0].get_text()
    'softmax'
    """
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor="white",
            edgecolor=colour,
            linewidth=2,
        )
    )
    axes.text(x, y, text, ha="center", va="center", color=colour, linespacing=1.35)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw an arrow from one point to another.

    >>> axes = Picture(2, 2, "an arrow").add_subplot()
    >>> arrow(axes, (0, 0), (1, 1))
    >>> len(axes.patches)
    1
    """
    axes.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color="#4d4d4d", linewidth=1.4)
    )


def blank(width: float, height: float, description: str) -> tuple[Picture, Axes]:
    """Give a picture with one unframed drawing area, 1 unit = 1 inch.

    >>> picture, axes = blank(3, 2, "nothing yet")
    >>> len(axes.texts)
    0
    """
    picture = Picture(width, height, description)
    picture.set_layout_engine("none")
    axes = picture.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.set_axis_off()
    return picture, axes


def course_map(chapters: Sequence[tuple[str, str]], per_row: int = 5) -> Picture:
    """Draw the chapters as boxes in reading order, row by row.

    Parameters
    ----------
    chapters : (number, short title) each; a line break in a title is kept

    Examples
    --------
    >>> course_map([("00", "Start"), ("05", "Softmax")])
    Map of the course, in reading order: 00 Start, 05 Softmax
    """
    spoken = ", ".join(f"{number} {title}".replace("\n", " ") for number, title in chapters)
    rows = -(-len(chapters) // per_row)
    cell, tall = 2.15, 1.35
    with look():
        picture, axes = blank(
            cell * per_row + 0.1, tall * rows + 0.1, f"Map of the course, in reading order: {spoken}"
        )
        for place, (number, title) in enumerate(chapters):
            row, column = divmod(place, per_row)
            x, y = cell * (column + 0.5) + 0.05, tall * (rows - row - 0.5) + 0.05
            box(axes, x, y, cell - 0.4, tall - 0.35, f"{number}\n{title}", COLOURS["scores"])
            if place + 1 < len(chapters) and column + 1 < per_row:
                arrow(axes, (x + cell / 2 - 0.2, y), (x + cell / 2 + 0.2, y))
    return picture


def pipeline() -> Picture:
    """Draw the way from a text to the output of attention, with shapes.

    >>> pipeline().description[:29]
    'The way of the data, in order'
    """
    description = (
        "The way of the data, in order: text, tokens, X (n, d_model); from X the queries Q (n, d_k), keys K "
        "(n, d_k) and values V (n, d_v); scores Q times K transposed (n, n); scaled scores, divided by the root "
        "of d_k; weights, the softmax of each row; output, weights times V (n, d_v)"
    )
    with look():
        picture, axes = blank(12.4, 3.6, description)
        grey = COLOURS["scores"]
        box(axes, 0.75, 1.8, 1.2, 0.8, "text", grey)
        box(axes, 2.35, 1.8, 1.2, 0.8, "tokens", grey)
        box(axes, 4.0, 1.8, 1.4, 0.9, "X\n(n, d_model)", grey)
        box(axes, 6.0, 3.1, 1.4, 0.8, "Q = X W_Q\n(n, d_k)", COLOURS["query"])
        box(axes, 6.0, 1.8, 1.4, 0.8, "K = X W_K\n(n, d_k)", COLOURS["key"])
        box(axes, 6.0, 0.5, 1.4, 0.8, "V = X W_V\n(n, d_v)", COLOURS["value"])
        box(axes, 7.85, 2.45, 1.3, 0.8, "scores\nQ Kᵀ", grey)
        box(axes, 9.45, 2.45, 1.2, 0.8, "scaled\n÷ √d_k", grey)
        box(axes, 11.15, 2.45, 1.4, 0.8, "weights\nsoftmax", COLOURS["weights"])
        box(axes, 11.15, 0.5, 1.7, 0.8, "output\nweights · V", COLOURS["output"])
        for start, end in (
            ((1.35, 1.8), (1.75, 1.8)),
            ((2.95, 1.8), (3.3, 1.8)),
            ((4.7, 2.0), (5.3, 2.9)),
            ((4.7, 1.8), (5.3, 1.8)),
            ((4.7, 1.6), (5.3, 0.7)),
            ((6.7, 2.95), (7.2, 2.6)),
            ((6.7, 1.95), (7.2, 2.3)),
            ((8.5, 2.45), (8.85, 2.45)),
            ((10.05, 2.45), (10.45, 2.45)),
            ((11.15, 2.05), (11.15, 0.9)),
            ((6.7, 0.5), (10.3, 0.5)),
        ):
            arrow(axes, start, end)
    return picture


def draw_plane(
    axes: Axes,
    points: Mapping[str, ArrayLike],
    *,
    kinds: Mapping[str, str] | None = None,
    moves: Sequence[tuple[str, str]] = (),
    outline: Sequence[str] = (),
    origin: bool = True,
) -> None:
    """Draw vectors as arrows from the origin, or as points with arrows between them.

    Parameters
    ----------
    axes : where to draw; its limits are left alone
    points, kinds, moves, outline, origin : as in `plane`

    Examples
    --------
    >>> axes = Picture(2, 2, "a vector").add_subplot()
    >>> draw_plane(axes, {"q": [1, 2]})
    >>> [text.get_text() for text in axes.texts if text.get_text()]
    ['q']
    """
    places = {label: np.asarray(point, dtype=float) for label, point in points.items()}
    middle = 0.0 if origin else float(np.mean([y for _, y in places.values()]))
    for label, (x, y) in places.items():
        colour = COLOURS[(kinds or {}).get(label, "scores")]
        if origin:
            axes.annotate(
                "", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0}
            )
        axes.plot(x, y, "o", color=colour, markersize=3 if origin else 8)
        axes.annotate(
            written(label),
            (x, y),
            xytext=(0, 9 if y >= middle else -9),
            textcoords="offset points",
            ha="center",
            va="bottom" if y >= middle else "top",
            color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},  # a line behind does not cross it
            zorder=6,
        )
    if outline:
        corners = np.array([places[label] for label in (*outline, outline[0])])
        axes.plot(corners[:, 0], corners[:, 1], color="#999999", linewidth=1.4, zorder=0)
    for start, end in moves:
        tip, tail = (tuple(places[label].tolist()) for label in (end, start))
        axes.annotate("", tip, tail, arrowprops={"arrowstyle": "-|>", "color": "#4d4d4d", "lw": 1.6})
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.axvline(0, color="#999999", linewidth=0.8)
    axes.grid(color="#eeeeee", linewidth=0.8)


def draw_angle(axes: Axes, query: ArrayLike, key: ArrayLike) -> None:
    """Draw the angle from a query to a key, and the key's shadow on the query's line (its projection).

    Parameters
    ----------
    axes : a plane, as `draw_plane` draws it
    query, key : (2,)

    Examples
    --------
    >>> axes = Picture(2, 2, "a right angle").add_subplot()
    >>> draw_angle(axes, [1, 0], [0, 2])
    >>> axes.texts[0].get_text()
    '90°'
    """
    q, k = np.asarray(query, dtype=float), np.asarray(key, dtype=float)
    foot = (k @ q) / (q @ q) * q  # where the shadow ends: the nearest point of the query's line
    start, end = np.degrees(np.arctan2([q[1], k[1]], [q[0], k[0]]))
    turn = (end - start + 180) % 360 - 180  # the short way round
    low, high = sorted((start, start + turn))
    size = 0.55 * min(float(np.linalg.norm(q)), 1.6)
    axes.add_patch(Arc((0, 0), 2 * size, 2 * size, theta1=low, theta2=high, color="#4d4d4d", linewidth=1.4))
    middle = np.radians((low + high) / 2)
    axes.text(
        1.45 * size * np.cos(middle),
        1.45 * size * np.sin(middle),
        f"{abs(turn):.0f}°",
        ha="center",
        va="center",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        zorder=5,
    )
    axes.plot(*zip(k, foot, strict=True), color="#4d4d4d", linestyle=":", linewidth=1.6)
    axes.plot(*zip((0, 0), foot, strict=True), color=COLOURS["key"], linewidth=9, alpha=0.3, zorder=1)


def plane(
    vectors: Mapping[str, ArrayLike],
    *,
    kinds: Mapping[str, str] | None = None,
    moves: Sequence[tuple[str, str]] = (),
    outline: Sequence[str] = (),
    origin: bool = True,
    angle: tuple[str, str] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    title: str = "",
) -> Picture:
    """Draw vectors in the plane as arrows from the origin, or as points with arrows between them.

    Parameters
    ----------
    vectors : label → (2,)
    kinds : label → whose colour; grey if not given
    moves : (from label, to label) each: an arrow between two points
    outline : labels of points that a closed line joins
    origin : draw an arrow from the origin to each vector
    angle : two labels: draw the angle from the first to the second, and the second's shadow on the first's line

    Examples
    --------
    >>> plane({"q": [1, 2]})
    Vectors in the plane. q (1.00, 2.00)
    """
    who = "plane"
    points = {
        label: as_drawn(who, repr(label), vector, ("2",))
        for label, vector in as_parts(who, "vectors", vectors).items()
    }
    if kinds is not None:
        for label, kind in as_parts(who, "kinds", kinds).items():
            as_one_of(who, f"the kind of {label!r}", kind, list(COLOURS))
    require_kind(who, "moves", moves, Sequence, "a list of pairs of labels")
    for move in moves:
        _as_pair(who, "a move", move, list(points))
    for end in [] if angle is None else _as_pair(who, "angle", angle, list(points)):
        if np.abs(points[end]).max() < TINY:
            raise ValueError(f"{who}: {end!r} has no length, so no direction; it makes no angle")
    for corner in as_names(who, "outline", outline):
        as_one_of(who, "a corner of outline", corner, list(points))
    origin = as_flag(who, "origin", origin)
    xlabel, ylabel, title = _as_texts(who, xlabel=xlabel, ylabel=ylabel, title=title)
    spoken = ", ".join(f"{label} ({figure_of(x, 2)}, {figure_of(y, 2)})" for label, (x, y) in points.items())
    with look():
        picture = Picture(6.6, 4.6, f"Vectors in the plane. {spoken}")
        axes = picture.add_subplot()
        draw_plane(axes, points, kinds=kinds, moves=moves, outline=outline, origin=origin)
        if angle:
            draw_angle(axes, points[angle[0]], points[angle[1]])
        around = np.array([*points.values(), *([np.zeros(2)] if origin else [])])
        low, high = around.min(axis=0), around.max(axis=0)
        room = max((high - low)[0] * 1.7 / 6.0, (high - low)[1] * 1.4 / 4.0) / 2  # data units per inch, halved
        if room < max(TINY, 1e-9 * float(np.abs(around).max())):
            room = 0.5  # a single point, or points too close to be told apart
        centre = (low + high) / 2
        axes.set(xlim=centre[0] + room * np.array([-6, 6]), ylim=centre[1] + room * np.array([-4, 4]))
        axes.set_aspect("equal")
        axes.set(xlabel=written(xlabel, AXIS), ylabel=written(ylabel, AXIS), title=written(title, TITLE))
    return picture


def stripes(matrix: ArrayLike, *, xlabel: str, ylabel: str, title: str = "") -> Picture:
    """Draw a large matrix as colours alone, from −1 to 1, with a colour bar in place of numbers.

    Examples
    --------
    >>> stripes(np.zeros((20, 16)), xlabel="column", ylabel="position")
    Matrix of 20 x 16 as colours, position (row) by column (column), from 0.00 to 0.00
    """
    who = "stripes"
    xlabel, ylabel, title = _as_texts(who, xlabel=xlabel, ylabel=ylabel, title=title)
    numbers = as_drawn(who, "matrix", matrix, ("n", "m"))
    n, m = numbers.shape
    description = (
        f"Matrix of {n} x {m} as colours, {ylabel} (row) by {xlabel} (column), from {numbers.min():.2f} to "
        f"{numbers.max():.2f}"
    )
    with look():
        picture = Picture(6.6, 4.2, description)
        axes = picture.add_subplot()
        image = axes.imshow(
            numbers, cmap=shades("scores"), vmin=-1, vmax=1, aspect="auto", interpolation="nearest"
        )
        axes.set(xlabel=written(xlabel, AXIS), ylabel=written(ylabel, AXIS), title=written(title, TITLE))
        picture.colorbar(image, ax=axes)
    return picture


def circles(matrix: ArrayLike, tokens: Sequence[str], *, title: str = "scores") -> Picture:
    """Draw scores as circles: the area is the size; negative ones are dashed and empty.

    Parameters
    ----------
    matrix : (n, n) scores, query (row) meets key (column)
    tokens : n names

    Examples
    --------
    >>> circles([[1.0, -2.0], [0.0, 4.0]], ["a", "b"])
    Circles, query (row) meets key (column), area = size. scores: a 1.00 -2.00; b 0.00 4.00
    """
    who = "circles"
    numbers, title = as_drawn(who, "matrix", matrix, ("n", "n")), as_text(who, "title", title)
    for side, count in zip(("rows", "columns"), numbers.shape, strict=True):
        tokens = as_names(who, "tokens", tokens, count, f"{side} of matrix")
    width, height = 2.2 + 0.95 * len(tokens), 1.5 + 0.85 * len(tokens)
    require_room(who, width, height)
    spoken = "; ".join(
        f"{token} " + " ".join(figure_of(x, 2) for x in row) for token, row in zip(tokens, numbers, strict=True)
    )
    largest = float(np.abs(numbers).max()) or 1.0
    with look():
        picture = Picture(
            width,
            height,
            f"Circles, query (row) meets key (column), area = size. {title}: {spoken}",
        )
        axes = picture.add_subplot()
        for (i, j), number in np.ndenumerate(numbers):
            radius = 0.42 * np.sqrt(abs(number) / largest)  # the area grows with the score
            negative = number < 0
            axes.add_patch(
                Circle(
                    (j, i),
                    radius,
                    facecolor="white" if negative else "#f0c090",
                    edgecolor="#2166ac" if negative else "#b35806",
                    linestyle="--" if negative else "-",
                    linewidth=1.8,
                )
            )
            below = i if radius > 0.22 else i + radius + 0.16  # a small circle cannot hold its number
            axes.text(j, below, figure_of(number, 1), ha="center", va="center", color="black", size=10)
        axes.set(xlim=(-0.5, len(tokens) - 0.5), ylim=(len(tokens) - 0.5, -0.5), title=written(title, TITLE))
        axes.set_xticks(range(len(tokens)), map(written, tokens))
        axes.set_yticks(range(len(tokens)), map(written, tokens))
        axes.tick_params(length=0)
        axes.set_xlabel("meets key (column)", color=COLOURS["key"])
        axes.set_ylabel("query (row)", color=COLOURS["query"])
        axes.set_aspect("equal")
    return picture


def panels(
    width: float, height: float, description: str, *places: tuple[float, float, float, float]
) -> tuple[Picture, list[Axes]]:
    """Give a picture with drawing areas at fixed places, so that nothing moves when the numbers change.

    Inside `drawn_over(picture)` that picture is wiped and given again, if its areas are the same: to make areas
    takes longer than to fill them.

    Parameters
    ----------
    places : (left, bottom, width, height) each, as parts of the whole

    Examples
    --------
    >>> picture, areas = panels(6, 3, "two areas", (0.1, 0.1, 0.4, 0.8), (0.6, 0.1, 0.3, 0.8))
    >>> len(areas)
    2
    """
    layout = (width, height, scale, places)
    used = _used.get()
    if places and used and used.layout == layout:
        used.wipe(description)
        return used, used.axes
    picture = Picture(width, height, description)
    picture.set_layout_engine(None)
    picture.layout = layout
    return picture, [picture.add_axes(place) for place in places]


_used: ContextVar[Picture | None] = ContextVar("_used", default=None)  # what `panels` may draw over


@contextmanager
def drawn_over(picture: Picture | None) -> Iterator[None]:
    """Let `panels` draw over a picture that nobody needs any more, one that the same code has drawn.

    >>> with look():
    ...     old, _ = panels(2, 2, "old", (0, 0, 1, 1))
    ...     with drawn_over(old):
    ...         new, _ = panels(2, 2, "new", (0, 0, 1, 1))
    >>> new is old, new
    (True, new)
    """
    before = _used.set(picture)
    try:
        yield
    finally:
        _used.reset(before)


def rows_of(matrix: ArrayLike, digits: int = 2) -> str:
    """Write a matrix in one line, a semicolon after each row.

    >>> rows_of([[1, 2], [3, 4]], digits=0)
    '1 2; 3 4'
    """
    return "; ".join(" ".join(figure_of(x, digits) for x in row) for row in np.asarray(matrix, dtype=float))


class Term(NamedTuple):
    """One matrix of a calculation, with the cells that take part.

    >>> Term("Q", [[1, 2]], "query", [[True, False]], ["a"]).name
    'Q'
    """

    name: str
    matrix: ArrayLike
    kind: str
    lit: ArrayLike
    """booleans of the matrix's shape"""
    rows: Sequence[str] = ()
    """names of the rows; none are shown if there are none"""
    columns: Sequence[str] = ()
    top: float | None = None
    """the number that gets the full colour"""


CELL_WIDTH, CELL_HEIGHT, BETWEEN = 0.72, 0.56, 0.75
"""inches: of a cell, and of the room for a sign between two matrices"""


def calculation(
    terms: Sequence[Term],
    signs: Sequence[str],
    *,
    about: str,
    size: tuple[float, float] | None = None,
    who: str = "calculation",
) -> Picture:
    """Draw matrices side by side with signs between them, the cells that take part framed.

    Parameters
    ----------
    terms : the matrices, from left to right
    signs : one between each two of them
    about : the first words of the description
    size : width and height in inches; as much as it needs if not given
    who : in whose name to complain

    Examples
    --------
    >>> left = Term("scores", [[2, 4]], "scores", [[True, False]], ["a"])
    >>> calculation([left, Term("scaled", [[1, 2]], "scores", [[True, False]])], ["÷ 2 ="], about="Scaling of a")
    Scaling of a. scores: 2.00 4.00. scaled: 1.00 2.00
    """
    matrices = [np.asarray(term.matrix, dtype=float) for term in terms]
    spoken = [f"{term.name}: {rows_of(matrix)}" for term, matrix in zip(terms, matrices, strict=True)]
    needed = CELL_WIDTH * sum(matrix.shape[1] for matrix in matrices) + BETWEEN * len(signs)
    tallest = CELL_HEIGHT * max(matrix.shape[0] for matrix in matrices)
    margin = 1.05 if any(term.rows for term in terms) else 0.25
    width, height = size or (margin + needed + 0.25, 1.25 + tallest)
    require_room(who, width, height)
    with look():
        picture, _ = panels(width, height, ". ".join([about, *spoken]))
        x, middle = margin + (width - 0.25 - margin - needed) / 2, (height - 0.15) / 2
        for term, matrix, sign in zip(terms, matrices, [*signs, ""], strict=True):
            n, m = matrix.shape
            w, h = CELL_WIDTH * m, CELL_HEIGHT * n
            axes = picture.add_axes((x / width, (middle - h / 2) / height, w / width, h / height))
            rows, columns = term.rows or [""] * n, term.columns or [""] * m
            draw_matrix(axes, matrix, rows, columns, kind=term.kind, lit=term.lit, top=term.top)
            axes.set_title(written(term.name, AXIS), color=COLOURS[term.kind])
            picture.text((x + w + BETWEEN / 2) / width, middle / height, sign, ha="center", va="center", size=16)
            x += w + BETWEEN
    return picture


def matrix_product(
    left: ArrayLike,
    right: ArrayLike,
    *,
    names: tuple[str, str, str],
    tokens: Sequence[str],
    columns: Sequence[str],
    kinds: tuple[str, str, str] = ("query", "key", "scores"),
    row: int,
    column: int | None = None,
    size: tuple[float, float] | None = None,
) -> Picture:
    """Draw left · right = result, with the row and the column that meet in one cell framed.

    Parameters
    ----------
    left : (n, k)
    right : (k, m)
    names : what the three matrices are called
    tokens, columns : n names of the rows, m names of the result's columns
    kinds : whose colours the three have
    row, column : which row meets which column; without a column, the row meets all of them
    size : as in `calculation`

    Examples
    --------
    >>> one = dict(names=("Q", "Kᵀ", "QKᵀ"), tokens=["a"], columns=["a", "b"], row=0, column=1)
    >>> matrix_product([[1, 2]], [[5, 6], [7, 8]], **one)
    Product, Q times Kᵀ gives QKᵀ, row a by column b. Q: 1.00 2.00. Kᵀ: 5.00 6.00; 7.00 8.00. QKᵀ: 19.00 22.00
    """
    who = "matrix_product"
    a, b = as_drawn(who, "left", left, ("n", "k")), as_drawn(who, "right", right, ("k", "m"))
    if a.shape[1] != b.shape[0]:
        raise ValueError(
            f"{who}: the rows of left have {a.shape[1]} numbers but the columns of right {b.shape[0]}; they must "
            f"have the same (left is {a.shape}, right is {b.shape})"
        )
    as_drawn(who, "the product", a @ b, ("n", "m"))
    tokens = as_names(who, "tokens", tokens, a.shape[0], "rows of left")
    columns = as_names(who, "columns", columns, b.shape[1], "columns of right")
    as_names(who, "names", names, 3, "matrices")
    for kind in as_names(who, "kinds", kinds, 3, "matrices"):
        as_one_of(who, "a kind", kind, list(COLOURS))
    row = _as_place(who, "row", row, tokens)
    column = None if column is None else _as_place(who, "column", column, columns)
    if size is not None:
        width, height = as_drawn(who, "size", size, ("2",)).tolist()
        if min(width, height) < 1:
            raise ValueError(f"{who}: size is {brief(size)}; expected a width and a height of at least 1 inch")
        size = width, height
    met = "every column" if column is None else f"column {columns[column]}"
    down = (np.arange(a.shape[0]) == row)[:, None]  # (n, 1)
    across = np.arange(b.shape[1]) == column if column is not None else np.ones(b.shape[1], bool)  # (m,)
    terms = [
        Term(names[0], a, kinds[0], down & np.ones(a.shape[1], bool), tokens),
        Term(names[1], b, kinds[1], across & np.ones((b.shape[0], 1), bool), columns=columns),
        Term(names[2], a @ b, kinds[2], down & across, columns=columns),
    ]
    about = f"Product, {names[0]} times {names[1]} gives {names[2]}, row {tokens[row]} by {met}"
    return calculation(terms, ["·", "="], about=about, size=size, who=who)


def _as_place(who: str, name: str, value: Any, names: Sequence[str]) -> int:
    """Give a place among names: a whole number from 0."""
    place = as_count(who, name, value, least=0)
    if place >= len(names):
        raise ValueError(f"{who}: {name} is {place}; expected a whole number from 0 to {len(names) - 1}")
    return place


def _as_pair(who: str, name: str, value: Any, known: Sequence[str] | None = None) -> tuple[str, str]:
    """Give two texts, both among the known ones."""
    pair = as_names(who, name, value)
    if len(pair) != 2:
        raise ValueError(f"{who}: {name} has {len(pair)} texts; expected 2")
    first, second = (one if known is None else as_one_of(who, f"one of {name}", one, known) for one in pair)
    return first, second


def _as_texts(who: str, **texts: Any) -> Iterator[str]:
    """Give the named values, each of which must be a text."""
    return (as_text(who, name, text) for name, text in texts.items())


def _as_kinds(who: str, value: Any) -> list[str]:
    """Give a list of kinds; an empty one for None."""
    kinds = [] if value is None else as_names(who, "colours", value)
    return [as_one_of(who, "a colour", kind, list(COLOURS)) for kind in kinds]


def draw_arcs(axes: Axes, weights: ArrayLike, tokens: Sequence[str], query: int) -> None:
    """Draw one token's attention as arcs from it to all tokens: the wider the arc, the larger the weight.

    Parameters
    ----------
    axes : where to draw
    weights : (n,), the query's row
    tokens : n words
    query : the place of the token that asks

    Examples
    --------
    >>> axes = Picture(3, 2, "arcs").add_subplot()
    >>> draw_arcs(axes, [0.9, 0.1], ["cat", "sat"], query=1)
    >>> [text.get_text() for text in axes.texts]
    ['cat', '0.90', 'sat', '0.10']
    """
    numbers = np.asarray(weights, dtype=float)
    n = len(tokens)
    for key, (token, weight) in enumerate(zip(tokens, numbers, strict=True)):
        asks = key == query
        axes.text(key, -0.12, written(token), ha="center", va="top", color=COLOURS["query" if asks else "key"])
        axes.text(key, -0.52, figure_of(weight, 2), ha="center", va="top", color=COLOURS["weights"])
        if weight < 0.005:
            continue
        reach = abs(key - query)
        centre, wide, tall = ((key + query) / 2, reach, 0.35 + 1.3 * reach / n) if reach else (key, 0.35, 0.6)
        axes.add_patch(
            Arc(
                (centre, 0),
                wide,
                2 * tall if reach else tall,
                theta1=0,
                theta2=180,
                color=COLOURS["weights"],
                linewidth=0.6 + 9 * weight,
            )
        )
    axes.plot([query], [0], marker="v", color=COLOURS["query"], markersize=9)
    axes.set(xlim=(-0.6, n - 0.4), ylim=(-0.9, 1.75), xticks=[], yticks=[])
    axes.set_axis_off()


def arcs(weights: ArrayLike, tokens: Sequence[str], query: int, *, title: str = "") -> Picture:
    """Draw one token's attention as arcs from it to all tokens, with each weight under its token.

    Parameters
    ----------
    weights : (n,), the query's row
    tokens : n words
    query : the place of the token that asks

    Examples
    --------
    >>> arcs([0.9, 0.1], ["cat", "sat"], query=1)
    Arcs from sat to: cat 0.90, sat 0.10
    """
    who = "arcs"
    numbers, title = as_drawn(who, "weights", weights, ("n",)), as_text(who, "title", title)
    outside = (numbers < 0) | (numbers > 1)
    if outside.any():
        where = first_true(outside)
        raise ValueError(f"{who}: weights has {numbers[where]} at {where}; expected shares from 0 to 1")
    tokens = as_names(who, "tokens", tokens, len(numbers), "weights")
    query = _as_place(who, "query", query, tokens)
    longest = max(len(written(token)) for token in tokens)
    width = max(4.0, (0.55 + 0.11 * longest) * len(tokens))
    require_room(who, width, 2.6)
    spoken = ", ".join(f"{token} {figure_of(x, 2)}" for token, x in zip(tokens, numbers, strict=True))
    with look():
        picture, (axes,) = panels(width, 2.6, f"Arcs from {tokens[query]} to: {spoken}", (0.01, 0.02, 0.98, 0.86))
        draw_arcs(axes, numbers, tokens, query)
        axes.set_title(written(title, TITLE))
    return picture
