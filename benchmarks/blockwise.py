"""`blockwise_attention` against torch, the tutorials' NumPy and `attention`: float32, 8 heads, d = 64."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from attnlib import attention
from attnlib.blockwise import blockwise_attention
from attnlib.checks import Array
from benchmarks import machine, peers
from benchmarks.timing import Figure, Measured, interleave, ratio

HEADS, D = 8, 64
KINDS = ("full", "causal")
LENGTHS = (512, 1024, 2048, 4096, 8192)


def measure(quick: bool) -> Measured:
    """Time every length, full and causal."""
    lengths = (16, 32, 64) if quick else LENGTHS
    figures: list[Figure] = []
    curves: dict[str, Any] = {"lengths": list(lengths), "full": {}, "causal": {}}
    for n in lengths:
        rounds = 2 if quick else max(3, min(20, 24576 // n))
        Q, K, V = peers.draw(HEADS, n, D)
        calls, whole = {}, machine.can_hold(scores_at_once(n))
        for kind in KINDS:
            of_kind = contestants(Q, K, V, causal=kind == "causal", whole=whole)
            require_same_output(n, of_kind)
            calls |= {f"{kind} {name}": call for name, call in of_kind.items()}
        all_times = interleave(calls, rounds)  # full and causal in turn too: they are compared
        times = {kind: {name: all_times[f"{kind} {name}"] for name in of_kind} for kind in KINDS}
        for kind in KINDS:
            for name, seconds in times[kind].items():
                curves[kind].setdefault(name, []).append(min(seconds))
            figures += compare(n, kind, times[kind])
        both = (times["causal"]["in blocks"], times["full"]["in blocks"])
        figures.append(ratio(f"in blocks, n = {n}: causal / full", *both, "≤ 0.65" if n >= 1024 else ""))
    fitted = {kind: exponents(lengths, curves[kind]) for kind in KINDS}
    return Measured(figures, {**curves, "exponents": fitted})


def contestants(Q: Array, K: Array, V: Array, causal: bool, whole: bool) -> dict[str, Callable[[], Array]]:
    """Give what is to be timed, by name; only if `whole`, also what makes all n × n scores."""
    calls: dict[str, Callable[[], Array]] = {"in blocks": partial(blockwise_attention, Q, K, V, causal=causal)}
    torch = peers.torch()
    if torch:
        tensors = [torch.from_numpy(array)[None] for array in (Q, K, V)]  # (1, heads, n, d)
        fused = torch.nn.functional.scaled_dot_product_attention
        calls["torch"] = lambda: fused(*tensors, is_causal=causal)[0].numpy()
    if whole:
        calls["attention"] = lambda: attention(Q, K, V, causal=causal).output
        calls["tutorials"] = partial(peers.tutorial_attention, Q, K, V, causal)
    return calls


def scores_at_once(n: int) -> int:
    """Give the bytes that the formula as tutorials write it takes at most: three times all scores, of float64.

    >>> scores_at_once(4096) / 1e6  # megabytes
    3221.225472
    """
    return 3 * 8 * HEADS * n * n


def require_same_output(n: int, calls: dict[str, Callable[[], Array]]) -> None:
    """Compare the outputs of all contestants."""
    expected = calls["in blocks"]()
    for name in calls:
        if name != "in blocks":
            peers.require_equal(f"{name} at n = {n}", expected, calls[name](), 1e-5)


def compare(n: int, kind: str, times: dict[str, list[float]]) -> list[Figure]:
    """Make the lines of one length."""
    ours, what = times["in blocks"], f"n = {n}, {kind}"
    lines = []
    if "torch" in times:
        goal = "≤ 1.5" if n >= 1024 else ""
        lines.append(ratio(f"in blocks / torch, {what}", ours, times["torch"], goal))
    if "tutorials" in times:
        goal = "≥ 3" if n >= 1024 else ""
        lines.append(ratio(f"tutorials' NumPy / in blocks, {what}", times["tutorials"], ours, goal))
        lines.append(ratio(f"`attention` / in blocks, {what}", times["attention"], ours))
    return lines


def exponents(lengths: Sequence[int], lines: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Fit each line.

    >>> exponents([1024, 2048], {"a": [1.0, 2.0]})
    {'a': 1.0}
    """
    return {name: round(exponent(lengths, numbers), 3) for name, numbers in lines.items()}


def exponent(lengths: Sequence[int], numbers: Sequence[float]) -> float:
    """Fit number = c · n^exponent, from n = 1024 on if there are two such.

    >>> round(exponent([512, 1024, 2048, 4096], [9.0, 1.0, 4.0, 16.0]), 6)
    2.0
    """
    points = list(zip(lengths, numbers, strict=False))  # a line may end early
    long = [(n, number) for n, number in points if n >= 1024]  # below, the start of a call counts for too much
    n, number = np.log(np.array(long if len(long) > 1 else points, dtype=float).T)
    return float(np.polyfit(n, number, 1)[0])
