"""Exercises of chapter 08: masks and cross-attention.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.attention import attention
from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, Property
from attnlib.softmax import softmax

Array = np.ndarray[Any, Any]


# --- the causal mask ----------------------------------------------------------------------------------


def my_causal_mask(n):
    return np.tri(n, dtype=bool)


def hides_itself(n: int) -> Array:
    """Leave out the diagonal."""
    return np.tri(n, k=-1, dtype=bool)


def sees_the_next(n: int) -> Array:
    """Let one future token in."""
    return np.tri(n, k=1, dtype=bool)


def inverted(n: int) -> Array:
    """Take True for hidden."""
    return ~np.tri(n, dtype=bool)


def future_only(n: int) -> Array:
    """Swap queries and keys."""
    return np.tri(n, dtype=bool).T


def only_itself(n: int) -> Array:
    """Let each token see only itself."""
    return np.eye(n, dtype=bool)


causal = FunctionExercise(
    "08-causal",
    my_causal_mask,
    lambda rng: [(4,), (7,)],
    mistakes={
        "hides-itself": hides_itself,
        "sees-the-next": sees_the_next,
        "inverted": inverted,
        "transposed": future_only,
        "only-itself": only_itself,
    },
)


def what_leaks() -> str:
    """Try it: mask after softmax, change the last score of the first row, and look at that row."""
    mask = np.tri(3, dtype=bool)
    scores = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, -0.6], [0.2, 0.1, 0.7]])
    changed = scores.copy()
    changed[:, 2] += 1
    before, after = softmax(scores)[0] * mask[0], softmax(changed)[0] * mask[0]
    visible, hidden = before[0] != after[0], (before[1:] != after[1:]).any()
    return {(False, False): "a", (True, True): "b", (True, False): "c"}[bool(visible), bool(hidden)]


leak = ChoiceExercise("08-after", "abcd", what_leaks)


def which_mask() -> str:
    """Try all four masks on equal scores, and see which gives the weights of the chapter."""
    mystery = np.array([[1 / 2, 1 / 2, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0], [1 / 4] * 4, [1 / 4] * 4])
    masks = {
        "right": my_causal_mask(4),
        "inverted": inverted(4),
        "one too few": hides_itself(4),
        "one too many": sees_the_next(4),
    }
    zeros = np.zeros((4, 2))
    return next(
        name for name, mask in masks.items() if np.allclose(attention(zeros, zeros, zeros, mask).weights, mystery)
    )


hunt = ChoiceExercise("08-hunt", ("right", "inverted", "one too few", "one too many"), which_mask)


# --- padding ------------------------------------------------------------------------------------------


def visible(lengths, n):
    return np.arange(n) < lengths[:, None]


def one_too_many(lengths: Array, n: int) -> Array:
    """Let the first padding token in."""
    return np.arange(n) <= lengths[:, None]


def one_too_few(lengths: Array, n: int) -> Array:
    """Hide the last real token."""
    return np.arange(n) < lengths[:, None] - 1


def padding_shown(lengths: Array, n: int) -> Array:
    """Take True for padding."""
    return np.arange(n) >= lengths[:, None]


def at_the_front(lengths: Array, n: int) -> Array:
    """Expect the padding in front."""
    return np.arange(n) >= n - lengths[:, None]


def tokens_in_rows(lengths: Array, n: int) -> Array:
    """Put the texts in columns."""
    return visible(lengths, n).T


padding = FunctionExercise(
    "08-padding",
    visible,
    lambda rng: [(np.array([2, 5, 3]), 6), (np.array([4, 1]), 7)],
    mistakes={
        "one-too-many": one_too_many,
        "one-too-few": one_too_few,
        "inverted": padding_shown,
        "at-the-front": at_the_front,
        "transposed": tokens_in_rows,
    },
)


# --- masked softmax -----------------------------------------------------------------------------------


def masked_weights(scaled, mask):
    hidden = np.where(mask, scaled, -np.inf)
    top = hidden.max(axis=-1, keepdims=True)
    raised = np.exp(hidden - np.where(np.isfinite(top), top, 0))
    total = raised.sum(axis=-1, keepdims=True)
    return raised / np.where(total > 0, total, 1)


def after_softmax(scaled: Array, mask: Array) -> Array:
    """Hide after softmax."""
    return softmax(scaled) * mask


def mask_inverted(scaled: Array, mask: Array) -> Array:
    """Hide what may be seen."""
    return masked_weights(scaled, ~mask)


def large_number(scaled: Array, mask: Array) -> Array:
    """Use -1e9: a row with nothing to see attends to everything."""
    return softmax(np.where(mask, scaled, -1e9))


def nan_row(scaled: Array, mask: Array) -> Array:
    """Divide 0 by 0 in a row with nothing to see."""
    hidden = np.where(mask, scaled, -np.inf)
    raised = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def scores_to_zero(scaled: Array, mask: Array) -> Array:
    """Multiply the scores by the mask: a score of 0 is not hidden, exp(0) is 1."""
    return softmax(scaled * mask)


def unmasked(scaled: Array, mask: Array) -> Array:
    """Forget the mask."""
    return softmax(scaled)


def masked_case(rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    """Give scores, and a mask in which the last query sees nothing and every other some keys."""
    mask = rng.random((n, m)) < 0.5
    mask[:, 0], mask[:, 1], mask[-1] = True, False, False
    return rng.normal(size=(n, m)), mask


masked = FunctionExercise(
    "08-masked",
    masked_weights,
    lambda rng: [masked_case(rng, 4, 6), masked_case(rng, 3, 5)],
    mistakes={
        "after-softmax": after_softmax,
        "inverted": mask_inverted,
        "large-number": large_number,
        "nan-row": nan_row,
        "scores-to-zero": scores_to_zero,
        "unmasked": unmasked,
    },
    properties=[
        Property("nothing-hidden-seen", lambda result, scaled, mask: bool((result[~mask] == 0).all())),
        Property(
            "rows-sum-to-one",
            lambda result, scaled, mask: bool(np.allclose(result.sum(axis=-1), mask.any(axis=-1), atol=1e-4)),
        ),
    ],
)


def shape_of_the_weights() -> str:
    """Try it."""
    weights = attention(np.zeros((5, 2)), np.zeros((9, 2)), np.zeros((9, 3))).weights
    return {(5, 5): "a", (9, 5): "b", (5, 9): "c", (9, 9): "d"}[weights.shape]


shapes = ChoiceExercise("08-shapes", "abcd", shape_of_the_weights)

EXERCISES = [causal, leak, hunt, padding, masked, shapes]
