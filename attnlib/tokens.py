"""From text to X: tokens, ids, and the rows of a table (chapter 01)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from attnlib.checks import Array, as_count, as_floats, as_whole_numbers, brief, require_finite


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
        if isinstance(tokens, (set, frozenset)):
            raise TypeError("Vocabulary: tokens is a set, which has no order; expected a list of tokens")
        self.tokens = _texts("Vocabulary", tokens)
        self._place = {token: place for place, token in enumerate(self.tokens)}
        if len(self._place) < len(self.tokens):
            twice = next(t for place, t in enumerate(self.tokens) if self._place[t] != place)
            raise ValueError(f"Vocabulary: {brief(twice)} is there twice; each token needs one id")
        if not self.tokens:
            raise ValueError("Vocabulary: no tokens; expected at least one")

    def __len__(self) -> int:
        """Count the tokens."""
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        """Tell whether the token is known."""
        return token in self.tokens

    def ids(self, text: str | Sequence[str]) -> Array:
        """Give the ids (n,) of a text (split at spaces) or of a list of n tokens.

        >>> Vocabulary(["a", "poem"]).ids(["poem", "poem"])
        array([1, 1])
        """
        tokens = text.split() if isinstance(text, str) else _texts("Vocabulary.ids", text)
        unknown = [token for token in tokens if token not in self._place]
        if unknown:
            raise ValueError(f"Vocabulary.ids: {brief(unknown[0])} is not among the {len(self)} known tokens")
        return np.array([self._place[token] for token in tokens], dtype=int)

    def words(self, ids: ArrayLike) -> list[str]:
        """Give the tokens of n ids.

        >>> Vocabulary(["a", "poem"]).words([1, 0])
        ['poem', 'a']
        """
        return [self.tokens[i] for i in as_whole_numbers("Vocabulary.words", "ids", ids, 0, len(self) - 1).ravel()]


def _texts(who: str, tokens: Iterable[str]) -> tuple[str, ...]:
    """Give tokens as a tuple of str, or say which is none."""
    try:
        found = tuple(tokens)
    except TypeError:
        kind = type(tokens).__name__
        raise TypeError(f"{who}: tokens is {brief(tokens)} ({kind}); expected a list of tokens") from None
    for token in found:
        if not isinstance(token, str):
            raise TypeError(f"{who}: {brief(token)} is {type(token).__name__}; every token is a str")
    return found


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
    return table[as_whole_numbers("embed", "ids", ids, 0, len(table) - 1)]


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
    places = as_whole_numbers("one_hot", "ids", ids, 0, size - 1)
    rows = np.zeros((*places.shape, size))
    np.put_along_axis(rows, places[..., None], 1, axis=-1)
    return rows
