"""Attention block by block: the same output, without the n × n matrix (chapter 11)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from threading import local
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlib.attention import as_attention, as_mask
from attnlib.checks import (
    FLOAT32,
    FLOAT64,
    Array,
    as_count,
    as_flag,
    as_floats,
    first_true,
)
from attnlib.similarity import require_broadcast
from attnlib.threads import share


def online_softmax(scores: ArrayLike, block: int) -> Array:
    """Compute softmax from scores that arrive `block` at a time, keeping only their maximum and their sum.

    When a new maximum comes, the sum so far was measured from the old one; exp(old − new) corrects it.

    Parameters
    ----------
    scores : (..., n); −inf means "never"
    block : how many scores of each row are looked at together

    Returns
    -------
    (..., n) weights, equal to softmax(scores)

    Examples
    --------
    >>> online_softmax([0.0, 0.0, np.log(2.0)], block=1).round(3)
    array([0.25, 0.25, 0.5 ])
    """
    (scores,) = as_floats("online_softmax", 1, scores=scores)
    block = as_count("online_softmax", "block", block)
    wrong = np.isnan(scores) | (scores == np.inf)
    if wrong.any():
        where = first_true(wrong)
        raise ValueError(f"online_softmax: scores has {scores[where]} at {where}; expected finite numbers or -inf")

    top = np.full_like(scores[..., :1], np.finfo(scores.dtype).min)  # (..., 1): the maximum so far
    total = np.zeros_like(top)  # (..., 1): the sum so far of exp(score − top)
    with np.errstate(over="ignore", under="ignore"):  # exp(-huge) = 0 is what is meant
        for columns in blocks(scores.shape[-1], block):
            part = scores[..., columns]  # (..., block)
            new_top = np.maximum(top, part.max(axis=-1, keepdims=True))
            total = total * np.exp(top - new_top) + np.exp(part - new_top).sum(axis=-1, keepdims=True)
            top = new_top
        total[total == 0] = 1  # nothing to choose from: 0 / 1 = 0
        return np.exp(scores - top) / total  # (..., n)


def blockwise_attention(
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    mask: ArrayLike | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    block: int = 1024,
    threads: int | None = None,
) -> Array:
    """Compute the output of `attention` with memory that grows with n, not with n².

    The scores of a few queries and a few keys are made, used and forgotten. Softmax is computed as in
    `online_softmax`; the output so far is corrected together with the sum so far. No query needs another, so that
    blocks of queries are shared by threads.

    Parameters
    ----------
    Q : (..., n_queries, d_k)
    K : (..., n_keys, d_k)
    V : (..., n_keys, d_v)
    mask : as in `attention`; only slices of it are used
    causal : as in `attention`; blocks of keys that lie wholly in the future are skipped
    scale : as in `attention`
    block : how many keys are looked at together, by at most a quarter as many queries of a head
    threads : how many blocks of queries are worked on at a time; as many as the computer has cores if not given.
        The output is the same to the last bit for any number.

    Returns
    -------
    (..., n_queries, d_v), equal to `attention(...).output` but for rounding. float32 in gives float32 out.

    Examples
    --------
    >>> Q, K, V = np.eye(2), np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 10.0]])
    >>> blockwise_attention(Q, K, V, block=1).round(2)
    array([[0.8 , 1.96],
           [0.2 , 8.04]])
    """
    who = "blockwise_attention"
    Q, K, V, factor = as_attention(who, Q, K, V, scale)
    n_queries, n_keys = Q.shape[-2], K.shape[-2]
    mask = _as_mask(who, mask, Q, K, V)
    causal = as_flag(who, "causal", causal)
    block = as_count(who, "block", block)
    threads = None if threads is None else as_count(who, "threads", threads)

    leading = require_broadcast(who, Q=Q, K=K, V=V, mask=Q if mask is None else mask)
    Q, K, V = (np.broadcast_to(array, (*leading, *array.shape[-2:])) for array in (Q, K, V))  # views, no copies
    if mask is not None:
        mask = np.broadcast_to(mask, (*leading, n_queries, n_keys))
    output = np.zeros((*leading, n_queries, V.shape[-1]), Q.dtype)  # (..., n_queries, d_v)
    if not leading:
        Q, K, V, output = (array[None] for array in (Q, K, V, output))  # one head
        mask = mask if mask is None else mask[None]
    *groups, heads = output.shape[:-2]
    few = (block + 3) // 4  # queries of a head that are looked at together
    if causal:
        few = max(1, min(few, n_queries // 8))  # the fewer, the less of the future is made in vain
    together = max(1, block // 2 // few)  # heads: small pieces would keep threads waiting for each other
    threads_own = local()

    def gather(piece: tuple[tuple[int, ...], slice, slice]) -> None:
        group, some, rows = piece
        if not hasattr(threads_own, "room"):
            most = min(together, heads) * min(few, n_queries) * min(block, n_keys)
            threads_own.room = np.empty(most, Q.dtype)  # for the scores: to ask for it each time would take longer
        _gather(
            Q[group][some, rows],
            K[group][some],
            V[group][some],
            None if mask is None else mask[group][some, rows],
            n_seen=n_keys - n_queries + rows.start + 1 if causal else n_keys,
            factor=factor,
            block=block,
            room=threads_own.room,
            output=output[group][some, rows],
        )

    pieces = [
        (group, some, rows)
        for rows in blocks(n_queries, few)
        for group in np.ndindex(*groups)
        for some in blocks(heads, together)
    ]
    share(gather, pieces[::-1], threads)  # causal: the last queries see most and go first, so that no thread waits
    return output if leading else output[0]


def _gather(
    Q: Array,
    K: Array,
    V: Array,
    mask: Array | None,
    n_seen: int,
    factor: float,
    block: int,
    room: Array,
    output: Array,
) -> None:
    """Write to `output`, now 0, what some queries of some heads gather; the first query sees `n_seen` keys."""
    heads, n_queries, n_keys = *Q.shape[:2], K.shape[1]
    last = min(n_keys, n_seen + n_queries - 1)  # later keys lie in the future of all these queries
    block = max(1, min(block, last))
    lowest = np.finfo(Q.dtype).min  # stands for the maximum of a row in which all is −inf
    ones = np.ones((block, 1), Q.dtype)
    top, total = lowest, np.ones((), Q.dtype)  # if there is no key to see: 0 / 1 = 0
    with np.errstate(over="ignore", under="ignore"):  # exp(-huge) = 0 is what is meant
        for columns in blocks(last, block):
            some = columns.stop - columns.start
            raised = room[: heads * n_queries * some].reshape(heads, n_queries, some)  # the last block's are gone
            np.matmul(Q, K[:, columns].swapaxes(-1, -2), out=raised)
            raised *= raised.dtype.type(factor)
            _hide(raised, None if mask is None else mask[..., columns], n_seen - columns.start)
            old_top, top = top, raised.max(axis=-1, keepdims=True, initial=lowest)  # (heads, queries, 1)
            np.maximum(old_top, top, out=top)  # the maximum so far
            raised -= top  # at most 0, so that exp cannot overflow
            np.exp(raised, out=raised)
            if columns.start == 0:
                total = raised @ ones  # (heads, queries, 1): the sum of each row, quicker than .sum()
                np.matmul(raised, V[:, columns], out=output)  # (heads, queries, d_v)
            else:
                correction = np.exp(old_top - top)  # (heads, queries, 1): 1 where the maximum stays
                total *= correction
                total += raised @ ones[:some]
                output *= correction
                output += raised @ V[:, columns]
        output /= np.maximum(total, 1)  # at least 1, the maximum's own exp, or 0 if nothing may be seen: 0 / 1 = 0


def _hide(scaled: Array, mask: Array | None, n_seen: int) -> None:
    """Put −inf into `scaled` where a query may not attend; the first query sees the first `n_seen` keys."""
    if mask is not None and mask.dtype == bool:
        np.copyto(scaled, -np.inf, where=~mask)
    elif mask is not None:
        scaled += mask
    n_queries, n_keys = scaled.shape[-2:]
    if n_seen < n_keys:
        some = max(0, n_seen)  # all queries see these: only the rest need be looked at
        scaled[..., some:] += _future(n_queries, n_keys - some, n_seen - some, scaled.dtype)


@lru_cache(maxsize=16)  # nearly all blocks ask for the same one
def _future(n_queries: int, n_keys: int, n_seen: int, dtype: np.dtype[Any]) -> Array:
    """Give −inf where a key lies in the future of a query, else 0; the first query sees `n_seen` keys."""
    seen = np.tri(n_queries, n_keys, k=n_seen - 1, dtype=bool)
    future = np.where(seen, dtype.type(0), dtype.type(-np.inf))  # (n_queries, n_keys)
    future.flags.writeable = False  # it is lent to many
    return future


def blocks(n: int, size: int) -> Iterator[slice]:
    """Cut the numbers from 0 to n − 1 into slices of `size`; the last may be shorter.

    >>> list(blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _as_mask(who: str, mask: ArrayLike | None, Q: Array, K: Array, V: Array) -> Array | None:
    """Do as `as_mask`, but look at a large array of floats a few rows at a time, and never copy it."""
    pair, leading = (Q.shape[-2], K.shape[-2]), (Q, K, V)
    if not isinstance(mask, np.ndarray) or mask.dtype not in (FLOAT32, FLOAT64):
        return as_mask(who, mask, pair, Q.dtype, leading)
    as_mask(who, np.broadcast_to(True, mask.shape), pair, Q.dtype, leading)  # the shape alone
    limit = np.finfo(Q.dtype).max / 4  # a NumPy float: Python's would be cut to the mask's dtype
    for rows in blocks(mask.shape[-2], 32):
        some = mask[..., rows, :]  # (..., 32, n_keys)
        if not (((some >= -limit) | (some == -np.inf)) & (some <= limit)).all():
            as_mask(who, mask, pair, Q.dtype, leading)  # complains, and says where
    return mask
