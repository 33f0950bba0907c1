"""Keys and values are computed once and kept, while a text is written token by token (chapter 11)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attnlib.attention import AttentionResult, as_attention, attention
from attnlib.checks import Array, as_floats, require_finite
from attnlib.similarity import require_broadcast


class KeyValueCache:
    """Keep the keys and values of all tokens so far, so that a new token needs only its own.

    A text of n tokens then costs n times (one query, at most n keys), and not n times (n queries, n keys).
    The first `append` settles the leading (batch or head) axes, d_k, d_v and the dtype.

    Examples
    --------
    >>> cache = KeyValueCache()
    >>> for K_new, V_new in zip(np.eye(3), np.eye(3)[::-1]):
    ...     cache.append(K_new[None], V_new[None])  # one token: (1, 3)
    >>> len(cache), cache.keys.shape
    (3, (3, 3))
    >>> cache.attend([[9.0, 0.0, 0.0]]).output.round(2)
    array([[0.01, 0.01, 0.99]])
    """

    def __init__(self) -> None:
        self._length = 0
        self._K = self._V = np.empty((0, 0))  # (..., room, d_k) and (..., room, d_v) after the first append

    def __len__(self) -> int:
        """Tell how many tokens are kept."""
        return self._length

    def __repr__(self) -> str:
        """Show shapes."""
        kept = f"keys {self.keys.shape}, values {self.values.shape}" if self._length else "empty"
        return f"KeyValueCache({kept})"

    @property
    def keys(self) -> Array:
        """All keys so far: (..., len(cache), d_k), a read-only view."""
        return self._kept("keys", self._K)

    @property
    def values(self) -> Array:
        """All values so far: (..., len(cache), d_v), a read-only view."""
        return self._kept("values", self._V)

    def append(self, K_new: ArrayLike, V_new: ArrayLike) -> None:
        """Keep the keys and values of the next tokens.

        Parameters
        ----------
        K_new : (..., n_new, d_k)
        V_new : (..., n_new, d_v)

        Examples
        --------
        >>> cache = KeyValueCache()
        >>> cache.append(np.ones((2, 5, 4)), np.ones((2, 5, 3)))  # a prompt: 2 heads, 5 tokens
        >>> cache.append(np.ones((2, 1, 4)), np.ones((2, 1, 3)))  # one more token
        >>> cache
        KeyValueCache(keys (2, 6, 4), values (2, 6, 3))
        """
        who = "KeyValueCache.append"
        kept = {"keys": self.keys[..., :1, :]} if self._length else {}
        K_new, V_new, *_ = as_floats(who, K_new=K_new, V_new=V_new, **kept)
        if K_new.shape[-2] != V_new.shape[-2]:
            raise ValueError(
                f"{who}: K_new has {K_new.shape[-2]} keys but V_new has {V_new.shape[-2]} values; each key needs "
                f"exactly one value (K_new is {K_new.shape}, V_new is {V_new.shape})"
            )
        require_broadcast(who, K_new=K_new, V_new=V_new)
        require_finite(who, K_new=K_new, V_new=V_new)
        if not self._length:
            self._K, self._V = K_new[..., :0, :], V_new[..., :0, :]
        for name, new, old in (("K_new", K_new, self._K), ("V_new", V_new, self._V)):
            if new.dtype != old.dtype:
                raise TypeError(f"{who}: {name} would be {new.dtype}, but the cache holds {old.dtype}")
            if new.shape[:-2] != old.shape[:-2] or new.shape[-1] != old.shape[-1]:
                wanted = ", ".join(map(str, (*old.shape[:-2], "n_new", old.shape[-1])))
                raise ValueError(f"{who}: {name} is {new.shape}; the cache needs ({wanted})")

        end = self._length + K_new.shape[-2]
        self._K, self._V = _with_room(self._K, end), _with_room(self._V, end)
        self._K[..., self._length : end, :] = K_new
        self._V[..., self._length : end, :] = V_new
        self._length = end

    def attend(self, Q: ArrayLike, *, scale: float | None = None) -> AttentionResult:
        """Let the newest tokens attend to everything kept, each to itself and to what came before it.

        Parameters
        ----------
        Q : (..., n_new, d_k): the queries of the last n_new tokens, whose keys are already in the cache. With
            more heads than the cache, neighbouring query heads share one key and value head.
        scale : as in `attention`

        Returns
        -------
        AttentionResult: `weights` is (..., n_new, len(cache)), `output` is (..., n_new, d_v)

        Examples
        --------
        >>> cache = KeyValueCache()
        >>> cache.append(np.ones((2, 5, 4)), np.ones((2, 5, 3)))
        >>> cache.attend(np.ones((6, 1, 4))).output.shape  # 6 query heads, 2 key and value heads
        (6, 1, 3)
        """
        who = "KeyValueCache.attend"
        (Q,) = as_floats(who, Q=Q)
        K, V = self._kept("attend", self._K), self._kept("attend", self._V)
        if Q.shape[-2] > len(self):
            raise ValueError(
                f"{who}: Q has {Q.shape[-2]} queries but the cache holds {len(self)} tokens; append the new keys "
                "and values first"
            )
        heads, kv_heads = (array.shape[-3] if array.ndim > 2 else 1 for array in (Q, K))
        shared = kv_heads > 1 and heads > kv_heads and heads % kv_heads == 0 and V.shape[:-2] == K.shape[:-2]
        if shared:
            Q = Q.reshape(*Q.shape[:-3], kv_heads, -1, *Q.shape[-2:])  # (..., kv_heads, share, n_new, d_k)
            K, V = K[..., None, :, :], V[..., None, :, :]  # (..., kv_heads, 1, len(cache), ·): nothing is copied
        as_attention(who, Q, K, V, scale)
        result = attention(Q, K, V, causal=True, scale=scale)
        if shared:
            result = AttentionResult(*(x.reshape(*x.shape[:-4], heads, *x.shape[-2:]) for x in result))
        return result

    def _kept(self, name: str, buffer: Array) -> Array:
        if not self._length:
            raise ValueError(f"KeyValueCache.{name}: the cache is empty; append keys and values first")
        view = buffer[..., : self._length, :]
        view.flags.writeable = False
        return view


def _with_room(buffer: Array, n: int) -> Array:
    """Give `buffer` if it has room for n rows, or else a copy with twice the room: so copies are rare."""
    *leading, room, d = buffer.shape
    if n <= room:
        return buffer
    larger = np.empty((*leading, max(n, 2 * room), d), buffer.dtype)  # (..., 2 room, d)
    larger[..., :room, :] = buffer
    return larger
