"""Chapter 05: three scores and a temperature."""

from __future__ import annotations

import numpy as np

from attnlib.checks import Array
from attnlib.examples import write_a_poem
from attnlib.explorers.controls import Slider, Stops
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import draw_bars, figure_of, look, panels
from attnlib.softmax import entropy, softmax, softmax_jacobian

LITTLE = 0.01
"""if a push of 1 in the scores would move the weights by less than this, next to nothing happens"""


def temperature() -> Explorer:
    """Move the scores of "write", and the temperature.

    >>> temperature().sentence[:69]
    'T = 1: the weights are 0.36, 0.40, 0.24. "a" gets the largest weight.'
    """
    controls = {"T": Stops("temperature T", (0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 20, 100), 1)}
    starts = (-0.05, 0.05, -0.45)  # the row of "write", rounded to the slider's steps
    sliders = {
        name: Slider(f"score of {token}", -3.0, 3.0, start, 0.05)
        for name, token, start in zip("abc", write_a_poem.tokens, starts, strict=True)
    }
    return Explorer(view, {**controls, **sliders})


def view(T: float, a: float, b: float, c: float) -> View:
    """Draw the scores, and the weights at this temperature.

    >>> view(1, 0.0, 0.0, 0.0).sentence[:55]
    'T = 1: the weights are 0.33, 0.33, 0.33. All are equal.'
    """
    scores = np.array([a, b, c])
    weights = softmax(scores / T)
    size = float(np.linalg.norm(softmax_jacobian(weights))) / T  # by the scores themselves, not by scores / T
    tokens = write_a_poem.tokens
    said = ", ".join(f"{w:.2f}" for w in weights)
    description = f"Bars of the scores {a:.2f}, {b:.2f}, {c:.2f} and of the weights {said}"
    with look():
        picture, (left, right) = panels(7.6, 3.2, description, (0.04, 0.12, 0.42, 0.74), (0.54, 0.12, 0.42, 0.74))
        draw_bars(left, scores, tokens, kind="scores")
        left.set(ylim=(-3.9, 3.9), title="scaled scores")
        draw_bars(right, weights, tokens, kind="weights", hatch="//")
        right.set(ylim=(0, 1.15), title=f"weights at T = {T:g}")
    bits = figure_of(float(entropy(weights)), 2)
    sentence = (
        f"T = {T:g}: the weights are {said}. {largest_of(scores)} Their entropy is {bits} bits (at most log2 3 "
        f"= 1.58). The Jacobian has size {size:.3f}: {state_of(size, float(weights.max()))}."
    )
    return View(picture, sentence)


def largest_of(scores: Array) -> str:
    """Say which token gets the largest weight, or which ones share it.

    >>> largest_of(np.array([3.0, 3.0, 0.0]))
    '"write" and "a" share the largest weight.'
    """
    names = [
        f'"{token}"' for token, score in zip(write_a_poem.tokens, scores, strict=True) if score == scores.max()
    ]
    if len(names) == len(scores):
        return "All are equal."
    return f"{' and '.join(names)} {'share the largest weight' if len(names) > 1 else 'gets the largest weight'}."


def state_of(size: float, most: float) -> str:
    """Say what a push of a score would do.

    >>> state_of(0.001, 0.99)
    'saturated, for a push of a score moves next to nothing'
    """
    if size >= LITTLE:
        return "a push of a score moves the weights"
    if most > 0.9:
        return "saturated, for a push of a score moves next to nothing"
    return "T is so large that a push of a score hardly counts"
