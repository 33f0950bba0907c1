"""Exercises of chapter 05: softmax.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.examples import write_a_poem
from attnlib.exercises.kinds import (
    ChoiceExercise,
    FunctionExercise,
    NumberExercise,
    OrderExercise,
    Property,
)
from attnlib.softmax import softmax

Array = np.ndarray[Any, Any]


def scores_of_a() -> Array:
    """Give the scaled scores of the query "a" in "write a poem"."""
    Q, K = write_a_poem.X @ write_a_poem.W_Q, write_a_poem.X @ write_a_poem.W_K
    return (Q @ K.T / np.sqrt(2))[1]


by_hand = NumberExercise(
    "05-by-hand",
    lambda: softmax(scores_of_a())[1],
    within=0.006,
    mistakes={
        "not-divided": lambda: np.exp(scores_of_a())[1],
        "plain-share": lambda: scores_of_a()[1] / scores_of_a().sum(),
        "divided-by-count": lambda: np.exp(scores_of_a())[1] / 3,
        "other-key": lambda: softmax(scores_of_a())[0],
        "last-key": lambda: softmax(scores_of_a())[2],
    },
)


# --- softmax of every row -----------------------------------------------------------------------------


def softmax_rows(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    raised = np.exp(shifted)
    return raised / raised.sum(axis=-1, keepdims=True)


def wrong_axis(scores: Array) -> Array:
    """Normalise over the queries."""
    raised = np.exp(scores - scores.max(axis=0, keepdims=True))
    return raised / raised.sum(axis=0, keepdims=True)


def no_maximum(scores: Array) -> Array:
    """Let exp overflow."""
    raised = np.exp(scores)
    return raised / raised.sum(axis=-1, keepdims=True)


def over_everything(scores: Array) -> Array:
    """Let all entries share one single 1."""
    raised = np.exp(scores - scores.max())
    return raised / raised.sum()


def no_exp(scores: Array) -> Array:
    """Take plain shares."""
    return scores / scores.sum(axis=-1, keepdims=True)


def one_maximum(scores: Array) -> Array:
    """Subtract the maximum of the whole matrix: rows far below it vanish."""
    raised = np.exp(scores - scores.max())
    return raised / raised.sum(axis=-1, keepdims=True)


def no_keepdims(scores: Array) -> Array:
    """Divide by a row of sums instead of a column."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1)


def not_divided(scores: Array) -> Array:
    """Stop before the division."""
    return np.exp(scores - scores.max(axis=-1, keepdims=True))


def softmax_cases(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Give moderate scores, and rows far apart that overflow or vanish without their own maximum."""
    levels = np.array([[1000.0], [0.0], [-1000.0]])
    hidden = np.where(np.arange(5) == 3, -2000.0, 0.0)  # one key far below the others, as if masked
    loud = np.where(np.arange(5) == 2, 2000.0, 0.0)  # one key far above the others
    return [
        (rng.normal(size=(4, 7)),),
        (rng.normal(size=(2, 5)) + hidden,),
        (rng.normal(size=(3, 6)) + levels,),
        (rng.normal(size=(2, 5)) + loud,),
    ]


def rows_sum_to_one(result: Array, *_: Any) -> bool:
    """Tell whether each row of weights sums to 1."""
    return bool(np.allclose(result.sum(axis=-1), 1, atol=1e-4))


def no_negative(result: Array, *_: Any) -> bool:
    """Tell whether no weight is negative."""
    return bool((result >= 0).all())


rows = FunctionExercise(
    "05-softmax-rows",
    softmax_rows,
    softmax_cases,
    mistakes={
        "wrong-axis": wrong_axis,
        "no-maximum": no_maximum,
        "over-everything": over_everything,
        "no-exp": no_exp,
        "one-maximum": one_maximum,
        "no-keepdims": no_keepdims,
        "not-divided": not_divided,
    },
    properties=[Property("rows-sum-to-one", rows_sum_to_one), Property("no-negative", no_negative)],
)


# --- predictions, temperature, order ------------------------------------------------------------------


def what_a_shift_does() -> str:
    """Try it: add 100 to every score."""
    before, after = softmax(scores_of_a()), softmax(scores_of_a() + 100)
    return "b" if np.allclose(before, after) else "a"


shift = ChoiceExercise("05-shift", "abcd", what_a_shift_does)


def with_temperature(scores, T):
    return softmax(scores / T)


def multiplied(scores: Array, T: float) -> Array:
    """Multiply by T: hot and cold change places."""
    return softmax(scores * T)


def after_softmax(scores: Array, T: float) -> Array:
    """Divide the weights instead of the scores."""
    return softmax(scores) / T


def temperature_ignored(scores: Array, T: float) -> Array:
    """Forget T."""
    return softmax(scores)


def root_of_temperature(scores: Array, T: float) -> Array:
    """Divide by the root of T, as if it were d_k."""
    return softmax(scores / np.sqrt(T))


def over_queries(scores: Array, T: float) -> Array:
    """Normalise over the queries."""
    return softmax(scores / T, axis=0)


temperature = FunctionExercise(
    "05-temperature",
    with_temperature,
    lambda rng: [(rng.normal(size=(3, 5)), 0.5), (rng.normal(size=(2, 4)), 3.0)],
    mistakes={
        "multiplied": multiplied,
        "after-softmax": after_softmax,
        "ignored": temperature_ignored,
        "root": root_of_temperature,
        "wrong-axis": over_queries,
    },
    properties=[Property("rows-sum-to-one", rows_sum_to_one)],
)

steps = OrderExercise(
    "05-steps",
    "bdac",
    mistakes={"exp-first": "dbac", "sum-before-exp": "badc", "divide-before-sum": "bdca"},
)


# --- the Jacobian, and a hunt -------------------------------------------------------------------------


def jacobian(w):
    return np.diag(w) - np.outer(w, w)


def no_diagonal(w: Array) -> Array:
    """Forget that a score also moves its own weight."""
    return -np.outer(w, w)


def only_diagonal(w: Array) -> Array:
    """Treat each weight as if it were alone."""
    return np.diag(w * (1 - w))


def opposite_sign(w: Array) -> Array:
    """Subtract the other way round."""
    return np.outer(w, w) - np.diag(w)


def inner_product(w: Array) -> Array:
    """Multiply w with itself to one number instead of a matrix."""
    return np.diag(w) - w @ w


jacobian_exercise = FunctionExercise(
    "05-jacobian",
    jacobian,
    lambda rng: [(softmax(rng.normal(size=4)),), (softmax(rng.normal(size=7)),)],
    mistakes={
        "no-diagonal": no_diagonal,
        "only-diagonal": only_diagonal,
        "opposite-sign": opposite_sign,
        "inner-product": inner_product,
    },
    properties=[
        Property("rows-sum-to-zero", lambda result, *_: bool(np.allclose(result.sum(axis=-1), 0, atol=1e-5)))
    ],
)

HUNT = ("raised = np.exp(scores)", "total = raised.sum(axis=0, keepdims=True)", "weights = raised / total")
MENDED = (HUNT[0], "total = raised.sum(axis=-1, keepdims=True)", HUNT[2])

hunt = ChoiceExercise(
    "05-hunt",
    "123",
    lambda: str(1 + next(i for i, (a, b) in enumerate(zip(HUNT, MENDED, strict=True)) if a != b)),
)

EXERCISES = [by_hand, hunt, shift, steps, rows, temperature, jacobian_exercise]
