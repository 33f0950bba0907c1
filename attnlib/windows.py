"""Sliding windows: each query looks back only so far (chapter 11). True = may attend."""

from __future__ import annotations

import numpy as np

from attnlib.checks import Array, as_count


def window_mask(n_queries: int, n_keys: int | None = None, *, width: int) -> Array:
    """Let each query see its own position and the `width` − 1 before it.

    With fewer queries than keys the *last* query lines up with the last key, as in `causal_mask`.

    Parameters
    ----------
    n_queries : number of queries
    n_keys : number of keys; as many as queries if not given
    width : how many keys a query sees at most; n_keys or more gives the causal mask

    Returns
    -------
    (n_queries, n_keys) of booleans

    Examples
    --------
    >>> window_mask(4, width=2).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    >>> window_mask(2, 4, width=2).astype(int)
    array([[0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    n_queries = as_count("window_mask", "n_queries", n_queries)
    n_keys = n_queries if n_keys is None else as_count("window_mask", "n_keys", n_keys)
    width = as_count("window_mask", "width", width)
    query = np.arange(n_keys - n_queries, n_keys)[:, None]  # (n_queries, 1): where it stands among the keys
    key = np.arange(n_keys)  # (n_keys,)
    return (query - width < key) & (key <= query)  # (n_queries, n_keys)
