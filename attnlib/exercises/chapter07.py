"""Exercises of chapter 07: multi-head attention.

Each reference answer is followed by the mistakes that its check knows by name. References carry neither types nor
docstrings: `answer(id)` shows them to the learner as they are.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.attention import attention
from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise
from attnlib.heads import MultiHeadAttention, merge_heads, split_heads

Array = np.ndarray[Any, Any]


# --- merge --------------------------------------------------------------------------------------------


def merge(H):
    num_heads, n, d = H.shape
    return H.transpose(1, 0, 2).reshape(n, num_heads * d)


def bare_merge(H: Array) -> Array:
    """Reshape without transposing."""
    return H.reshape(H.shape[1], -1)


def heads_added(H: Array) -> Array:
    """Add the heads up."""
    return H.sum(axis=0)


def heads_averaged(H: Array) -> Array:
    """Average the heads."""
    return H.mean(axis=0)


def under_each_other(H: Array) -> Array:
    """Put the heads under each other."""
    return H.reshape(-1, H.shape[2])


def columns_in_turn(H: Array) -> Array:
    """Let the heads' columns take turns."""
    return H.transpose(1, 2, 0).reshape(H.shape[1], -1)


merge_exercise = FunctionExercise(
    "07-merge",
    merge,
    lambda rng: [(rng.normal(size=(2, 5, 3)),), (rng.normal(size=(4, 3, 2)),)],
    mistakes={
        "bare-reshape": bare_merge,
        "added": heads_added,
        "averaged": heads_averaged,
        "under-each-other": under_each_other,
        "in-turn": columns_in_turn,
    },
)


# --- split --------------------------------------------------------------------------------------------


def split(Q, num_heads):
    n, width = Q.shape
    return Q.reshape(n, num_heads, width // num_heads).transpose(1, 0, 2)


def bare_split(X: Array, num_heads: int) -> Array:
    """Reshape without transposing."""
    return X.reshape(num_heads, len(X), -1)


def tokens_first(X: Array, num_heads: int) -> Array:
    """Leave the tokens in front."""
    return X.reshape(len(X), num_heads, -1)


def every_hth_column(X: Array, num_heads: int) -> Array:
    """Deal the columns out like cards."""
    return np.stack([X[:, h::num_heads] for h in range(num_heads)])


def last_axes_swapped(X: Array, num_heads: int) -> Array:
    """Transpose the wrong axes."""
    return X.reshape(len(X), num_heads, -1).transpose(1, 2, 0)


split_exercise = FunctionExercise(
    "07-split",
    split,
    lambda rng: [(rng.normal(size=(5, 6)), 2), (rng.normal(size=(3, 8)), 4)],
    mistakes={
        "bare-reshape": bare_split,
        "tokens-first": tokens_first,
        "every-hth": every_hth_column,
        "wrong-axes": last_axes_swapped,
    },
)


def token_in_the_second_head() -> str:
    """Tag the entries by token, reshape without transposing, and look at the first row of head 1."""
    tagged = 10 * np.arange(4)[:, None] + np.arange(6)
    (token,) = set((tagged.reshape(2, 4, 3)[1, 0] // 10).tolist())
    return str(token)


hunt = ChoiceExercise("07-hunt", "0123", token_in_the_second_head)


# --- the whole ----------------------------------------------------------------------------------------


def multi_head(X, W_Q, W_K, W_V, W_O, num_heads):
    Q = split_heads(X @ W_Q, num_heads)
    K = split_heads(X @ W_K, num_heads)
    V = split_heads(X @ W_V, num_heads)
    return merge_heads(attention(Q, K, V).output) @ W_O


def projections(X: Array, W_Q: Array, W_K: Array, W_V: Array, num_heads: int) -> list[Array]:
    """Give Q, K and V with heads in front."""
    return [split_heads(X @ W, num_heads) for W in (W_Q, W_K, W_V)]


def no_output_matrix(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int) -> Array:
    """Forget W_O."""
    return merge_heads(attention(*projections(X, W_Q, W_K, W_V, num_heads)).output)


def scale_of_the_model(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int) -> Array:
    """Divide by the root of d_model."""
    heads = attention(*projections(X, W_Q, W_K, W_V, num_heads), scale=1 / np.sqrt(X.shape[1]))
    return merge_heads(heads.output) @ W_O


def single_head(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int) -> Array:
    """Never split."""
    return attention(X @ W_Q, X @ W_K, X @ W_V).output @ W_O


def bare_reshapes(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int) -> Array:
    """Split by a bare reshape."""
    Q, K, V = (bare_split(X @ W, num_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(Q, K, V).output) @ W_O


def bare_end(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int) -> Array:
    """Merge by a bare reshape."""
    return bare_merge(attention(*projections(X, W_Q, W_K, W_V, num_heads)).output) @ W_O


def model_case(
    rng: np.random.Generator, n: int, d_model: int, num_heads: int, d_k: int, d_v: int
) -> tuple[Any, ...]:
    """Give X, four matrices of different widths, and the number of heads."""
    d_out = 2 * d_model + 1
    shapes = ((d_model, num_heads * d_k), (d_model, num_heads * d_k), (d_model, num_heads * d_v))
    W_Q, W_K, W_V = (rng.normal(size=shape) / np.sqrt(d_model) for shape in shapes)
    W_O = rng.normal(size=(num_heads * d_v, d_out))
    return rng.normal(size=(n, d_model)), W_Q, W_K, W_V, W_O, num_heads


whole = FunctionExercise(
    "07-multi-head",
    multi_head,
    lambda rng: [model_case(rng, 5, 6, 2, 4, 7), model_case(rng, 3, 12, 4, 5, 2)],
    mistakes={
        "no-output-matrix": no_output_matrix,
        "scale-of-the-model": scale_of_the_model,
        "single-head": single_head,
        "bare-reshape": bare_reshapes,
        "bare-end": bare_end,
    },
)


# --- counting, and what heads are not -----------------------------------------------------------------


def parameters() -> int:
    """Count them in a real model of that size."""
    mha = MultiHeadAttention.from_rng(np.random.default_rng(0), 64, 8)
    return int(sum(W.size for W in (mha.W_Q, mha.W_K, mha.W_V, mha.W_O)))


number = NumberExercise(
    "07-count",
    parameters,
    within=0.5,
    mistakes={
        "no-output-matrix": lambda: 3 * 64 * 64,
        "times-heads": lambda: 8 * 4 * 64 * 64,
        "one-head": lambda: 3 * 64 * 8 + 64 * 64,
        "one-matrix": lambda: 64 * 64,
    },
)


def true_of_heads() -> str:
    """Test the four sentences on a model with two heads."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 6))
    mha = MultiHeadAttention.from_rng(rng, 6, 2)
    W_Q, W_K, W_V = (
        np.concatenate([rng.normal(size=(6, 3)), W[:, 3:]], axis=1) for W in (mha.W_Q, mha.W_K, mha.W_V)
    )
    first_changed = MultiHeadAttention(W_Q, W_K, W_V, mha.W_O, num_heads=2)
    single = MultiHeadAttention.from_rng(rng, 6, 1)
    size = [sum(W.size for W in (m.W_Q, m.W_K, m.W_V, m.W_O)) for m in (single, mha)]
    independent = np.allclose(mha(X).weights[1], first_changed(X).weights[1])
    holds = {"a": not independent, "b": independent, "c": size[1] > size[0], "d": not (mha(X).weights > 0).all()}
    return "".join(letter for letter, true in holds.items() if true)


layers = ChoiceExercise("07-layers", "abcd", true_of_heads)

EXERCISES = [merge_exercise, split_exercise, hunt, whole, number, layers]
