"""Exercises of chapter 04: scaling.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise
from attnlib.softmax import softmax, softmax_jacobian

Array = np.ndarray[Any, Any]

deviation = NumberExercise(
    "04-deviation",
    lambda: np.sqrt(64.0),
    within=0.05,
    mistakes={"variance": lambda: 64.0, "no-growth": lambda: 1.0, "inverse": lambda: 1 / 8},
)


# --- scaled scores ------------------------------------------------------------------------------------


def scaled_scores(Q, K):
    d_k = Q.shape[-1]
    return Q @ K.T / np.sqrt(d_k)


def not_scaled(Q: Array, K: Array) -> Array:
    """Forget to scale."""
    return Q @ K.T


def no_root(Q: Array, K: Array) -> Array:
    """Divide by d_k itself."""
    return Q @ K.T / Q.shape[-1]


def multiplied(Q: Array, K: Array) -> Array:
    """Multiply by the root."""
    return Q @ K.T * np.sqrt(Q.shape[-1])


def root_of_keys(Q: Array, K: Array) -> Array:
    """Take the number of keys for d_k."""
    return Q @ K.T / np.sqrt(len(K))


def root_of_queries(Q: Array, K: Array) -> Array:
    """Take the number of queries for d_k."""
    return Q @ K.T / np.sqrt(len(Q))


def keys_in_rows(Q: Array, K: Array) -> Array:
    """Put queries in columns."""
    return scaled_scores(K, Q)


scaled = FunctionExercise(
    "04-scaled",
    scaled_scores,
    lambda rng: [
        (rng.normal(size=(4, 3)), rng.normal(size=(5, 3))),
        (rng.normal(size=(2, 6)), rng.normal(size=(7, 6))),
    ],
    mistakes={
        "not-scaled": not_scaled,
        "no-root": no_root,
        "multiplied": multiplied,
        "root-of-keys": root_of_keys,
        "root-of-queries": root_of_queries,
        "keys-in-rows": keys_in_rows,
    },
)


# --- predictions and claims ---------------------------------------------------------------------------


def what_happens_to_the_jacobian() -> str:
    """Measure it: 16 random keys, d_k = 1024, scaled and not."""
    rng = np.random.default_rng(0)
    scores = (rng.normal(size=(200, 1, 1024)) @ rng.normal(size=(200, 1024, 16)))[:, 0]
    plain, divided = (
        np.linalg.norm(softmax_jacobian(softmax(s)), axis=(-2, -1)).mean() for s in (scores, scores / 32)
    )
    return "d" if plain == 0 else "c" if plain < divided / 3 else "b" if plain > divided * 3 else "a"


jacobian = ChoiceExercise("04-jacobian", "abcd", what_happens_to_the_jacobian)


def true_promise() -> str:
    """Test the four claims on random vectors."""
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(400, 64)), rng.normal(size=(300, 64))
    scores = Q @ K.T
    divided = scores / 8
    lengths = np.linalg.norm(Q, axis=1)[:, None] * np.linalg.norm(K, axis=1)
    holds = {
        "a": np.abs(divided).max() <= 1,
        "b": not np.array_equal(scores.argmax(axis=1), divided.argmax(axis=1)),
        "c": np.allclose(divided, scores / lengths),
        "d": abs(divided.std() - 1) < 0.05,
    }
    return "".join(letter for letter, true in holds.items() if true)


promise = ChoiceExercise("04-promise", "abcd", true_promise)


# --- which d ------------------------------------------------------------------------------------------


def scale_of(d_model, num_heads):
    return 1 / np.sqrt(d_model / num_heads)


def whole_model(d_model: int, num_heads: int) -> float:
    """Take d_model for d_k: the classic bug."""
    return 1 / np.sqrt(d_model)


def divisor(d_model: int, num_heads: int) -> float:
    """Give the divisor."""
    return np.sqrt(d_model / num_heads)


def without_root(d_model: int, num_heads: int) -> float:
    """Forget the root."""
    return num_heads / d_model


def root_of_heads(d_model: int, num_heads: int) -> float:
    """Take the number of heads for d_k."""
    return 1 / np.sqrt(num_heads)


def head_size(d_model: int, num_heads: int) -> float:
    """Give d_k itself."""
    return d_model / num_heads


scale = FunctionExercise(
    "04-scale",
    scale_of,
    lambda rng: [(512, 8), (384, 12), (60, 3)],
    mistakes={
        "whole-model": whole_model,
        "divisor": divisor,
        "without-root": without_root,
        "root-of-heads": root_of_heads,
        "head-size": head_size,
    },
)

EXERCISES = [deviation, scaled, jacobian, promise, scale]
