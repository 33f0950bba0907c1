"""Exercises of chapter 01: embeddings and positions.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise, Property
from attnlib.positions import sinusoidal_positions

Array = np.ndarray[Any, Any]


# --- lookup and one-hot -------------------------------------------------------------------------------


def lookup(ids, table):
    return table[ids]


def off_by_one(ids: Array, table: Array) -> Array:
    """Count the rows from 1."""
    return table[ids - 1]


def columns(ids: Array, table: Array) -> Array:
    """Pick columns instead of rows."""
    return table[:, ids]


def summed(ids: Array, table: Array) -> Array:
    """Add the rows up."""
    return table[ids].sum(axis=0)


def first_rows(ids: Array, table: Array) -> Array:
    """Take the first n rows, whatever the ids say."""
    return table[: len(ids)]


def as_columns(ids: Array, table: Array) -> Array:
    """Put the tokens in columns."""
    return table[ids].T


lookup_exercise = FunctionExercise(
    "01-lookup",
    lookup,
    lambda rng: [
        (np.array([4, 0, 5, 4]), rng.normal(size=(6, 7))),
        (np.array([2, 7, 1, 1, 6]), rng.normal(size=(8, 9))),
    ],
    mistakes={
        "off-by-one": off_by_one,
        "columns": columns,
        "summed": summed,
        "first-rows": first_rows,
        "as-columns": as_columns,
    },
)


def shape_of_x() -> str:
    """Look 7 ids up in a table of 50 rows of 16 numbers."""
    X = np.zeros((50, 16))[np.zeros(7, int)]
    return {(50, 16): "a", (7, 50): "b", (7, 16): "c", (16, 7): "d"}[X.shape]


shape = ChoiceExercise("01-shape", "abcd", shape_of_x)


def one_hot_rows(ids, size):
    rows = np.zeros((len(ids), size))
    rows[np.arange(len(ids)), ids] = 1
    return rows


def one_hot_columns(ids: Array, size: int) -> Array:
    """Put the tokens in columns."""
    return one_hot_rows(ids, size).T


def one_hot_off_by_one(ids: Array, size: int) -> Array:
    """Count from 1."""
    return one_hot_rows(ids - 1, size)


def bag_of_words(ids: Array, size: int) -> Array:
    """Count the tokens: their order is gone."""
    return one_hot_rows(ids, size).sum(axis=0)


def every_row_all(ids: Array, size: int) -> Array:
    """Index with ids alone: every row gets a 1 for every token."""
    rows = np.zeros((len(ids), size))
    rows[:, ids] = 1
    return rows


one_hot_exercise = FunctionExercise(
    "01-one-hot",
    one_hot_rows,
    lambda rng: [(rng.permutation(7)[:4], 7), (np.array([3, 0, 3]), 5)],
    mistakes={
        "as-columns": one_hot_columns,
        "off-by-one": one_hot_off_by_one,
        "bag-of-words": bag_of_words,
        "every-row-all": every_row_all,
    },
    properties=[Property("single-one", lambda result, *_: bool((result.sum(axis=-1) == 1).all()))],
)


# --- order and positions ------------------------------------------------------------------------------


def what_order_does() -> str:
    """Try it: add up the rows in two orders."""
    rows = np.random.default_rng(0).normal(size=(3, 2))
    return "a" if np.allclose(rows.sum(axis=0), rows[::-1].sum(axis=0)) else "d"


order = ChoiceExercise("01-order", "abcd", what_order_does)


def positions(n, d_model):
    speed = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angle = np.arange(n)[:, None] * speed
    P = np.zeros((n, d_model))
    P[:, 0::2] = np.sin(angle)
    P[:, 1::2] = np.cos(angle)
    return P


def side_by_side(n: int, d_model: int) -> Array:
    """Put all sines before all cosines."""
    P = positions(n, d_model)
    return np.concatenate([P[:, 0::2], P[:, 1::2]], axis=1)


def cosine_first(n: int, d_model: int) -> Array:
    """Swap sines and cosines."""
    P = positions(n, d_model)
    return np.stack([P[:, 1::2], P[:, 0::2]], axis=-1).reshape(n, d_model)


def from_one(n: int, d_model: int) -> Array:
    """Count positions from 1."""
    return positions(n + 1, d_model)[1:]


def half_exponent(n: int, d_model: int) -> Array:
    """Use i in the place of 2i."""
    angle = np.arange(n)[:, None] * 10000.0 ** (-np.arange(d_model // 2) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d_model)


def one_speed_each(n: int, d_model: int) -> Array:
    """Give the sine and the cosine of a pair different speeds."""
    angle = np.arange(n)[:, None] * 10000.0 ** (-np.arange(d_model) / d_model)
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angle), np.cos(angle))


def upside_down(n: int, d_model: int) -> Array:
    """Multiply by the power in the place of dividing by it."""
    angle = np.arange(n)[:, None] * 10000.0 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d_model)


def twice_two(n: int, d_model: int) -> Array:
    """Double an i that already counts in twos."""
    angle = np.arange(n)[:, None] * 10000.0 ** (-2 * np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d_model)


def in_columns(n: int, d_model: int) -> Array:
    """Put the positions in columns."""
    return positions(n, d_model).T


positions_exercise = FunctionExercise(
    "01-positions",
    positions,
    lambda rng: [(7, 4), (5, 12), (3, 8)],
    mistakes={
        "side-by-side": side_by_side,
        "cosine-first": cosine_first,
        "from-one": from_one,
        "half-exponent": half_exponent,
        "one-speed-each": one_speed_each,
        "upside-down": upside_down,
        "twice-two": twice_two,
        "as-columns": in_columns,
    },
)


def product_with_itself() -> float:
    """Measure it."""
    P = sinusoidal_positions(3, 32)
    return float(P[2] @ P[2])


distance = NumberExercise(
    "01-distance",
    product_with_itself,
    within=0.01,
    mistakes={"no-pairs": lambda: 32.0, "one-pair": lambda: 1.0, "length": lambda: 4.0},
)

EXERCISES = [lookup_exercise, shape, one_hot_exercise, order, positions_exercise, distance]
