"""Exercises of chapter 06: self-attention, whole, and the audit.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.attention import attention
from attnlib.examples import bae
from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise, Property
from attnlib.softmax import softmax

Array = np.ndarray[Any, Any]


# --- weighted sums ------------------------------------------------------------------------------------


def out_of_reach() -> str:
    """Find the number that lies outside the values 1 to 100."""
    values = {"a": 1.5, "b": 55.0, "c": 101.0, "d": 99.99}
    return "".join(letter for letter, number in values.items() if not 1 <= number <= 100)


hull = ChoiceExercise("06-hull", "abcd", out_of_reach)


def weighted_sum(weights, V):
    return weights @ V


def queries_mixed(weights: Array, V: Array) -> Array:
    """Sum over the queries: needs as many of them as keys, so the shapes fail."""
    return weights.T @ V


def plain_mean(weights: Array, V: Array) -> Array:
    """Ignore the weights."""
    return np.ones_like(weights) / weights.shape[1] @ V


def plain_sum(weights: Array, V: Array) -> Array:
    """Add all values."""
    return np.ones_like(weights) @ V


def copy_of_best(weights: Array, V: Array) -> Array:
    """Copy the value with the largest weight."""
    return V[weights.argmax(axis=1)]


def fresh_weights(rng: np.random.Generator, *shape: int) -> Array:
    """Give rows of weights, no two alike."""
    return softmax(rng.normal(size=shape))


sum_exercise = FunctionExercise(
    "06-weighted-sum",
    weighted_sum,
    lambda rng: [
        (fresh_weights(rng, 4, 5), rng.normal(size=(5, 3))),
        (fresh_weights(rng, 2, 6), rng.normal(size=(6, 7))),
    ],
    mistakes={
        "order": queries_mixed,
        "plain-mean": plain_mean,
        "plain-sum": plain_sum,
        "copy-of-best": copy_of_best,
    },
)


# --- attention ----------------------------------------------------------------------------------------


def my_attention(Q, K, V):
    scaled = Q @ K.T / np.sqrt(Q.shape[-1])
    weights = softmax(scaled)
    return weights @ V


def misplaced_bracket(Q: Array, K: Array, V: Array) -> Array:
    """Apply softmax to the output."""
    return softmax(Q @ K.T / np.sqrt(Q.shape[-1]) @ V)


def not_scaled(Q: Array, K: Array, V: Array) -> Array:
    """Forget the root."""
    return softmax(Q @ K.T) @ V


def no_root(Q: Array, K: Array, V: Array) -> Array:
    """Divide by d_k."""
    return softmax(Q @ K.T / Q.shape[-1]) @ V


def wrong_axis(Q: Array, K: Array, V: Array) -> Array:
    """Normalise over the queries."""
    return softmax(Q @ K.T / np.sqrt(Q.shape[-1]), axis=0) @ V


def no_softmax(Q: Array, K: Array, V: Array) -> Array:
    """Use the scaled scores as weights."""
    return Q @ K.T / np.sqrt(Q.shape[-1]) @ V


def only_weights(Q: Array, K: Array, V: Array) -> Array:
    """Stop before V."""
    return softmax(Q @ K.T / np.sqrt(Q.shape[-1]))


def scaled_after(Q: Array, K: Array, V: Array) -> Array:
    """Divide the weights in the place of the scores."""
    return softmax(Q @ K.T) / np.sqrt(Q.shape[-1]) @ V


def root_of_keys(Q: Array, K: Array, V: Array) -> Array:
    """Take the number of keys for d_k."""
    return softmax(Q @ K.T / np.sqrt(len(K))) @ V


def inside_values(result: Array, Q: Array, K: Array, V: Array) -> bool:
    """Tell whether every column of the output lies between the smallest and the largest value."""
    return bool((result <= V.max(axis=0) + 1e-4).all() and (result >= V.min(axis=0) - 1e-4).all())


def attention_case(rng: np.random.Generator, n: int, m: int, d_k: int, d_v: int) -> tuple[Array, Array, Array]:
    """Give Q (n, d_k), K (m, d_k) and V (m, d_v)."""
    return rng.normal(size=(n, d_k)), rng.normal(size=(m, d_k)), rng.normal(size=(m, d_v))


attention_exercise = FunctionExercise(
    "06-attention",
    my_attention,
    lambda rng: [attention_case(rng, 4, 5, 3, 2), attention_case(rng, 2, 7, 6, 3)],
    mistakes={
        "misplaced-bracket": misplaced_bracket,
        "not-scaled": not_scaled,
        "no-root": no_root,
        "wrong-axis": wrong_axis,
        "no-softmax": no_softmax,
        "only-weights": only_weights,
        "scaled-after": scaled_after,
        "root-of-keys": root_of_keys,
    },
    properties=[Property("inside-values", inside_values)],
)


# --- the audit ----------------------------------------------------------------------------------------

first_cell = NumberExercise(
    "06-first-cell",
    lambda: (bae.X @ bae.W_Q)[0, 0],
    within=0.004,
    mistakes={
        "as-printed": lambda: bae.printed["Q"][0, 0],
        "row-of-W": lambda: bae.X[0] @ bae.W_Q[0],
        "not-added": lambda: bae.X[0, 0] * bae.W_Q[0, 0],
        "divided": lambda: (bae.X @ bae.W_Q)[0, 0] / 2,
    },
)


def count_errors(ours, printed, digits):
    room = 0.5 * 10.0**-digits + 1e-6
    return np.sum(np.abs(ours - printed) > room)


def any_difference(ours: Array, printed: Array, digits: int) -> Any:
    """Count rounding as an error."""
    return np.sum(ours != printed)


def no_absolute(ours: Array, printed: Array, digits: int) -> Any:
    """See only the cells that are too low."""
    return np.sum(ours - printed > 0.5 * 10.0**-digits + 1e-6)


def whole_unit(ours: Array, printed: Array, digits: int) -> Any:
    """Allow a whole unit of the last digit."""
    return np.sum(np.abs(ours - printed) > 10.0**-digits + 1e-6)


def right_ones(ours: Array, printed: Array, digits: int) -> Any:
    """Count the cells that are right."""
    return np.sum(np.abs(ours - printed) <= 0.5 * 10.0**-digits + 1e-6)


def as_a_share(ours: Array, printed: Array, digits: int) -> Any:
    """Give a share."""
    return np.mean(np.abs(ours - printed) > 0.5 * 10.0**-digits + 1e-6)


def audit_case(rng: np.random.Generator, shape: tuple[int, int], digits: int) -> tuple[Array, Array, int]:
    """Give numbers and their printed form: rounded, off by half a unit or less, or by more, a little or a lot."""
    ours = rng.normal(size=shape)
    units = rng.permutation(np.resize([0, 0.45, 0.5, 0.56, 0.502, 3, -0.8, -0.56, -0.502, -4], ours.size)).reshape(
        shape
    )
    return ours, np.where(units == 0, ours.round(digits), ours + units * 10.0**-digits), digits


def fixed_room(ours: Array, printed: Array, digits: int) -> Any:
    """Allow 0.005 whatever the digits."""
    return np.sum(np.abs(ours - printed) > 0.005 + 1e-6)


count = FunctionExercise(
    "06-count",
    count_errors,
    lambda rng: [audit_case(rng, (8, 5), 2), audit_case(rng, (6, 7), 3)],
    mistakes={
        "any-difference": any_difference,
        "no-absolute": no_absolute,
        "whole-unit": whole_unit,
        "right-ones": right_ones,
        "share": as_a_share,
        "fixed-room": fixed_room,
    },
)


def most_attended() -> str:
    """Recompute the example from the start."""
    weights = attention(bae.X @ bae.W_Q, bae.X @ bae.W_K, bae.X @ bae.W_V).weights
    return bae.tokens[int(weights[bae.tokens.index("배")].argmax())]


verdict = ChoiceExercise("06-verdict", bae.tokens, most_attended)

EXERCISES = [hull, sum_exercise, attention_exercise, first_cell, count, verdict]
