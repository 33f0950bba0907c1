"""Exercises of chapter 12: inside a real model. None of them needs the model itself.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise

Array = np.ndarray[Any, Any]

table = NumberExercise(
    "12-table",
    lambda: 30522 * 384 / 1e6,
    within=0.06,
    mistakes={
        "thousands": lambda: 30522 * 384 / 1e3,
        "all": lambda: 30522 * 384,
        "rows": lambda: 30522 / 1e6 * 1e3,
        "rounded": lambda: 12.0,
    },
)


def strongest_head(weights, query, key):
    found = weights[:, :, query, key]
    return np.unravel_index(found.argmax(), found.shape)


def roles_swapped(weights: Array, query: int, key: int) -> Any:
    """Look from the key to the query."""
    return strongest_head(weights, key, query)


def counted_through(weights: Array, query: int, key: int) -> Any:
    """Give one number that counts through all heads."""
    return weights[:, :, query, key].argmax()


def any_key(weights: Array, query: int, key: int) -> Any:
    """Take the head with the largest weight of the query, on whatever key."""
    found = weights[:, :, query].max(axis=-1)
    return np.unravel_index(found.argmax(), found.shape)


def weakest(weights: Array, query: int, key: int) -> Any:
    """Find the smallest weight."""
    return strongest_head(-weights, query, key)


def head_then_layer(weights: Array, query: int, key: int) -> Any:
    """Swap layer and head."""
    return strongest_head(weights, query, key)[::-1]


def counted_from_one(weights: Array, query: int, key: int) -> Any:
    """Count layers and heads from 1."""
    return np.array(strongest_head(weights, query, key)) + 1


def heads_case(rng: np.random.Generator, *sizes: int) -> tuple[Any, ...]:
    """Give weights (layers, heads, queries, keys), and the places of a query and a key."""
    raised = np.exp(rng.normal(size=sizes))
    return raised / raised.sum(axis=-1, keepdims=True), 3, 1


strongest = FunctionExercise(
    "12-strongest",
    strongest_head,
    lambda rng: [heads_case(rng, 3, 4, 7, 6), heads_case(rng, 5, 2, 4, 6), heads_case(rng, 2, 7, 5, 4)],
    mistakes={
        "roles-swapped": roles_swapped,
        "counted-through": counted_through,
        "any-key": any_key,
        "weakest": weakest,
        "head-then-layer": head_then_layer,
        "from-one": counted_from_one,
    },
)

sink = ChoiceExercise("12-sink", "abcd", lambda: "b")
pairs = ChoiceExercise("12-pairs", "abc", lambda: "a")


def shape_of_one_head() -> str:
    """Divide the columns among the heads."""
    return {(14, 384): "a", (12, 32): "b", (14, 32): "c", (32, 14): "d"}[14, 384 // 12]


shapes = ChoiceExercise("12-shapes", "abcd", shape_of_one_head)

EXERCISES = [table, strongest, sink, pairs, shapes]
