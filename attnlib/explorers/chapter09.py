"""Chapter 09: go back and forth through the training of 배."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from attnlib.checks import Array
from attnlib.examples import bae
from attnlib.explorers.controls import Slider
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import COLOURS, draw_bars, draw_curves, look, panels
from attnlib.senses import SENSES, SenseModel, corpus, split, train
from attnlib.softmax import softmax

STEPS = 100
HUNGRY = 4
"""the place of 고파서 in the sentence of the study note"""


class History(NamedTuple):
    """What the model of chapter 09 did with the study note's sentence after each step of its training.

    >>> history().weights.shape, history().losses.shape
    ((101, 8), (101,))
    """

    weights: Array
    """(101, 8): the row of 배"""
    senses: Array
    """(101, 3): the probability of each sense"""
    losses: Array
    """(101,): the loss on the training sentences"""


@cache
def history() -> History:
    """Train the model of chapter 09 once, with the same numbers, and keep every step.

    >>> bool(history().weights[100, 4] > 0.5 > 0.2 > history().weights[0, 4])
    True
    """
    rng = np.random.default_rng(1)
    everything = corpus()
    training_part, _ = split(everything, 400, rng)
    model = SenseModel(rng)
    note = everything.ids[:1]
    weights, senses, losses = [], [], []

    def look_at_note() -> None:
        weights.append(model.attend(note).weights[0, 0])
        senses.append(softmax(model.logits(note))[0])

    look_at_note()
    for _, loss in train(model, training_part, steps=STEPS + 1):  # each step gives the loss before it
        losses.append(loss)
        look_at_note()
    return History(np.array(weights[:-1]), np.array(senses[:-1]), np.array(losses))


def training() -> Explorer:
    """Choose a step of the training, and see where 배 looks.

    >>> training().sentence[:50]
    'Before training: 배 gives 고파서 0.13 of its attention'
    """
    return Explorer(view, {"step": Slider("training step", 0, STEPS, 0)})


def view(step: int) -> View:
    """Draw the row of 배 and the loss after so many steps.

    >>> view(100).sentence[:50]
    'After 100 steps: 배 gives 고파서 1.00 of its attention'
    """
    past = history()
    row, sense, loss = past.weights[step], past.senses[step], past.losses[step]
    said = ", ".join(f"{token} {w:.2f}" for token, w in zip(bae.tokens, row, strict=True))
    description = f"Bars of the row of 배 after step {step}: {said}. Curve of the loss, marked at {loss:.2f}"
    with look():
        picture, (left, right) = panels(9.0, 3.2, description, (0.01, 0.13, 0.6, 0.74), (0.7, 0.2, 0.28, 0.67))
        draw_bars(left, row, bae.tokens, marked=[HUNGRY])
        left.axhline(1 / 8, color="#999999", linewidth=1, linestyle=":")
        left.set(ylim=(0, 1.15), title="배 attends to")
        lines = {"loss": past.losses, "weight of 고파서": past.weights[:, HUNGRY]}
        draw_curves(right, range(STEPS + 1), lines, kinds=["scores", "weights"])
        right.plot([step], [loss], "o", color=COLOURS["scores"], markersize=9)
        right.plot([step], [row[HUNGRY]], "o", color=COLOURS["weights"], markersize=9)
        right.set(ylim=(-0.05, 1.25), xlabel="step", title="loss; weight (dashed)")
        right.grid(color="#dddddd", linewidth=0.8)
    when = f"After {step} {'step' if step == 1 else 'steps'}" if step else "Before training"
    best = int(sense.argmax())
    sentence = (
        f"{when}: 배 gives 고파서 {row[HUNGRY]:.2f} of its attention (equal shares would be 0.125), the loss on "
        f"the 400 training sentences is {loss:.2f}, and 배 is read as {SENSES[best]} with probability "
        f"{sense[best]:.2f}."
    )
    return View(picture, sentence)
