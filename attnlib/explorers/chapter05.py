"""Chapter 05: three scores and a temperature."""

from __future__ import annotations

import numpy as np

from attnlib.examples import write_a_poem
from attnlib.explorers.controls import Slider, Stops
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import draw_bars, figure_of, look, panels
from attnlib.softmax import entropy, softmax, softmax_jacobian

SATURATED = 0.01
"""below this size of the Jacobian a push of a score moves next to nothing"""


def temperature() -> Explorer:
    """Move the scores of "write", and the temperature.

    >>> temperature().sentence[:57]
    'T = 1: the weights are 0.36, 0.40, 0.24. Most goes to "a"'
    """
    controls = {"T": Stops("temperature T", (0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 20, 100), 1)}
    starts = (-0.07, 0.05, -0.46)  # the row of "write", rounded to the slider's steps
    sliders = {
        name: Slider(f"score of {token}", -3.0, 3.0, start, 0.01)
        for name, token, start in zip("abc", write_a_poem.tokens, starts, strict=True)
    }
    return Explorer(view, {**controls, **sliders})


def view(T: float, a: float, b: float, c: float) -> View:
    """Draw the scores, and the weights at this temperature.

    >>> view(1, 0.0, 0.0, 0.0).sentence[:60]
    'T = 1: the weights are 0.33, 0.33, 0.33. All are equal. Thei'
    """
    scores = np.array([a, b, c])
    weights = softmax(scores / T)
    size = float(np.linalg.norm(softmax_jacobian(weights)))
    tokens = write_a_poem.tokens
    said = ", ".join(f"{w:.2f}" for w in weights)
    description = f"Bars of the scores {a:.2f}, {b:.2f}, {c:.2f} and of the weights {said}"
    with look():
        picture, (left, right) = panels(7.6, 3.2, description, (0.04, 0.12, 0.42, 0.74), (0.54, 0.12, 0.42, 0.74))
        draw_bars(left, scores, tokens, kind="scores")
        left.set(ylim=(-3.9, 3.9), title="scaled scores")
        draw_bars(right, weights, tokens, kind="weights", hatch="//")
        right.set(ylim=(0, 1.15), title=f"weights at T = {T:g}")
    equal = a == b == c
    most = "All are equal" if equal else f'Most goes to "{tokens[int(weights.argmax())]}"'
    state = "saturated: a push of a score moves next to nothing" if size < SATURATED else "it can still learn"
    bits = figure_of(float(entropy(weights)), 2)
    sentence = (
        f"T = {T:g}: the weights are {said}. {most}. Their entropy is {bits} of 1.58 bits, and the Jacobian has "
        f"size {size:.2f}: {state}."
    )
    return View(picture, sentence)
