"""Chapter 08: hide keys from queries, by rule or by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnlib.attention import attention
from attnlib.explorers.controls import Cells, Slider, Switch
from attnlib.explorers.shell import Explorer, View
from attnlib.masks import causal_mask, padding_mask
from attnlib.pictures import COLOURS, draw_matrix, look, panels

TOKENS = ("the", "cat", "sat", "down")
X = np.array([[0.2, 0.9], [1.2, -0.4], [-0.3, 1.1], [0.8, 0.6]])  # made up: moderate scores, all different


def masks() -> Explorer:
    """Hide keys: the future, the padding, or single cells.

    >>> masks().sentence
    'Every query sees every key. 6 cells show a later token: the future leaks into the past.'
    """
    everything = tuple((True,) * len(TOKENS) for _ in TOKENS)
    return Explorer(
        view,
        {
            "causal": Switch("causal: hide what comes later", False),
            "real": Slider("real tokens (not padding)", 0, len(TOKENS), len(TOKENS)),
            "cells": Cells("cells", TOKENS, TOKENS, everything),
        },
    )


def view(causal: bool, real: int, cells: Sequence[Sequence[bool]]) -> View:
    """Draw what softmax sees, and the weights; hidden cells are hatched.

    >>> view(True, 4, np.ones((4, 4), bool)).sentence
    'Hidden: 6 of 16 cells. No query sees a later token: nothing leaks.'
    """
    n = len(TOKENS)
    allowed = np.asarray(cells, bool) & padding_mask([real], n)[0]  # (4, 4) and (1, 4)
    if causal:
        allowed = allowed & causal_mask(n)
    result = attention(X, X, X, allowed)
    hidden = ~allowed
    rows = "; ".join(
        f"{token} " + " ".join(f"{w:.2f}" for w in row) for token, row in zip(TOKENS, result.weights, strict=True)
    )
    with look():
        picture, areas = panels(
            8.6,
            3.5,
            f"Heat map of the weights, hidden cells hatched: {rows}",
            (0.1, 0.17, 0.37, 0.7),
            (0.61, 0.17, 0.37, 0.7),
        )
        for axes, matrix, kind, title in (
            (areas[0], result.scaled, "scores", "what softmax sees"),
            (areas[1], result.weights, "weights", "weights"),
        ):
            top = 1.0 if kind == "weights" else 1.3
            draw_matrix(axes, matrix, TOKENS, TOKENS, kind=kind, top=top, hidden=hidden)
            axes.set_title(title)
            axes.set_xlabel("attends to key (column)", color=COLOURS["key"])
            axes.set_ylabel("query (row)", color=COLOURS["query"])
    return View(picture, " ".join([counted(hidden), *nothing_seen(allowed), leak(allowed)]))


def counted(hidden: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    """Say how much is hidden.

    >>> counted(np.array([[True, False]]))
    'Hidden: 1 of 2 cells.'
    """
    return f"Hidden: {hidden.sum()} of {hidden.size} cells." if hidden.any() else "Every query sees every key."


def nothing_seen(allowed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> list[str]:
    """Say which queries may see nothing, if there are any.

    >>> nothing_seen(np.array([[False] * 4, [True] * 4, [True] * 4, [True] * 4]))
    ['"the" may see nothing: its weights are 0, not a mean over hidden keys, and its output is 0.']
    """
    empty = [f'"{token}"' for token, row in zip(TOKENS, allowed, strict=True) if not row.any()]
    if not empty:
        return []
    if len(empty) == len(TOKENS):
        return ["Nobody may see anything: all weights are 0, and so is every output."]
    names = " and ".join([", ".join(empty[:-1]), empty[-1]] if len(empty) > 1 else empty)
    its, ends = ("its", "its output is 0") if len(empty) == 1 else ("their", "their outputs are 0")
    return [f"{names} may see nothing: {its} weights are 0, not a mean over hidden keys, and {ends}."]


def leak(allowed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    """Say whether a query sees a later token.

    >>> leak(causal_mask(4))
    'No query sees a later token: nothing leaks.'
    """
    later = np.argwhere(np.triu(allowed, k=1))
    if len(later) == 1:
        query, key = (TOKENS[place] for place in later[0])
        return f'1 cell shows a later token ("{query}" sees "{key}"): the future leaks into the past.'
    if len(later):
        return f"{len(later)} cells show a later token: the future leaks into the past."
    return "No query sees a later token: nothing leaks."
