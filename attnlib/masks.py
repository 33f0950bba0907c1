"""Masks: who may attend to whom (chapter 08). True = may attend."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attnlib.checks import Array, as_count, as_whole_numbers


def causal_mask(n_queries: int, n_keys: int | None = None) -> Array:
    """Let each query see its own position and earlier ones, never later ones.

    With fewer queries than keys the *last* query lines up with the last key: the queries are the newest
    tokens of a longer text.

    Parameters
    ----------
    n_queries : number of queries
    n_keys : number of keys; as many as queries if not given

    Returns
    -------
    (n_queries, n_keys) of booleans

    Examples
    --------
    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    >>> causal_mask(2, 4).astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 1, 1]])
    """
    n_queries = as_count("causal_mask", "n_queries", n_queries)
    n_keys = n_queries if n_keys is None else as_count("causal_mask", "n_keys", n_keys)
    return np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)


def padding_mask(lengths: ArrayLike, n: int) -> Array:
    """Hide the padding: let every query see the first `length` keys only.

    Parameters
    ----------
    lengths : (...) whole numbers from 0 to n: how many of the n tokens of each sequence are real
    n : the padded length

    Returns
    -------
    (..., 1, n) of booleans. The 1 stands for the queries: all of them see the same keys.

    Examples
    --------
    >>> padding_mask([2, 3], 4).astype(int)
    array([[[1, 1, 0, 0]],
    <BLANKLINE>
           [[1, 1, 1, 0]]])
    """
    n = as_count("padding_mask", "n", n)
    counts = as_whole_numbers("padding_mask", "lengths", lengths, 0, n)
    return np.arange(n) < counts[..., None, None]
