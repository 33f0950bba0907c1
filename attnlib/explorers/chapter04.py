"""Chapter 04: the size of a head, and what it does to the weights, scaled and not."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from attnlib.checks import Array
from attnlib.explorers.controls import Stops
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import COLOURS, draw_curves, look, panels
from attnlib.softmax import entropy, softmax, softmax_jacobian

SIZES = tuple(2**power for power in range(11))
N_KEYS = 16
TRIALS = 400


class Measured(NamedTuple):
    """What random queries and keys give at one d_k, without scaling and with it.

    >>> measured(1).bits.shape
    (2,)
    """

    row: Array
    """(2, 16): the weights of one query, from the largest to the smallest"""
    bits: Array
    """(2,): the mean entropy"""
    gradient: Array
    """(2,): the mean size of the Jacobian"""


@cache
def measured(d_k: int) -> Measured:
    """Draw queries and keys with numbers of variance 1, and measure their weights.

    >>> bool(measured(1024).bits[0] < 1 < 3 < measured(1024).bits[1])
    True
    """
    rng = np.random.default_rng(d_k)
    Q, K = rng.normal(size=(TRIALS, 1, d_k)), rng.normal(size=(TRIALS, N_KEYS, d_k))
    scores = (Q @ K.swapaxes(-1, -2))[:, 0]  # (trials, keys)
    weights = softmax(np.stack([scores, scores / np.sqrt(d_k)]))  # (2, trials, keys)
    sizes = np.linalg.norm(softmax_jacobian(weights), axis=(-2, -1))  # (2, trials)
    return Measured(-np.sort(-weights[:, 0]), entropy(weights).mean(axis=-1), sizes.mean(axis=-1))


def spread() -> Explorer:
    """Choose d_k, and see what it does to weights, entropy and gradient, with and without scaling.

    >>> spread().sentence[:49]
    'd_k = 64. Without scaling the entropy is 0.5 bits'
    """
    return Explorer(view, {"d_k": Stops("d_k", SIZES, 64)})


def view(d_k: int) -> View:
    """Draw one query's weights, and mark d_k on the curves of entropy and gradient.

    >>> view(1).sentence[-43:]
    'With d_k = 1 there is nothing to scale yet.'
    """
    now, all_sizes = measured(d_k), [measured(size) for size in SIZES]
    keys = 2**now.bits
    description = (
        f"Three panels at d_k = {d_k}, without and with scaling. Largest weight {now.row[0, 0]:.2f} and "
        f"{now.row[1, 0]:.2f}; entropy {now.bits[0]:.1f} and {now.bits[1]:.1f} bits; size of the Jacobian "
        f"{now.gradient[0]:.2f} and {now.gradient[1]:.2f}"
    )
    names = ("not scaled", "scaled")
    with look():
        picture, (row, bits, size) = panels(
            9.0, 3.7, description, (0.07, 0.27, 0.24, 0.6), (0.4, 0.27, 0.24, 0.6), (0.74, 0.27, 0.24, 0.6)
        )
        draw_curves(row, range(1, N_KEYS + 1), dict(zip(names, now.row, strict=True)), kinds=["scores", "weights"])
        row.set(ylim=(0, 1.05), title="one random query", xlabel="16 keys, sorted", xticks=[1, 8, 16])
        for axes, numbers, marks, title in (
            (bits, np.array([one.bits for one in all_sizes]).T, now.bits, "entropy (bits)"),
            (size, np.array([one.gradient for one in all_sizes]).T, now.gradient, "size of the Jacobian"),
        ):
            draw_curves(axes, SIZES, dict(zip(names, numbers, strict=True)), kinds=["scores", "weights"])
            axes.axvline(d_k, color="#bbbbbb", linewidth=1.2, zorder=0)
            for mark, kind in zip(marks, ("scores", "weights"), strict=True):
                axes.plot([d_k], [mark], "o", color=COLOURS[kind], markersize=9)
            axes.set_xscale("log", base=2)
            axes.set_xticks([1, 32, 1024], ["1", "32", "1024"])
            axes.set_xticks([], minor=True)
            axes.set(title=title, xlabel="d_k")
        bits.set_ylim(0, 4.2)
        size.set_ylim(0, 0.42)
        picture.text(0.3, 0.03, "solid grey: not scaled", color=COLOURS["scores"])
        picture.text(0.58, 0.03, "dashed: scaled", color=COLOURS["weights"])
    if d_k == 1:
        both = f"the entropy is {now.bits[0]:.1f} bits, and about {keys[0]:.1f} of 16 keys count"
        return View(
            picture, f"d_k = 1. With and without scaling {both}. With d_k = 1 there is nothing to scale yet."
        )
    sentence = (
        f"d_k = {d_k}. Without scaling the entropy is {now.bits[0]:.1f} bits, so about {keys[0]:.1f} of 16 keys "
        f"count, and the Jacobian has size {now.gradient[0]:.2f}. Divided by the root of {d_k}, the entropy is "
        f"{now.bits[1]:.1f} bits, about {keys[1]:.1f} keys count, and the Jacobian has size {now.gradient[1]:.2f}."
    )
    return View(picture, sentence)
