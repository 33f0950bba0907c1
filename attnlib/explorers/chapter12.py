"""Chapter 12: every layer and head of a real model, on a sentence that you type."""

from __future__ import annotations

from functools import lru_cache

from matplotlib.patches import Rectangle

from attnlib.checks import require_kind
from attnlib.explorers.controls import Slider, Text
from attnlib.explorers.shell import Explorer, View
from attnlib.minilm import MiniLM, MiniLMResult
from attnlib.pictures import COLOURS, figure_of, look, panels, shades

LONGEST = 24
"""tokens that a picture has room for"""
SENTENCE = "The animal did not cross the street because it was too tired"


def real_model(model: MiniLM) -> Explorer:
    """Type a sentence, name one of its words, and look into every head.

    Parameters
    ----------
    model : as `minilm.load()` gives it

    Examples
    --------
    >>> from attnlib import minilm
    >>> real_model(minilm.load()).sentence
    'Layer 3, head 1: "it" attends most to "animal", 0.65. "[CLS]" gets 0.12.'
    """
    require_kind("real_model", "model", model, MiniLM, "what minilm.load() gives")

    @lru_cache(maxsize=8)
    def forward(text: str) -> MiniLMResult:
        return model.forward(text)

    def view(text: str, word: str, layer: int, head: int) -> View:
        if len(model.tokens(text)) > LONGEST:
            raise ValueError(
                f"The sentence has more than {LONGEST} tokens, which the picture cannot hold: shorten it."
            )
        return draw(forward(text), word, layer, head)

    return Explorer(
        view,
        {
            "text": Text("sentence", SENTENCE),
            "word": Text("word that asks", "it"),
            "layer": Slider("layer", 0, model.num_layers - 1, 3),
            "head": Slider("head", 0, model.num_heads - 1, 1),
        },
    )


def draw(result: MiniLMResult, word: str, layer: int, head: int) -> View:
    """Draw one word's weights as bars, beside the whole head.

    >>> import numpy as np
    >>> weights = np.full((1, 1, 3, 3), 1 / 3)
    >>> draw(MiniLMResult(["[CLS]", "hi", "[SEP]"], np.zeros((2, 3, 4)), weights), "hi", 0, 0).sentence
    'Layer 0, head 0: "hi" attends most to "[CLS]", 0.33.'
    """
    tokens = result.tokens
    wanted = next((token for token in tokens if token.lower() == word.strip().lower()), None)
    if wanted is None:
        raise ValueError(
            f"{word.strip() or 'An empty word'} is none of the tokens; choose one of: {' '.join(tokens)}."
        )
    n, query = len(tokens), tokens.index(wanted)
    weights = result.weights[layer, head]  # (n, n)
    row = weights[query]
    said = ", ".join(f"{token} {w:.2f}" for token, w in zip(tokens, row, strict=True))
    with look():
        picture, (left, right) = panels(
            9.0,
            5.2,
            f"Bars, layer {layer}, head {head}, {wanted} attends to: {said}",
            (0.13, 0.1, 0.3, 0.82),
            (0.56, 0.1, 0.42, 0.82),
        )
        left.barh(range(n), row, color=COLOURS["weights"], height=0.7)
        for place, weight in enumerate(row):
            left.text(weight + 0.02, place, figure_of(weight, 2), va="center", size=10)
        left.set_yticks(range(n), tokens, size=10)
        left.set(ylim=(n - 0.4, -0.6), xlim=(0, 1.2), title=f"{wanted} attends to", xticks=[])
        left.spines["bottom"].set_visible(False)
        left.tick_params(length=0)
        right.imshow(weights, cmap=shades("weights"), vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        right.add_patch(
            Rectangle(
                (-0.5, query - 0.5), n, 1, fill=False, edgecolor=COLOURS["query"], linewidth=2.4, clip_on=False
            )
        )
        right.set(title=f"layer {layer}, head {head}", xticks=[])
        right.set_yticks(range(n), tokens, size=10)
        right.set_xlabel("key (column), in the same order", color=COLOURS["key"])
        right.tick_params(length=0)
    best = int(row.argmax())
    sentence = f'Layer {layer}, head {head}: "{wanted}" attends most to "{tokens[best]}", {row[best]:.2f}.'
    return View(picture, sentence if best == 0 else f'{sentence} "{tokens[0]}" gets {row[0]:.2f}.')
