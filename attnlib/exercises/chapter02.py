"""Exercises of chapter 02: queries, keys, values.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise
from attnlib.softmax import softmax

Array = np.ndarray[Any, Any]


# --- a soft lookup ------------------------------------------------------------------------------------


def soft_lookup(query, keys, values):
    weights = softmax(keys @ query)
    return weights @ values


def hard_lookup(query: Array, keys: Array, values: Array) -> Array:
    """Take only the best match."""
    return values[(keys @ query).argmax()]


def no_softmax(query: Array, keys: Array, values: Array) -> Array:
    """Use the scores as weights."""
    return (keys @ query) @ values


def plain_mean(query: Array, keys: Array, values: Array) -> Array:
    """Ask nothing."""
    return values.mean(axis=0)


def keys_mixed(query: Array, keys: Array, values: Array) -> Array:
    """Mix the keys in the place of the values."""
    return softmax(keys @ query) @ keys


def plain_shares(query: Array, keys: Array, values: Array) -> Array:
    """Divide the scores by their sum."""
    scores = keys @ query
    return scores / scores.sum() @ values


def scaled_lookup(query: Array, keys: Array, values: Array) -> Array:
    """Scale already."""
    return softmax(keys @ query / np.sqrt(len(query))) @ values


soft = FunctionExercise(
    "02-soft-lookup",
    soft_lookup,
    lambda rng: [
        (rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=(5, 4))),
        (rng.normal(size=6), rng.normal(size=(4, 6)) / 2, rng.normal(size=(4, 7))),
    ],
    mistakes={
        "hard": hard_lookup,
        "no-softmax": no_softmax,
        "plain-mean": plain_mean,
        "keys-mixed": keys_mixed,
        "plain-shares": plain_shares,
        "already-scaled": scaled_lookup,
    },
)


def shape_that_fits() -> str:
    """Try all four shapes for W_Q, and see with which X W_Q has 10 rows of d_k = 16 numbers."""
    X = np.zeros((10, 64))
    options = zip("abcd", ((10, 16), (64, 16), (16, 64), (10, 10)), strict=True)
    return next(
        letter for letter, shape in options if X.shape[1] == shape[0] and (X @ np.zeros(shape)).shape == (10, 16)
    )


shapes = ChoiceExercise("02-shapes", "abcd", shape_that_fits)


def who_attends() -> str:
    """Look for the row and the column of the largest score in "fluffy creature"."""
    queries, keys = np.array([[0.0], [2.0]]), np.array([[2.0], [0.0]])  # the noun asks, the adjective answers
    row, column = np.unravel_index((queries @ keys.T).argmax(), (2, 2))
    return {(1, 0): "b", (0, 1): "a"}[int(row), int(column)]


who = ChoiceExercise("02-who", "abcd", who_attends)


# --- one score ----------------------------------------------------------------------------------------


def score(X, W_Q, W_K, i, j):
    query = X[i] @ W_Q
    key = X[j] @ W_K
    return query @ key


def roles_swapped(X: Array, W_Q: Array, W_K: Array, i: int, j: int) -> float:
    """Let j ask and i answer."""
    return score(X, W_Q, W_K, j, i)


def not_projected(X: Array, W_Q: Array, W_K: Array, i: int, j: int) -> float:
    """Compare the rows of X themselves."""
    return X[i] @ X[j]


def queries_for_both(X: Array, W_Q: Array, W_K: Array, i: int, j: int) -> float:
    """Use W_Q for both."""
    return score(X, W_Q, W_Q, i, j)


def keys_for_both(X: Array, W_Q: Array, W_K: Array, i: int, j: int) -> float:
    """Use W_K for both."""
    return score(X, W_K, W_K, i, j)


def whole_matrix(X: Array, W_Q: Array, W_K: Array, i: int, j: int) -> Array:
    """Give all scores."""
    return (X @ W_Q) @ (X @ W_K).T


def not_added(X: Array, W_Q: Array, W_K: Array, i: int, j: int) -> Array:
    """Multiply number by number and stop."""
    return (X[i] @ W_Q) * (X[j] @ W_K)


def scaled_score(X: Array, W_Q: Array, W_K: Array, i: int, j: int) -> float:
    """Scale already."""
    return score(X, W_Q, W_K, i, j) / np.sqrt(W_Q.shape[1])


score_exercise = FunctionExercise(
    "02-score",
    score,
    lambda rng: [
        (rng.normal(size=(4, 6)), rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), 3, 1),
        (rng.normal(size=(5, 3)), rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), 0, 4),
    ],
    mistakes={
        "roles-swapped": roles_swapped,
        "not-projected": not_projected,
        "one-matrix-Q": queries_for_both,
        "one-matrix-K": keys_for_both,
        "whole-matrix": whole_matrix,
        "not-added": not_added,
        "already-scaled": scaled_score,
    },
)


# --- conventions, symmetry ----------------------------------------------------------------------------


def product_that_fits() -> str:
    """Try all four products, and see which gives the queries of the tokens, in columns."""
    rng = np.random.default_rng(0)
    E, W = rng.normal(size=(5, 4)), rng.normal(size=(5, 2))  # (e, n), (e, q)
    wanted = np.stack([W.T @ E[:, token] for token in range(4)], axis=1)  # (q, n)
    options = (("a", W, E), ("b", W.T, E), ("c", E, W), ("d", E.T, W.T))
    fitting = [(letter, left @ right) for letter, left, right in options if left.shape[1] == right.shape[0]]
    return next(letter for letter, product in fitting if np.allclose(product, wanted))


mixed = ChoiceExercise("02-mixed", "abcd", product_that_fits)

CREATURE = np.array([1.5, -2.0])

symmetric = NumberExercise(
    "02-symmetric",
    lambda: float(CREATURE @ CREATURE),
    within=0.01,
    mistakes={
        "sign-kept": lambda: float(CREATURE[0] ** 2 - CREATURE[1] ** 2),
        "length": lambda: float(np.linalg.norm(CREATURE)),
        "sum": lambda: float(CREATURE.sum()),
    },
)

EXERCISES = [soft, shapes, who, score_exercise, mixed, symmetric]
