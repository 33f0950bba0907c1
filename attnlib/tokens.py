"""From text to X: tokens, ids, and the rows of a table (chapter 01)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from attnlib.checks import Array, as_count, as_floats, first_true, require_finite


class Vocabulary:
    """The tokens that a model knows; a token's id is its place in the list.

    >>> words = Vocabulary(["a", "poem", "write"])
    >>> words.ids("write a poem")
    array([2, 0, 1])
    >>> words.words([2, 0, 1])
    ['write', 'a', 'poem']
    >>> len(words), "poem" in words
    (3, True)
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        if isinstance(tokens, str):
            raise TypeError("Vocabulary: tokens is one text; expected a list of tokens, such as text.split()")
        self.tokens = tuple(tokens)
        self._place = {token: place for place, token in enumerate(self.tokens)}
        for token in self.tokens:
            if not isinstance(token, str):
                raise TypeError(f"Vocabulary: {token!r} is {type(token).__name__}; every token is a str")
        if len(self._place) < len(self.tokens):
            twice = next(t for place, t in enumerate(self.tokens) if self._place[t] != place)
            raise ValueError(f"Vocabulary: {twice!r} is there twice; each token needs one id")
        if not self.tokens:
            raise ValueError("Vocabulary: no tokens; expected at least one")

    def __len__(self) -> int:
        """Count the tokens."""
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        """Tell whether the token is known."""
        return token in self._place

    def ids(self, text: str | Sequence[str]) -> Array:
        """Give the ids (n,) of a text (split at spaces) or of a list of n tokens.

        >>> Vocabulary(["a", "poem"]).ids(["poem", "poem"])
        array([1, 1])
        """
        tokens = text.split() if isinstance(text, str) else list(text)
        unknown = [token for token in tokens if token not in self]
        if unknown:
            raise ValueError(f"Vocabulary.ids: {unknown[0]!r} is not among the {len(self)} known tokens")
        return np.array([self._place[token] for token in tokens], dtype=int)

    def words(self, ids: ArrayLike) -> list[str]:
        """Give the tokens of n ids.

        >>> Vocabulary(["a", "poem"]).words([1, 0])
        ['poem', 'a']
        """
        return [self.tokens[i] for i in as_ids("Vocabulary.words", ids, len(self)).ravel()]


def embed(ids: ArrayLike, table: ArrayLike) -> Array:
    """Look up each id's row in an embedding table.

    Parameters
    ----------
    ids : (..., n) whole numbers from 0 to size − 1
    table : (size, d): one row per token of the vocabulary

    Returns
    -------
    X : (..., n, d)

    Examples
    --------
    >>> embed([2, 0], [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    array([[4., 5.],
           [0., 1.]])
    """
    (table,) = as_floats("embed", table=table)
    if table.ndim != 2:
        raise ValueError(f"embed: table has shape {table.shape}; expected two axes (size, d)")
    require_finite("embed", table=table)
    return table[as_ids("embed", ids, len(table))]


def one_hot(ids: ArrayLike, size: int) -> Array:
    """Write each id as a row of zeros with a single 1; times a table, it picks a row.

    Parameters
    ----------
    ids : (..., n) whole numbers from 0 to size − 1
    size : number of tokens in the vocabulary

    Returns
    -------
    (..., n, size) of float64

    Examples
    --------
    >>> one_hot([2, 0], size=3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    size = as_count("one_hot", "size", size)
    return np.eye(size)[as_ids("one_hot", ids, size)]


def as_ids(who: str, ids: ArrayLike, size: int) -> Array:
    """Give `ids` as whole numbers from 0 to size − 1, or say which one is not.

    >>> as_ids("demo", [0, 2], 3)
    array([0, 2])
    """
    array = np.asarray(ids)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{who}: ids holds {array.dtype}; expected whole numbers")
    wrong = (array < 0) | (array >= size)
    if wrong.any():
        where = first_true(wrong)
        raise ValueError(f"{who}: ids has {array[where]}; expected whole numbers from 0 to {size - 1}")
    return array
