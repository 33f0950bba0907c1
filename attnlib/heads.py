"""Several attentions side by side: heads (chapter 07)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnlib.attention import AttentionResult, as_mask, attention, score_bound
from attnlib.checks import (
    Array,
    as_count,
    as_flag,
    as_floats,
    brief,
    require_bounded,
    require_finite,
    require_rng,
)
from attnlib.similarity import require_broadcast


def split_heads(X: ArrayLike, num_heads: int) -> Array:
    """Cut each row into `num_heads` equal pieces and give each head its own matrix.

    Parameters
    ----------
    X : (..., n, num_heads · d)
    num_heads : how many pieces

    Returns
    -------
    (..., num_heads, n, d): head h holds columns h·d to (h + 1)·d of every token. A view: it shares X's memory.

    Examples
    --------
    >>> split_heads([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]], num_heads=2)
    array([[[1., 2.],
            [5., 6.]],
    <BLANKLINE>
           [[3., 4.],
            [7., 8.]]])
    """
    (X,) = as_floats("split_heads", X=X)
    num_heads = as_count("split_heads", "num_heads", num_heads)
    *leading, n, width = X.shape
    if width % num_heads:
        raise ValueError(
            f"split_heads: {width} columns cannot be cut into {num_heads} equal heads (X is {X.shape})"
        )
    cut = X.reshape(*leading, n, num_heads, width // num_heads)  # (..., n, heads, d)
    return cut.swapaxes(-2, -3)  # (..., heads, n, d)


def merge_heads(H: ArrayLike) -> Array:
    """Put the heads' pieces back side by side: the inverse of `split_heads`.

    Parameters
    ----------
    H : (..., num_heads, n, d)

    Returns
    -------
    (..., n, num_heads · d)

    Examples
    --------
    >>> merge_heads([[[1.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]])
    array([[1., 2., 3., 4.],
           [5., 6., 7., 8.]])
    """
    (H,) = as_floats("merge_heads", H=H)
    if H.ndim < 3:
        raise ValueError(f"merge_heads: H has shape {H.shape}; expected (..., num_heads, n, d)")
    *leading, num_heads, n, d = H.shape
    return H.swapaxes(-2, -3).reshape(*leading, n, num_heads * d)  # (..., n, heads, d), then side by side


class MultiHeadResult(NamedTuple):
    """What multi-head attention gives: the output, and how each head came to its share of it.

    >>> mha = MultiHeadAttention.from_rng(np.random.default_rng(0), d_model=6, num_heads=3)
    >>> mha(np.ones((4, 6)))
    MultiHeadResult(output (4, 6), weights (3, 4, 4))
    """

    output: Array
    """Concat(heads) W_O: (..., n_queries, d_out)"""
    heads: AttentionResult
    """every step of every head: `heads.scores` is (..., num_heads, n_queries, n_keys), and so on"""

    @property
    def weights(self) -> Array:
        """Each head's weights: (..., num_heads, n_queries, n_keys)."""
        return self.heads.weights

    def __repr__(self) -> str:
        """Show names and shapes."""
        return f"MultiHeadResult(output {self.output.shape}, weights {self.weights.shape})"


class MultiHeadAttention:
    """Several attentions, each on its own projections, joined by W_O.

    Parameters
    ----------
    W_Q : (d_model, num_heads · d_k)
    W_K : (d_context, num_kv_heads · d_k), where d_context = d_model in self-attention
    W_V : (d_context, num_kv_heads · d_v)
    W_O : (num_heads · d_v, d_out)
    num_heads : number of query heads
    num_kv_heads : number of key and value heads; as many as query heads if not given. Fewer is grouped-query
        attention: neighbouring query heads share one key and value head.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> mha = MultiHeadAttention.from_rng(rng, d_model=8, num_heads=2)
    >>> result = mha(rng.normal(size=(5, 8)), causal=True)
    >>> result.output.shape, result.weights.shape
    ((5, 8), (2, 5, 5))
    """

    def __init__(
        self,
        W_Q: ArrayLike,
        W_K: ArrayLike,
        W_V: ArrayLike,
        W_O: ArrayLike,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
    ) -> None:
        who = "MultiHeadAttention"
        weights = dict(
            zip(("W_Q", "W_K", "W_V", "W_O"), as_floats(who, W_Q=W_Q, W_K=W_K, W_V=W_V, W_O=W_O), strict=True)
        )
        for name, W in weights.items():
            if W.ndim != 2:
                raise ValueError(f"{who}: {name} has shape {W.shape}; expected two axes (d_in, d_out)")
        require_finite(who, **weights)
        self.W_Q, self.W_K, self.W_V, self.W_O = weights.values()
        self.num_heads = as_count(who, "num_heads", num_heads)
        self.num_kv_heads = self.num_heads if num_kv_heads is None else as_count(who, "num_kv_heads", num_kv_heads)
        if self.num_heads % self.num_kv_heads:
            raise ValueError(
                f"{who}: {self.num_heads} query heads cannot share {self.num_kv_heads} key/value heads evenly; "
                "num_heads must be a multiple of num_kv_heads"
            )
        for name, parts in (("W_Q", self.num_heads), ("W_K", self.num_kv_heads), ("W_V", self.num_kv_heads)):
            if weights[name].shape[1] % parts:
                raise ValueError(
                    f"{who}: {name} has {weights[name].shape[1]} columns, which cannot be cut into {parts} equal "
                    f"heads ({name} is {weights[name].shape})"
                )
        d_k, key_width = self.W_Q.shape[1] // self.num_heads, self.W_K.shape[1] // self.num_kv_heads
        if d_k != key_width:
            raise ValueError(
                f"{who}: each query head has d_k = {d_k} columns but each key head {key_width}; they must have "
                f"the same (W_Q is {self.W_Q.shape}, W_K is {self.W_K.shape})"
            )
        if self.W_K.shape[0] != self.W_V.shape[0]:
            raise ValueError(
                f"{who}: W_K takes rows of {self.W_K.shape[0]} numbers but W_V of {self.W_V.shape[0]}; keys and "
                f"values are made from the same rows (W_K is {self.W_K.shape}, W_V is {self.W_V.shape})"
            )
        joined = self.W_V.shape[1] // self.num_kv_heads * self.num_heads
        if self.W_O.shape[0] != joined:
            raise ValueError(
                f"{who}: the heads side by side have {joined} columns but W_O has {self.W_O.shape[0]} rows "
                f"(W_V is {self.W_V.shape}, W_O is {self.W_O.shape})"
            )

    @classmethod
    def from_rng(
        cls,
        rng: np.random.Generator,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        dtype: Any = np.float64,
    ) -> MultiHeadAttention:
        """Draw all four matrices from `rng`, with entries of variance 1 / d_model, and d_k = d_model / num_heads.

        >>> mha = MultiHeadAttention.from_rng(np.random.default_rng(0), 8, 4, num_kv_heads=2)
        >>> mha.W_Q.shape, mha.W_K.shape, mha.W_V.shape, mha.W_O.shape
        ((8, 8), (8, 4), (8, 4), (8, 8))
        """
        who = "MultiHeadAttention.from_rng"
        require_rng(who, rng)
        if not isinstance(dtype, (type, np.dtype)) or dtype not in (np.float32, np.float64):
            raise TypeError(f"{who}: dtype is {brief(dtype)}; expected np.float32 or np.float64")
        d_model, num_heads = as_count(who, "d_model", d_model), as_count(who, "num_heads", num_heads)
        kv_heads = num_heads if num_kv_heads is None else as_count(who, "num_kv_heads", num_kv_heads)
        if d_model % num_heads:
            raise ValueError(f"{who}: d_model = {d_model} cannot be cut into num_heads = {num_heads} equal heads")
        kv_width = d_model // num_heads * kv_heads
        widths = (d_model, kv_width, kv_width, d_model)  # of W_Q, W_K, W_V, W_O
        W_Q, W_K, W_V, W_O = (
            (rng.normal(size=(d_model, width)) / np.sqrt(d_model)).astype(dtype) for width in widths
        )
        return cls(W_Q, W_K, W_V, W_O, num_heads, num_kv_heads=kv_heads)

    def __call__(
        self,
        X: ArrayLike,
        context: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        causal: bool = False,
    ) -> MultiHeadResult:
        """Let the rows of `X` attend to the rows of `context`, or to each other if it is not given.

        Parameters
        ----------
        X : (..., n_queries, d_model)
        context : (..., n_keys, d_context); given = cross-attention
        mask : broadcasts to (..., n_queries, n_keys); the same for all heads
        causal : as in `attention`

        Returns
        -------
        MultiHeadResult with `output` (..., n_queries, d_out) and `weights` (..., num_heads, n_queries, n_keys)

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> mha = MultiHeadAttention.from_rng(rng, d_model=8, num_heads=2)
        >>> mha(rng.normal(size=(3, 8)), context=rng.normal(size=(5, 8))).weights.shape
        (2, 3, 5)
        """
        who = "MultiHeadAttention"
        given = {"X": X} if context is None else {"X": X, "context": context}
        dtyped = as_floats(who, **given, W_Q=self.W_Q)  # whole numbers follow the weights' dtype
        arrays = dict(zip(given, dtyped, strict=False))
        require_finite(who, **arrays)
        require_broadcast(who, **arrays)
        causal = as_flag(who, "causal", causal)
        queries, source = arrays["X"], arrays.get("context", arrays["X"])
        for name, rows, W, name_W in (
            ("X", queries, self.W_Q, "W_Q"),
            ("X" if context is None else "context", source, self.W_K, "W_K"),
        ):
            if rows.shape[-1] != W.shape[0]:
                raise ValueError(
                    f"{who}: the rows of {name} have {rows.shape[-1]} numbers but {name_W} takes "
                    f"{W.shape[0]} ({name} is {rows.shape}, {name_W} is {W.shape})"
                )
        pair = (queries.shape[-2], source.shape[-2])
        allowed = as_mask(who, mask, pair, queries.dtype, leading=(queries, source))
        if allowed is not None:
            allowed = allowed[..., None, :, :]  # (..., 1, n_queries, n_keys): the same for every head

        Q = split_heads(project(who, "Q", queries, self.W_Q), self.num_heads)  # (..., num_heads, n_queries, d_k)
        K = split_heads(project(who, "K", source, self.W_K), self.num_kv_heads)  # (..., num_kv_heads, n_keys, d_k)
        V = split_heads(project(who, "V", source, self.W_V), self.num_kv_heads)  # (..., num_kv_heads, n_keys, d_v)
        share = self.num_heads // self.num_kv_heads
        if share > 1:  # neighbouring query heads use the same keys and values
            K, V = np.repeat(K, share, axis=-3), np.repeat(V, share, axis=-3)  # (..., num_heads, n_keys, ·)
        heads = attention(Q, K, V, allowed, causal=causal)
        return MultiHeadResult(project(who, "the output", merge_heads(heads.output), self.W_O), heads)


def project(who: str, what: str, rows: Array, W: Array) -> Array:
    """Give rows W, and refuse numbers so large that the product could not be held.

    >>> project("demo", "Q", np.ones((3, 2)), np.eye(2)).shape
    (3, 2)
    """
    reach = score_bound(rows, W.T)
    require_bounded(who, what, reach, np.result_type(rows, W), "scale the input or the weights down")
    return rows @ W
