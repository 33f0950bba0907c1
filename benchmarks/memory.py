"""How much memory a call takes at most, beside its inputs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

from attnlib import attention
from attnlib.blockwise import blockwise_attention
from benchmarks import machine, peers
from benchmarks.blockwise import HEADS, LENGTHS, D, exponents, scores_at_once
from benchmarks.timing import Figure, Measured, plain


def measure(quick: bool) -> Measured:
    """Measure every length; the figure is that of the longest."""
    lengths = (16, 32, 64) if quick else LENGTHS
    megabytes: dict[str, list[float]] = {"in blocks": [], "attention": [], "tutorials": []}
    figures: list[Figure] = []
    for n in lengths:
        Q, K, V = peers.draw(HEADS, n, D)
        calls: dict[str, Callable[..., Any]] = {"in blocks": blockwise_attention}
        if machine.can_hold(scores_at_once(n)):
            calls |= {"attention": attention, "tutorials": peers.tutorial_attention}
        for name, call in calls.items():
            megabytes[name].append(peak(lambda call=call, inputs=(Q, K, V): call(*inputs)) / 1e6)
        scores = HEADS * n * n * 4 / 1e6
        if n in lengths[-2:]:
            share = 100 * megabytes["in blocks"][-1] / scores
            note = f"{megabytes['in blocks'][-1]:.1f} MB, the output included; the scores would be {scores:.0f} MB"
            name = f"in blocks, n = {n}: memory / n × n scores of {HEADS} heads"
            figures.append(plain(name, "%", [share], "≤ 5" if n == lengths[-1] else "", note))
    curves = {"lengths": list(lengths), "megabytes": megabytes, "exponents": exponents(lengths, megabytes)}
    return Measured(figures, curves)


def peak(call: Callable[[], object]) -> int:
    """Give the bytes that were in use, at most, above those at the start.

    >>> peak(lambda: bytearray(10**6)) >= 10**6
    True
    """
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
