"""Exercises of chapter 11: what attention costs.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise

Array = np.ndarray[Any, Any]

square = NumberExercise(
    "11-square",
    lambda: 4000**2 / 1000**2,
    within=0.01,
    mistakes={"linear": lambda: 4.0, "cube": lambda: 64.0, "double": lambda: 8.0},
)


# --- joining two parts --------------------------------------------------------------------------------


def joined_sum(m_1, s_1, m_2, s_2):
    m = max(m_1, m_2)
    return s_1 * np.exp(m_1 - m) + s_2 * np.exp(m_2 - m)


def not_mended(m_1: float, s_1: float, m_2: float, s_2: float) -> Any:
    """Add sums that were made with different maxima."""
    return s_1 + s_2


def wrong_way(m_1: float, s_1: float, m_2: float, s_2: float) -> Any:
    """Turn the differences round."""
    m = max(m_1, m_2)
    return s_1 * np.exp(m - m_1) + s_2 * np.exp(m - m_2)


def without_maximum(m_1: float, s_1: float, m_2: float, s_2: float) -> Any:
    """Give the sum without any maximum."""
    return s_1 * np.exp(m_1) + s_2 * np.exp(m_2)


def smaller_maximum(m_1: float, s_1: float, m_2: float, s_2: float) -> Any:
    """Use the smaller maximum."""
    m = min(m_1, m_2)
    return s_1 * np.exp(m_1 - m) + s_2 * np.exp(m_2 - m)


def second_is_larger(m_1: float, s_1: float, m_2: float, s_2: float) -> Any:
    """Take it for granted that the second maximum is the larger one."""
    return s_1 * np.exp(m_1 - m_2) + s_2


def first_is_larger(m_1: float, s_1: float, m_2: float, s_2: float) -> Any:
    """Take it for granted that the first maximum is the larger one."""
    return s_1 + s_2 * np.exp(m_2 - m_1)


join = FunctionExercise(
    "11-join",
    joined_sum,
    lambda rng: [
        (1.0, 1.5 + rng.random(), 2.0, 1.2),
        (3.0, 1.1, 0.5, 2.0 + rng.random()),
        (1000.0, 1.0 + rng.random(), 999.0, 1.7),
    ],
    mistakes={
        "not-mended": not_mended,
        "wrong-way": wrong_way,
        "without-maximum": without_maximum,
        "smaller-maximum": smaller_maximum,
        "second-is-larger": second_is_larger,
        "first-is-larger": first_is_larger,
    },
)

cache = ChoiceExercise("11-cache", "abcd", lambda: "c")

grouped = NumberExercise(
    "11-grouped",
    lambda: 2 * 8 * 128 * 1000 / 1e6,
    within=0.06,
    mistakes={
        "query-heads": lambda: 2 * 32 * 128 * 1000 / 1e6,
        "only-keys": lambda: 8 * 128 * 1000 / 1e6,
        "one-head": lambda: 2 * 128 * 1000 / 1e6,
        "not-in-millions": lambda: 2 * 8 * 128 * 1000,
    },
)


# --- turning ------------------------------------------------------------------------------------------


def turn(x, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([x[0] * c - x[1] * s, x[0] * s + x[1] * c])


def with_the_clock(x: Array, angle: float) -> Array:
    """Turn the other way."""
    return turn(x, -angle)


def cosine_only(x: Array, angle: float) -> Array:
    """Shrink in the place of turning."""
    return x * np.cos(angle)


def signs_equal(x: Array, angle: float) -> Array:
    """Forget the minus."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([x[0] * c + x[1] * s, x[0] * s + x[1] * c])


def axes_swapped(x: Array, angle: float) -> Array:
    """Swap the two coordinates."""
    return turn(x, angle)[::-1]


def in_degrees(x: Array, angle: float) -> Array:
    """Take the angle for degrees."""
    return turn(x, np.radians(angle))


turning = FunctionExercise(
    "11-turn",
    turn,
    lambda rng: [(rng.normal(size=2), 0.7), (rng.normal(size=2), -1.9), (rng.normal(size=2), 3.0)],
    mistakes={
        "with-the-clock": with_the_clock,
        "cosine-only": cosine_only,
        "signs-equal": signs_equal,
        "axes-swapped": axes_swapped,
        "degrees": in_degrees,
    },
)


# --- windows ------------------------------------------------------------------------------------------


def my_window(n, width):
    distance = np.arange(n)[:, None] - np.arange(n)
    return (distance >= 0) & (distance < width)


def one_too_wide(n: int, width: int) -> Array:
    """See width keys before itself."""
    return my_window(n, width + 1)


def without_itself(n: int, width: int) -> Array:
    """Leave out the token itself."""
    distance = np.arange(n)[:, None] - np.arange(n)
    return (distance > 0) & (distance <= width)


def both_sides(n: int, width: int) -> Array:
    """Look into the future as well."""
    return np.abs(np.arange(n)[:, None] - np.arange(n)) < width


def causal_only(n: int, width: int) -> Array:
    """Forget the width."""
    return np.tri(n, dtype=bool)


def future_side(n: int, width: int) -> Array:
    """Look only into the future."""
    return my_window(n, width).T


window = FunctionExercise(
    "11-window",
    my_window,
    lambda rng: [(6, 3), (7, 2)],
    mistakes={
        "one-too-wide": one_too_wide,
        "without-itself": without_itself,
        "both-sides": both_sides,
        "causal-only": causal_only,
        "future-side": future_side,
    },
)

EXERCISES = [square, join, cache, grouped, turning, window]
