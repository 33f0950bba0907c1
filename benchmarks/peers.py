"""What the course's code is measured against: the formula as tutorials write it, and torch if it is there."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attnlib.checks import Array
from attnlib.threads import blas_threads

TORCH = Path(__file__).resolve().parents[1] / ".torch"  # `make bench ARGS=--torch` fills it
NO_TORCH = "torch is not here, so that its lines are left out: `make bench ARGS=--torch` fetches it once."


def tutorial_attention(Q: Array, K: Array, V: Array, causal: bool = False) -> Array:
    """Compute attention as tutorials write it; np.sqrt quietly turns its float32 into float64.

    >>> tutorial_attention(np.ones((1, 2, 4)), np.ones((1, 3, 4)), np.ones((1, 3, 5))).shape
    (1, 2, 5)
    """
    d_k = Q.shape[-1]
    scores = np.matmul(Q, K.transpose(0, 2, 1)) / np.sqrt(d_k)
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:])) == 0, -1e9, scores)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return np.matmul(weights, V)


def draw(*shape: int, dtype: type = np.float32) -> tuple[Array, Array, Array]:
    """Draw Q, K and V of one shape.

    >>> draw(2, 3)[0].shape
    (2, 3)
    """
    rng = np.random.default_rng(0)
    Q, K, V = (rng.normal(size=shape).astype(dtype) for _ in range(3))
    return Q, K, V


@cache
def torch() -> Any:
    """Give the module torch, on as many threads as NumPy's BLAS, or None if it is not here."""
    if str(TORCH) not in sys.path:
        sys.path.append(str(TORCH))  # last: the course's own packages come first
    try:
        module = importlib.import_module("torch")
    except ImportError:
        return None
    module.set_num_threads(blas_threads())
    return module


def require_equal(what: str, ours: Array, theirs: Array, tolerance: float) -> None:
    """Refuse to time two things that do not compute the same.

    >>> require_equal("demo", np.ones(2), np.ones(2), 0.1)
    """
    difference = float(np.abs(ours - theirs).max())
    if not difference <= tolerance:
        raise ValueError(f"{what}: the peers differ by {difference:.1e}; expected at most {tolerance:.0e}")
