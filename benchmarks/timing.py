"""Fair times on a machine that is never quite quiet: in turn, several times, and as ratios within one round."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psutil

ENOUGH = 60  # seconds for one comparison, if it has had its turns three times
TRIES = 3  # for one turn, if it is disturbed
DISTURBED = 0.02  # the share of a turn's time for which the processor was lost
PAUSE = 0.1  # seconds between two calls: threads that wait for more work spin for a while before they sleep


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    name: str
    unit: str  # "×", "%" or "s"
    best: float  # from the best of each side: what counts for the goal
    median: float
    low: float  # the middle half of the rounds lies between these
    high: float
    goal: str = ""  # "≤ 2" or "≥ 3"; nothing if the figure is only told
    note: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal.

        >>> Figure("a", "×", 1.9, 2.0, 1.9, 2.1, "≤ 2").reached
        True
        """
        if not self.goal:
            return None
        sign, limit = self.goal.split()
        return self.best <= float(limit) if sign == "≤" else self.best >= float(limit)


@dataclass(frozen=True)
class Measured:
    """What one measurement gives: lines of the table, and curves for the plot."""

    figures: list[Figure]
    curves: dict[str, Any] = field(default_factory=dict)


def interleave(
    calls: Mapping[str, Callable[[], object]],
    rounds: int,
    repeat: int = 1,
    pause: float = PAUSE,
    warm_up: bool = True,
) -> dict[str, list[float]]:
    """Time the calls in turn, round after round: what disturbs the machine disturbs all of them.

    A virtual machine may lose its cores to another for a while. A turn in which that happened is taken anew.

    Parameters
    ----------
    calls : name → what to call
    rounds : how often each has its turn; fewer, but at least three, if that takes longer than `ENOUGH` seconds
    repeat : how many calls make one turn, for calls too short to be timed alone
    pause : seconds between two turns
    warm_up : begin each turn with one more call, which does not count: threads that slept through the pause need
        some milliseconds until each has a core of its own, and what the call before left has to go

    Returns
    -------
    name → seconds of one call, in each round

    Examples
    --------
    >>> times = interleave({"a": lambda: None, "b": lambda: None}, rounds=3, repeat=10, pause=0)
    >>> {name: len(seconds) for name, seconds in times.items()}
    {'a': 3, 'b': 3}
    """
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    begin = time.perf_counter()
    for done in range(rounds):
        if done >= 3 and time.perf_counter() - begin > ENOUGH:
            break  # a busy machine: rather fewer rounds than no end
        for name, call in calls.items():
            time.sleep(pause)
            if warm_up:
                call()
            for _ in range(TRIES):
                lost, start = stolen(), time.perf_counter()
                for _ in range(repeat):
                    call()
                taken = time.perf_counter() - start
                if stolen() - lost <= DISTURBED * taken:
                    break
            seconds[name].append(taken / repeat)
    return seconds


def stolen() -> float:
    """Give the seconds so far for which the machine's cores were lent to another machine; 0 where nobody tells."""
    return getattr(psutil.cpu_times(), "steal", 0.0)


def middle_half(numbers: Sequence[float]) -> tuple[float, float]:
    """Give the numbers between which the middle half lies.

    >>> middle_half([5.0, 1.0, 3.0])
    (2.0, 4.0)
    >>> middle_half([5.0])
    (5.0, 5.0)
    """
    if len(numbers) < 2:
        return numbers[0], numbers[0]
    low, _, high = statistics.quantiles(numbers, n=4, method="inclusive")
    return low, high


def ratio(name: str, ours: Sequence[float], theirs: Sequence[float], goal: str = "", note: str = "") -> Figure:
    """Compare two lists of seconds, round by round.

    >>> figure = ratio("a", [2.0, 4.0, 9.0], [1.0, 2.0, 3.0], "≤ 2")
    >>> figure.best, figure.median, figure.reached
    (2.0, 2.0, True)
    """
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return Figure(name, "×", min(ours) / min(theirs), statistics.median(ratios), *middle_half(ratios), goal, note)


def plain(name: str, unit: str, numbers: Sequence[float], goal: str = "", note: str = "") -> Figure:
    """Make a line of numbers that are no ratios.

    >>> plain("a", "s", [3.0, 1.0, 2.0]).median
    2.0
    """
    return Figure(name, unit, min(numbers), statistics.median(numbers), *middle_half(numbers), goal, note)
