"""Exercises of chapter 03: dot product and cosine.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.examples import write_a_poem
from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise, Property
from attnlib.similarity import cosine_similarity, dot_products

Array = np.ndarray[Any, Any]

PRODUCTS = write_a_poem.printed["query_write"] * write_a_poem.printed["key_write"]

by_hand = NumberExercise(
    "03-by-hand",
    lambda: PRODUCTS.sum(),
    within=0.004,
    mistakes={
        "no-signs": lambda: np.abs(PRODUCTS).sum(),
        "minus-for-plus": lambda: PRODUCTS[0] - PRODUCTS[1],
        "only-first": lambda: PRODUCTS[0],
        "sign-lost": lambda: -PRODUCTS.sum(),
    },
)


# --- cosine -------------------------------------------------------------------------------------------


def cosine_of(a, b):
    return (a @ b) / (np.sqrt(a @ a) * np.sqrt(b @ b))


def dot_only(a: Array, b: Array) -> Any:
    """Forget the lengths."""
    return a @ b


def one_length(a: Array, b: Array) -> Any:
    """Divide by the length of a alone."""
    return a @ b / np.sqrt(a @ a)


def other_length(a: Array, b: Array) -> Any:
    """Divide by the length of b alone."""
    return a @ b / np.sqrt(b @ b)


def squared_lengths(a: Array, b: Array) -> Any:
    """Forget the roots."""
    return a @ b / ((a @ a) * (b @ b))


def lengths_added(a: Array, b: Array) -> Any:
    """Divide by the sum of the lengths."""
    return a @ b / (np.sqrt(a @ a) + np.sqrt(b @ b))


def angle(a: Array, b: Array) -> Any:
    """Give the angle itself."""
    return np.arccos(cosine_of(a, b))


cosine = FunctionExercise(
    "03-cosine",
    cosine_of,
    lambda rng: [(rng.normal(size=4), 3 * rng.normal(size=4)), (2 * rng.normal(size=7), rng.normal(size=7))],
    mistakes={
        "dot-only": dot_only,
        "one-length": one_length,
        "other-length": other_length,
        "squared-lengths": squared_lengths,
        "lengths-added": lengths_added,
        "angle": angle,
    },
    properties=[Property("at-most-one", lambda result, *_: bool(np.abs(result) <= 1 + 1e-6))],
)


# --- the flip -----------------------------------------------------------------------------------------

Q_FLIP, ALIKE, LONG = np.array([1.0, 2.0]), np.array([0.6, 1.1]), np.array([4.0, 0.3])

factor = NumberExercise(
    "03-factor",
    lambda: (Q_FLIP @ ALIKE) / (Q_FLIP @ LONG),
    within=0.006,
    mistakes={
        "upside-down": lambda: (Q_FLIP @ LONG) / (Q_FLIP @ ALIKE),
        "difference": lambda: Q_FLIP @ LONG - Q_FLIP @ ALIKE,
        "lengths": lambda: float(np.linalg.norm(ALIKE) / np.linalg.norm(LONG)),
    },
)


def true_claim() -> str:
    """Test each claim on keys of different and of equal length, and give the one that holds."""
    rng = np.random.default_rng(0)
    query, keys = rng.normal(size=(1, 3)), rng.normal(size=(200, 3)) * rng.uniform(0.1, 5, size=(200, 1))
    equal = keys / np.linalg.norm(keys, axis=1, keepdims=True)
    dots, cosines = dot_products(query, keys)[0], cosine_similarity(query, keys)[0]
    holds = {
        "a": np.allclose(dots, dot_products(query, 2 * keys)[0]),
        "b": np.allclose(dots / cosines, (dots / cosines)[0]),
        "c": np.array_equal(dot_products(query, equal)[0].argsort(), cosine_similarity(query, equal)[0].argsort()),
        "d": dot_products(query, equal)[0].argmax() != cosine_similarity(query, equal)[0].argmax(),
    }
    return "".join(letter for letter, true in holds.items() if true)


claim = ChoiceExercise("03-claim", "abcd", true_claim)


# --- all pairs ----------------------------------------------------------------------------------------


def all_scores(Q, K):
    return Q @ K.T


def no_transpose(Q: Array, K: Array) -> Array:
    """Forget the transpose."""
    return Q @ K


def keys_in_rows(Q: Array, K: Array) -> Array:
    """Put queries in columns."""
    return K @ Q.T


def cosines(Q: Array, K: Array) -> Array:
    """Divide by the lengths."""
    return cosine_similarity(Q, K)


def already_scaled(Q: Array, K: Array) -> Array:
    """Scale already."""
    return Q @ K.T / np.sqrt(Q.shape[1])


pairs = FunctionExercise(
    "03-all-pairs",
    all_scores,
    lambda rng: [
        (rng.normal(size=(4, 3)), rng.normal(size=(5, 3))),
        (rng.normal(size=(2, 6)), rng.normal(size=(7, 6))),
    ],
    mistakes={
        "no-transpose": no_transpose,
        "keys-in-rows": keys_in_rows,
        "cosines": cosines,
        "already-scaled": already_scaled,
    },
)

EXERCISES = [by_hand, cosine, factor, claim, pairs]
