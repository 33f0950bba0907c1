"""One call of `attention`: at the course's sizes against the bare formula, at n = 1024 against what it must do."""

from __future__ import annotations

import numpy as np

from attnlib import attention
from attnlib.checks import Array
from benchmarks import peers
from benchmarks.timing import Measured, interleave, ratio


def measure(quick: bool) -> Measured:
    """Time a small call (its checks included) and a large one."""
    Q, K, V = peers.draw(8, 4, dtype=np.float64)
    peers.require_equal("the five expressions", attention(Q, K, V).output, five_expressions(Q, K, V), 1e-12)
    small = interleave(
        {"attention": lambda: attention(Q, K, V), "five": lambda: five_expressions(Q, K, V)},
        rounds=2 if quick else 60,
        repeat=2 if quick else 200,
        pause=0,
    )
    microseconds = f"{1e6 * min(small['attention']):.0f} µs, all checks of the input included"
    figures = [
        ratio(
            "`attention` / its five NumPy expressions, n = 8",
            small["attention"],
            small["five"],
            "≤ 3",
            microseconds,
        )
    ]
    n = 64 if quick else 1024
    for heads in (1, 8):
        whole = peers.draw(heads, n, 64)
        large = interleave(
            {"attention": lambda whole=whole: attention(*whole), "floor": lambda whole=whole: floor(*whole)},
            rounds=2 if quick else 20,
            repeat=1 if quick else 5,  # one call alone would mostly time the memory that it asks for
        )
        name = f"`attention` / two products and one exp, n = {n}, heads: {heads}"
        figures.append(ratio(name, large["attention"], large["floor"], "≤ 1.5"))
    return Measured(figures)


def five_expressions(Q: Array, K: Array, V: Array) -> Array:
    """Compute attention with nothing around it.

    >>> five_expressions(np.eye(2), np.eye(2), np.eye(2)).shape
    (2, 2)
    """
    scores = Q @ K.T
    scaled = scores / np.sqrt(Q.shape[-1])
    exps = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V


def floor(Q: Array, K: Array, V: Array) -> Array:
    """Do only what no attention can do without: two matrix products, and one exp between them.

    >>> floor(np.eye(2), np.eye(2), np.eye(2)).shape
    (2, 2)
    """
    scores = Q @ K.swapaxes(-1, -2)
    return np.exp(scores) @ V
