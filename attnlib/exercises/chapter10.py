"""Exercises of chapter 10: the transformer block.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise, OrderExercise, Property
from attnlib.layers import layer_norm

Array = np.ndarray[Any, Any]


# --- layer norm ---------------------------------------------------------------------------------------


def my_norm(X):
    centred = X - X.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5)


def over_tokens(X: Array) -> Array:
    """Norm the columns."""
    return my_norm(X.T).T


def not_centred(X: Array) -> Array:
    """Forget the mean."""
    return X / np.sqrt(X.var(axis=-1, keepdims=True) + 1e-5)


def only_centred(X: Array) -> Array:
    """Forget the division."""
    return X - X.mean(axis=-1, keepdims=True)


def by_variance(X: Array) -> Array:
    """Forget the root."""
    centred = X - X.mean(axis=-1, keepdims=True)
    return centred / (X.var(axis=-1, keepdims=True) + 1e-5)


def over_everything(X: Array) -> Array:
    """Norm the whole matrix."""
    return (X - X.mean()) / np.sqrt(X.var() + 1e-5)


def sample_variance(X: Array) -> Array:
    """Divide by d - 1."""
    centred = X - X.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(X.var(axis=-1, ddof=1, keepdims=True) + 1e-5)


def no_small_number(X: Array) -> Array:
    """Forget the 1e-5."""
    return only_centred(X) / X.std(axis=-1, keepdims=True)


def added_to_root(X: Array) -> Array:
    """Add the 1e-5 after the root."""
    return only_centred(X) / (X.std(axis=-1, keepdims=True) + 1e-5)


norm = FunctionExercise(
    "10-norm",
    my_norm,
    lambda rng: [
        (3 * rng.normal(size=(4, 6)) + 1,),
        (rng.normal(size=(3, 5)) * np.array([[1.0], [0.01], [10.0]]),),  # the 1e-5 counts in the middle row
    ],
    mistakes={
        "over-tokens": over_tokens,
        "not-centred": not_centred,
        "only-centred": only_centred,
        "by-variance": by_variance,
        "over-everything": over_everything,
        "sample-variance": sample_variance,
        "no-small-number": no_small_number,
        "added-to-root": added_to_root,
    },
    properties=[Property("means-zero", lambda result, *_: bool(np.allclose(result.mean(axis=-1), 0, atol=1e-4)))],
)


def false_sentence() -> str:
    """Test the one that can be tested at once: change a token, and see whether the norm of another moves."""
    X = np.random.default_rng(0).normal(size=(3, 4))
    other = X.copy()
    other[2] += np.array([1.0, 0.0, 2.0, 0.0])
    ones, zeros = np.ones(4), np.zeros(4)
    mixes = not np.allclose(layer_norm(X, ones, zeros)[:2], layer_norm(other, ones, zeros)[:2])
    return "b" if not mixes else "a"


false = ChoiceExercise("10-false", "abcd", false_sentence)

reach = NumberExercise(
    "10-reach",
    lambda: 0.8**20,
    within=0.001,
    mistakes={
        "multiplied": lambda: 0.8 * 20,
        "one-step": lambda: 0.8,
        "lost": lambda: 1 - 0.8**20,
        "percent": lambda: 100 * 0.8**20,
    },
)


def target_at_cat() -> str:
    """Shift the text by one."""
    words = ["the", "cat", "sat", "on", "the"]
    following = dict(zip(range(4), words[1:], strict=True))
    return {"the": "a", "cat": "b", "sat": "c", "on": "d"}[following[1]]


target = ChoiceExercise("10-target", "abcd", target_at_cat)

order = OrderExercise(
    "10-order",
    "cbafde",
    mistakes={"post-norm": "bacdef", "no-first-add": "cbfdea", "feed-forward-first": "fdecba"},
)

EXERCISES = [norm, false, reach, target, order]
