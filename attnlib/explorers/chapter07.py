"""Chapter 07: one head for two relations, or a head for each."""

from __future__ import annotations

import numpy as np

from attnlib.attention import attention
from attnlib.explorers.controls import Choice
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import draw_arcs, draw_bars, look, panels

# subject, object, verb, cat, mouse
ROWS = {
    "cat": ([1.0, 0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0, 0.0]),  # as the subject, as the object
    "mouse": ([1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0, 1.0]),
}
CHASED = [0.0, 0.0, 1.0, 0.0, 0.0]
SENTENCES = ("cat chased mouse", "mouse chased cat")
HEADS = {
    "one head: who and whom": [1.0, 1.0, 0.0, 0.0, 0.0],
    "head 1: who?": [1.0, 0.0, 0.0, 0.0, 0.0],
    "head 2: whom?": [0.0, 1.0, 0.0, 0.0, 0.0],
}
"""which tokens answer the verb: the keys of each head"""


def heads() -> Explorer:
    """Choose a sentence and a head, and see what the verb finds out.

    >>> heads().sentence[:57]
    'One head: "chased" takes 0.50 from cat and 0.50 from mous'
    """
    return Explorer(
        view,
        {
            "sentence": Choice("sentence", SENTENCES, SENTENCES[0]),
            "head": Choice("head", list(HEADS), next(iter(HEADS))),
        },
    )


def view(sentence: str, head: str) -> View:
    """Draw the verb's attention as arcs, and what it takes home as bars.

    >>> view("mouse chased cat", "head 1: who?").sentence
    'Head 1 asks who: "chased" takes 1.00 from mouse. It receives cat 0.00, mouse 1.00: the mouse chased.'
    """
    words = sentence.split()
    X = np.array([ROWS[words[0]][0], CHASED, ROWS[words[2]][1]])  # (3, 5)
    W_Q, W_K = np.array([[0.0], [0.0], [6.0], [0.0], [0.0]]), np.array(HEADS[head])[:, None]
    V = X[:, 3:]  # is it a cat, is it a mouse
    result = attention(X @ W_Q, X @ W_K, V)
    row, output = result.weights[1], result.output[1]
    said = ", ".join(f"{word} {w:.2f}" for word, w in zip(words, row, strict=True))
    description = f"Arcs from chased to: {said}. Bars of the output: cat {output[0]:.2f}, mouse {output[1]:.2f}"
    with look():
        picture, (left, right) = panels(8.0, 3.0, description, (0.01, 0.02, 0.6, 0.84), (0.68, 0.12, 0.28, 0.74))
        draw_arcs(left, row, words, query=1)
        left.set_title(head)
        draw_bars(right, output, ["cat", "mouse"], kind="output")
        right.set(ylim=(0, 1.15), title="output of chased")
    learns = f"It receives cat {output[0]:.2f}, mouse {output[1]:.2f}"
    if head.startswith("one"):
        taken = f"{row[0]:.2f} from {words[0]} and {row[2]:.2f} from {words[2]}"
        return View(picture, f'One head: "chased" takes {taken}. {learns}: who chased whom is lost.')
    place = 0 if "1" in head else 2
    found = f'"chased" takes {row[place]:.2f} from {words[place]}'
    asked, fact = ("who", "chased") if place == 0 else ("whom", "was chased")
    return View(picture, f"Head {1 + place // 2} asks {asked}: {found}. {learns}: the {words[place]} {fact}.")
