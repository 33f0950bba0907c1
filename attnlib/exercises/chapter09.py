"""Exercises of chapter 09: learning to attend.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise, Property
from attnlib.gradients import cross_entropy, embedding_backward
from attnlib.softmax import softmax

Array = np.ndarray[Any, Any]

loss = NumberExercise(
    "09-loss",
    lambda: cross_entropy(np.zeros((1, 3)), np.array([0]))[0],
    within=0.01,
    mistakes={
        "probability": lambda: 1 / 3,
        "two": lambda: np.log2(3.0),
        "ten": lambda: np.log10(3.0),
        "no-minus": lambda: np.log(1 / 3),
    },
)


# --- backwards ----------------------------------------------------------------------------------------


def values_backward(weights, d_output):
    return weights.T @ d_output


def forwards_again(weights: Array, d_output: Array) -> Array:
    """Forget the transpose: the shapes fail."""
    return weights @ d_output


def only_the_sum(weights: Array, d_output: Array) -> Array:
    """Give every value the same."""
    return np.ones_like(weights).T @ d_output


def transposed_result(weights: Array, d_output: Array) -> Array:
    """Give the transpose."""
    return d_output.T @ weights


values = FunctionExercise(
    "09-values",
    values_backward,
    lambda rng: [
        (softmax(rng.normal(size=(4, 5))), rng.normal(size=(4, 3))),
        (softmax(rng.normal(size=(2, 6))), rng.normal(size=(2, 7))),
    ],
    mistakes={"no-transpose": forwards_again, "no-weights": only_the_sum, "transposed": transposed_result},
)


def softmax_back(weights, d_weights):
    mean = (weights * d_weights).sum(axis=-1, keepdims=True)
    return weights * (d_weights - mean)


def only_own(weights: Array, d_weights: Array) -> Array:
    """Forget that one key's gain is the others' loss."""
    return weights * d_weights


def plain_mean(weights: Array, d_weights: Array) -> Array:
    """Subtract the plain mean of the row."""
    return weights * (d_weights - d_weights.mean(axis=-1, keepdims=True))


def over_queries(weights: Array, d_weights: Array) -> Array:
    """Sum over the queries."""
    return weights * (d_weights - (weights * d_weights).sum(axis=0, keepdims=True))


def no_weight_in_front(weights: Array, d_weights: Array) -> Array:
    """Forget the weight in front."""
    return d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)


def each_alone(weights: Array, d_weights: Array) -> Array:
    """Use w (1 - w) for each weight alone."""
    return weights * (1 - weights) * d_weights


def back_case(rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    """Give weights and a gradient by them."""
    return softmax(rng.normal(size=(n, m))), rng.normal(size=(n, m))


softmax_exercise = FunctionExercise(
    "09-softmax",
    softmax_back,
    lambda rng: [back_case(rng, 3, 5), back_case(rng, 4, 6)],
    mistakes={
        "only-own": only_own,
        "plain-mean": plain_mean,
        "over-queries": over_queries,
        "no-weight-in-front": no_weight_in_front,
        "each-alone": each_alone,
    },
    properties=[
        Property("rows-sum-to-zero", lambda result, *_: bool(np.allclose(result.sum(axis=-1), 0, atol=1e-4)))
    ],
)


# --- AdamW --------------------------------------------------------------------------------------------


def first_step(p, g, rate, decay):
    m = 0.1 * g
    v = 0.001 * g * g
    m_hat = m / (1 - 0.9)
    v_hat = v / (1 - 0.999)
    return p - rate * (m_hat / (np.sqrt(v_hat) + 1e-8) + decay * p)


def no_correction(p: Array, g: Array, rate: float, decay: float) -> Array:
    """Forget that early means are too small."""
    return p - rate * (0.1 * g / (np.sqrt(0.001 * g * g) + 1e-8) + decay * p)


def uphill(p: Array, g: Array, rate: float, decay: float) -> Array:
    """Add in the place of subtracting."""
    return p + rate * (g / (np.abs(g) + 1e-8) + decay * p)


def no_decay(p: Array, g: Array, rate: float, decay: float) -> Array:
    """Forget the decay."""
    return p - rate * (g / (np.abs(g) + 1e-8))


def no_root(p: Array, g: Array, rate: float, decay: float) -> Array:
    """Divide by the square."""
    return p - rate * (g / (g * g + 1e-8) + decay * p)


def plain_gradient(p: Array, g: Array, rate: float, decay: float) -> Array:
    """Take the plainest step."""
    return p - rate * (g + decay * p)


def decay_inside(p: Array, g: Array, rate: float, decay: float) -> Array:
    """Add the decay to the gradient: then the root divides it away."""
    inside = g + decay * p
    return p - rate * inside / (np.abs(inside) + 1e-8)


def decay_unrated(p: Array, g: Array, rate: float, decay: float) -> Array:
    """Forget that the rate also belongs to the decay."""
    return p - rate * (g / (np.abs(g) + 1e-8)) - decay * p


def plainest(p: Array, g: Array, rate: float, decay: float) -> Array:
    """Take the plainest step, without decay."""
    return p - rate * g


adamw = FunctionExercise(
    "09-adamw",
    first_step,
    lambda rng: [
        (rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), 0.1, 0.2),
        (rng.normal(size=5), 3 * rng.normal(size=5), 0.03, 0.5),
        (rng.normal(size=6), np.array([0.0, 1e-8, -3e-8, 1e-7, 0.0, -2e-8]), 0.2, 0.1),  # here the 1e-8 counts
    ],
    mistakes={
        "no-correction": no_correction,
        "uphill": uphill,
        "no-decay": no_decay,
        "no-root": no_root,
        "plain-gradient": plain_gradient,
        "decay-inside": decay_inside,
        "decay-unrated": decay_unrated,
        "plainest": plainest,
    },
)


def gradient_of_an_unseen_word() -> str:
    """Try it: a table of four words, of which the last occurs nowhere."""
    d_table = embedding_backward(np.array([0, 1, 2, 0]), np.random.default_rng(0).normal(size=(4, 3)), 4)
    same_as_others = {
        "a": np.allclose(d_table[3], d_table[:3].mean(axis=0)),
        "b": not d_table[3].any(),
        "c": np.allclose(d_table[3], d_table[0]),
    }
    return next(letter for letter, true in same_as_others.items() if true)


unseen = ChoiceExercise("09-unseen", "abcd", gradient_of_an_unseen_word)

EXERCISES = [loss, values, softmax_exercise, adamw, unseen]
