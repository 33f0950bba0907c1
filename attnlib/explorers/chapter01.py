"""Chapter 01: two positions, as the hands of four clocks, and their dot product."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import Circle

from attnlib.explorers.controls import Slider
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import COLOURS, draw_curves, look, panels
from attnlib.positions import sinusoidal_positions

MOST = 40
"""the largest position that can be chosen"""
D_MODEL = 8


def positions() -> Explorer:
    """Move two positions, and see that their dot product knows only how far apart they are.

    >>> positions().sentence[:56]
    'Positions 5 and 2 are 3 apart. Their dot product is 1.96'
    """
    return Explorer(view, {"p": Slider("first position", 0, MOST, 5), "r": Slider("second position", 0, MOST, 2)})


def view(p: int, r: int) -> View:
    """Draw the hands of both positions, and the dot product against the distance.

    >>> view(7, 7).sentence
    'Positions 7 and 7 are the same. Their dot product is 4.00, the largest there is.'
    """
    P = sinusoidal_positions(2 * MOST + 1, D_MODEL)  # (81, 8)
    distance, product = abs(p - r), float(P[p] @ P[r])
    products = P[0] @ P[: MOST + 1].T  # (41,): position 0 with all others
    description = (
        f"Clocks: the hands of positions {p} and {r}. Curve of dot product against distance, marked at distance "
        f"{distance}, {product:.2f}"
    )
    with look():
        picture, (clocks, curve) = panels(8.4, 4.2, description, (0, 0.54, 1, 0.44), (0.09, 0.14, 0.86, 0.36))
        for hand in range(D_MODEL // 2):
            centre = np.array([3.0 * hand, 0.0])
            clocks.add_patch(Circle((3.0 * hand, 0), 1, fill=False, edgecolor="#999999", linewidth=1.2))
            for place, kind, dash in ((p, "query", "-"), (r, "key", "--")):
                tip = centre + P[place, [2 * hand + 1, 2 * hand]]  # cosine to the right, sine upwards
                clocks.plot(*zip(centre, tip, strict=True), dash, color=COLOURS[kind], linewidth=3)
            clocks.text(3.0 * hand, -1.25, f"columns {2 * hand} and {2 * hand + 1}", ha="center", va="top")
        clocks.set(xlim=(-3.2, 10.6), ylim=(-1.75, 1.2), aspect="equal")
        clocks.set_axis_off()
        draw_curves(curve, np.arange(MOST + 1), {"all distances": products}, kinds=["scores"])
        curve.plot([distance], [product], "o", color=COLOURS["weights"], markersize=10)
        curve.set(xlabel="distance", ylabel="dot product", ylim=(0, 4.4))
        curve.grid(color="#dddddd", linewidth=0.8)
        clocks.text(-3.0, 0.35, f"position {p}", color=COLOURS["query"])
        clocks.text(-3.0, -0.45, f"position {r}\n(dashed)", color=COLOURS["key"], va="center")
    if distance == 0:
        return View(
            picture, f"Positions {p} and {r} are the same. Their dot product is 4.00, the largest there is."
        )
    farther = float(P[p + 10] @ P[r + 10])
    sentence = (
        f"Positions {p} and {r} are {distance} apart. Their dot product is {product:.2f} of at most 4, "
        f"one for each clock. Positions {p + 10} and {r + 10} are as far apart, and have {farther:.2f}: only the "
        "distance counts."
    )
    return View(picture, sentence)
