"""Chapter 11: a sliding window, and how far it reaches through layers."""

from __future__ import annotations

import numpy as np

from attnlib.explorers.controls import Slider
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import COLOURS, draw_matrix, look, panels
from attnlib.windows import window_mask

N = 8
MOST_LAYERS = 4


def window() -> Explorer:
    """Choose the window's width and the number of layers, and see who hears of whom.

    >>> window().sentence[:70]
    'Width 3: each token sees itself and up to 2 before it; in each layer 2'
    """
    return Explorer(view, {"width": Slider("width", 1, N, 3), "layers": Slider("layers", 1, MOST_LAYERS, 1)})


def view(width: int, layers: int) -> View:
    """Draw after how many layers each token has heard of each; hatched cells: not yet.

    >>> view(3, 2).sentence[-61:]
    'After 2 layers the last token has heard of 5 of the 8 tokens.'
    """
    seen = window_mask(N, width=width)  # (8, 8)
    needed, reach = np.zeros((N, N)), np.eye(N, dtype=bool)
    for layer in range(1, layers + 1):
        reach = (seen.astype(int) @ reach) > 0  # what I see, and what they had heard of
        needed[reach & (needed == 0)] = layer
    heard = int(reach[-1].sum())
    places = [str(place) for place in range(N)]
    rows = "; ".join(" ".join(f"{x:.0f}" for x in row) for row in needed)
    with look():
        picture, (axes,) = panels(
            6.2,
            4.4,
            f"Cells: after how many layers a token hears of another, 0 if not yet: {rows}",
            (0.13, 0.14, 0.85, 0.76),
        )
        draw_matrix(axes, needed, places, places, digits=0, top=MOST_LAYERS, hidden=needed == 0)
        axes.set_title("heard after so many layers (hatched: not heard)")
        axes.set_xlabel("of key (column)", color=COLOURS["key"])
        axes.set_ylabel("query (row)", color=COLOURS["query"])
    before = "only itself" if width == 1 else f"itself and up to {width - 1} before it"
    plain = N * (N + 1) // 2
    scores = (
        f"{seen.sum()} scores, where plain causal attention has {plain}"
        if width < N
        else "as many scores as without"
    )
    after = "1 layer" if layers == 1 else f"{layers} layers"
    sentence = (
        f"Width {width}: each token sees {before}; in each layer {scores}. "
        f"After {after} the last token has heard of {heard} of the {N} tokens."
    )
    return View(picture, sentence)
