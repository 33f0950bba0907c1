"""Chapter 03: turn and stretch a key, and see dot product and cosine choose."""

from __future__ import annotations

import numpy as np

from attnlib.explorers.controls import Slider
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import COLOURS, draw_angle, draw_bars, draw_plane, look, panels
from attnlib.similarity import cosine_similarity, dot_products

QUERY = np.array([1.0, 2.0])
ALIKE = np.array([0.6, 1.1])
NAMES = ("alike", "yours")


def two_vectors() -> Explorer:
    """Turn and stretch your key; the other key stays: see who wins.

    >>> two_vectors().sentence[-46:]
    ': alike wins. Dot product and cosine disagree.'
    """
    return Explorer(
        view,
        {
            "angle": Slider("angle of your key", 0, 180, 59),
            "length": Slider("length of your key", 0.2, 4.0, 4.0, 0.1),
        },
    )


def your_key(angle: float, length: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Give the key of this length that lies so many degrees clockwise from the query.

    >>> your_key(90, 1.0).round(2)
    array([ 0.89, -0.45])
    """
    turned = np.arctan2(QUERY[1], QUERY[0]) - np.radians(angle)
    return length * np.array([np.cos(turned), np.sin(turned)])


def view(angle: int, length: float) -> View:
    """Draw the query and both keys, and both ways to compare them.

    >>> view(180, 1.0).sentence[:72]
    'Your key is 180 degrees from the query and 1.0 long. Its dot product is '
    """
    yours = your_key(angle, length)
    keys = np.array([ALIKE, yours])
    # Rounded far below what is shown, so that a right angle gives 0 and not a speck on one side of it.
    dots, cosines = (np.round(f([QUERY], keys)[0], 12) + 0.0 for f in (dot_products, cosine_similarity))
    winners = [int(numbers.argmax()) for numbers in (dots, cosines)]
    description = (
        f"Vectors in the plane: query ({QUERY[0]:.2f}, {QUERY[1]:.2f}), alike ({ALIKE[0]:.2f}, {ALIKE[1]:.2f}), "
        f"yours ({yours[0]:.2f}, {yours[1]:.2f}). Bars of dot product: alike {dots[0]:.2f}, yours {dots[1]:.2f}; "
        f"of cosine: alike {cosines[0]:.2f}, yours {cosines[1]:.2f}"
    )
    with look():
        picture, (space, left, right) = panels(
            8.4, 4.2, description, (0.06, 0.19, 0.45, 0.78), (0.55, 0.12, 0.2, 0.74), (0.79, 0.12, 0.2, 0.74)
        )
        draw_angle(space, QUERY, yours)
        for vector, kind, dash in ((QUERY, "query", "-"), (ALIKE, "key", ":"), (yours, "key", "-")):
            look_of = {"arrowstyle": "-|>", "color": COLOURS[kind], "lw": 2.4, "linestyle": dash, "shrinkA": 0}
            space.annotate("", tuple(vector), (0, 0), arrowprops=look_of)
        draw_plane(space, {})
        space.set(xlim=(-4.2, 4.6), ylim=(-3.9, 4.3), aspect="equal")
        for x, name, kind in ((0.08, "query", "query"), (0.19, "alike (dotted)", "key"), (0.42, "yours", "key")):
            picture.text(x, 0.04, name, color=COLOURS[kind])
        for axes, numbers, winner, name in (
            (left, dots, winners[0], "dot product"),
            (right, cosines, winners[1], "cosine"),
        ):
            draw_bars(axes, numbers, NAMES, kind="key", marked=[winner])
            reach = 9.5 if axes is left else 1.25
            axes.set(ylim=(-reach * 1.1, reach * 1.1), title=name)
    digits = 5 if abs(cosines[0] - cosines[1]) < 0.001 else 3
    verdict = "agree" if winners[0] == winners[1] else "disagree"
    sentence = (
        f"Your key is {angle} degrees from the query and {length:.1f} long. "
        f"Its dot product is {dots[1]:.2f} against {dots[0]:.2f}: {NAMES[winners[0]]} wins. "
        f"Its cosine is {cosines[1]:.{digits}f} against {cosines[0]:.{digits}f}: {NAMES[winners[1]]} wins. "
        f"Dot product and cosine {verdict}."
    )
    return View(picture, sentence)
