"""Chapter 02: stretch the query, from a plain mean to a database."""

from __future__ import annotations

import numpy as np

from attnlib.explorers.controls import Stops
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import COLOURS, draw_bars, look, panels
from attnlib.softmax import softmax

NAMES = ("poem", "novel", "recipe")
KEYS = np.array([[1.0, 0.2], [0.8, 0.6], [-0.9, 0.5]])
VALUES = np.array([10.0, 20.0, 70.0])
QUERY = np.array([2.0, 0.6])


def soft_lookup() -> Explorer:
    """Stretch the query of the book shelf, and see the mixture become one value.

    >>> soft_lookup().sentence[-61:]
    'and the output is 15.39: a mixture, mostly of poem and novel.'
    """
    return Explorer(view, {"stretch": Stops("query times", (0, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 25, 30, 100), 1)})


def view(stretch: float) -> View:
    """Draw the weights, and where the output lies among the values.

    >>> view(0).sentence
    'Query times 0: the weights are 0.33, 0.33, 0.33, and the output is 33.33: the plain mean of all values.'
    """
    weights = softmax(KEYS @ (stretch * QUERY))
    output = float(weights @ VALUES)
    said = ", ".join(f"{w:.2f}" for w in weights)
    description = (
        f"Bars of the weights of {', '.join(NAMES)}: {said}; the output {output:.2f} on a line from 0 to 80"
    )
    with look():
        picture, (left, right) = panels(8.4, 3.0, description, (0.04, 0.14, 0.40, 0.72), (0.52, 0.4, 0.45, 0.3))
        draw_bars(left, weights, NAMES)
        left.set(ylim=(0, 1.15), title="weights")
        right.axhline(0, color="#999999", linewidth=1.2)
        right.plot(VALUES, [0, 0, 0], "s", color=COLOURS["value"], markersize=9)
        for name, value in zip(NAMES, VALUES, strict=True):
            right.text(
                value, -0.45, f"{name}\n{value:.0f}", ha="center", va="top", color=COLOURS["value"], size=10
            )
        right.plot([output], [0], "D", color=COLOURS["output"], markersize=12)
        right.text(output, 0.42, f"output {output:.2f}", ha="center", va="bottom", color=COLOURS["output"])
        right.set(xlim=(0, 80), ylim=(-1, 1))
        right.set_axis_off()
    if stretch == 0:
        kind = "the plain mean of all values"
    elif weights.max() > 0.98:
        kind = f"nearly the value of {NAMES[weights.argmax()]} alone, as in a database"
    else:
        kind = "a mixture, mostly of poem and novel" if weights[2] < 0.1 else "a mixture of all three"
    return View(
        picture, f"Query times {stretch:g}: the weights are {said}, and the output is {output:.2f}: {kind}."
    )
