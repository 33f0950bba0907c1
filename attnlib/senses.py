"""배 is belly, pear or boat: a small corpus and a small model that learns to tell which (chapter 09).

The sentences are our own. Each has eight tokens, and only one of them decides the sense: one may eat chicken on
a boat, but only someone whose 배 is empty is hungry (고파서). Every sense is decided by words with 가 and with 를,
two each, so that the particle gives nothing away.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnlib.adamw import AdamW, descend
from attnlib.attention import AttentionResult, as_scale, attention
from attnlib.checks import (
    FLOAT64,
    Array,
    as_count,
    as_real,
    as_whole_numbers,
    require_bounded,
    require_kind,
    require_rng,
    require_shape,
)
from attnlib.gradients import attention_backward, cross_entropy, embedding_backward, linear_backward
from attnlib.heads import project
from attnlib.tokens import Vocabulary

SENSES = ("belly", "pear", "boat")
DECIDING = {
    "belly": (("가", "고파서"), ("가", "아파서"), ("를", "채우고"), ("를", "움켜쥐고")),
    "pear": (("가", "달아서"), ("가", "익어서"), ("를", "깎아서"), ("를", "따서")),
    "boat": (("가", "흔들려서"), ("가", "떠나서"), ("를", "타고"), ("를", "저어서")),
}
OTHERS = (
    ("어제", "오늘", "아침에", "주말에"),
    ("밤에", "친구와", "혼자", "같이"),
    ("치킨을", "밥을", "빵을", "국수를"),
    ("시켜서", "나눠서", "천천히"),
    ("먹었다", "남겼다", "치웠다"),
)
GLOSS = {
    "배": "bae: belly, pear or boat",
    "가": "(subject)",
    "를": "(object)",
    "고파서": "being hungry",
    "아파서": "aching",
    "채우고": "filling",
    "움켜쥐고": "clutching",
    "달아서": "being sweet",
    "익어서": "being ripe",
    "깎아서": "peeling",
    "따서": "picking",
    "흔들려서": "rocking",
    "떠나서": "leaving",
    "타고": "riding",
    "저어서": "rowing",
    "어제": "yesterday",
    "오늘": "today",
    "아침에": "in the morning",
    "주말에": "at the weekend",
    "밤에": "at night",
    "친구와": "with a friend",
    "혼자": "alone",
    "같이": "together",
    "치킨을": "chicken (object)",
    "밥을": "rice (object)",
    "빵을": "bread (object)",
    "국수를": "noodles (object)",
    "시켜서": "ordered and",
    "나눠서": "shared and",
    "천천히": "slowly",
    "먹었다": "ate",
    "남겼다": "left some",
    "치웠다": "cleared away",
}
VOCABULARY = Vocabulary(GLOSS)
BAE = 2
"""the place of 배 in every sentence"""


class Corpus(NamedTuple):
    """Sentences as ids, and the sense of 배 in each.

    >>> corpus().ids.shape, corpus().senses.shape
    ((6912, 8), (6912,))
    """

    ids: Array
    senses: Array


def corpus() -> Corpus:
    """Give every sentence that the word lists can make.

    >>> " ".join(VOCABULARY.words(corpus().ids[0]))
    '어제 밤에 배 가 고파서 치킨을 시켜서 먹었다'
    """
    ids, senses = [], []
    for sense, name in enumerate(SENSES):
        for particle, word in DECIDING[name]:
            for day, how, food, verb, end in product(*OTHERS):
                ids.append(VOCABULARY.ids([day, how, "배", particle, word, food, verb, end]))
                senses.append(sense)
    return Corpus(np.array(ids), np.array(senses))


def split(everything: Corpus, n_train: int, rng: np.random.Generator) -> tuple[Corpus, Corpus]:
    """Give a training part and a held-out part that share no sentence; the first sentence is always held out.

    >>> train, held_out = split(corpus(), 400, np.random.default_rng(0))
    >>> len(train.ids), len(held_out.ids)
    (400, 6512)
    """
    everything = _as_corpus("split", "everything", everything)
    n_train, most = as_count("split", "n_train", n_train), len(everything.ids) - 1
    if n_train > most:
        raise ValueError(
            f"split: n_train is {n_train}, but only {most} sentences may be trained on: one is held out"
        )
    require_rng("split", rng)
    order = rng.permutation(np.arange(1, len(everything.ids)))
    chosen, rest = order[:n_train], np.append(order[n_train:], 0)
    return (
        Corpus(everything.ids[chosen], everything.senses[chosen]),
        Corpus(everything.ids[rest], everything.senses[rest]),
    )


class SenseModel:
    """Embeddings, one attention for the token 배, and a linear layer from its output to the three senses.

    >>> model = SenseModel(np.random.default_rng(0))
    >>> model.logits(corpus().ids[:5]).shape
    (5, 3)
    """

    def __init__(
        self, rng: np.random.Generator, d_model: int = 16, spread: float = 0.1, scale: float | None = None
    ) -> None:
        require_rng("SenseModel", rng)
        d_model = as_count("SenseModel", "d_model", d_model)
        spread = as_real("SenseModel", "spread", spread, "a number of at least 0")
        require_bounded("SenseModel", "the table", 8 * spread, FLOAT64, "use a smaller spread")
        self.scale = None if scale is None else as_scale("SenseModel", scale)
        shapes = {"W_Q": (d_model, d_model), "W_K": (d_model, d_model), "W_V": (d_model, d_model)}
        self.parameters = {"table": spread * rng.normal(size=(len(VOCABULARY), d_model))}
        for name, shape in {**shapes, "W_S": (d_model, len(SENSES))}.items():
            self.parameters[name] = rng.normal(size=shape) / np.sqrt(d_model)

    def attend(self, ids: ArrayLike) -> AttentionResult:
        """Let 배 attend to all tokens of its sentence: the weights are (sentences, 1, tokens).

        >>> SenseModel(np.random.default_rng(0)).attend(corpus().ids[:5]).weights.shape
        (5, 1, 8)
        """
        Q, K, V = self._projections(_as_sentences("SenseModel", ids))
        return attention(Q, K, V, scale=self.scale)

    def logits(self, ids: ArrayLike) -> Array:
        """Give a score for each sense: (sentences, 3).

        >>> SenseModel(np.random.default_rng(0)).logits(corpus().ids[:2]).shape
        (2, 3)
        """
        return project("SenseModel", "a logit", self.attend(ids).output[:, 0], self.parameters["W_S"])

    def accuracy(self, part: Corpus) -> float:
        """Give the share of sentences whose sense is guessed right.

        >>> 0 <= SenseModel(np.random.default_rng(0)).accuracy(corpus()) <= 1
        True
        """
        part = _as_corpus("SenseModel.accuracy", "part", part)
        return float((self.logits(part.ids).argmax(axis=-1) == part.senses).mean())

    def gradients(self, part: Corpus) -> tuple[float, dict[str, Array]]:
        """Give the loss and its gradient by every parameter: the forward pass, then each step backwards.

        >>> loss, gradients = SenseModel(np.random.default_rng(0)).gradients(corpus())
        >>> round(loss, 1), sorted(gradients)
        (1.1, ['W_K', 'W_Q', 'W_S', 'W_V', 'table'])
        """
        part = _as_corpus("SenseModel.gradients", "part", part)
        p = self.parameters
        Q, K, V = self._projections(part.ids)  # (b, 1, d), (b, 8, d), (b, 8, d)
        output = attention(Q, K, V, scale=self.scale).output  # (b, 1, d)
        loss, d_logits = cross_entropy(project("SenseModel", "a logit", output[:, 0], p["W_S"]), part.senses)

        d_output, d_W_S = linear_backward(output, p["W_S"], d_logits[:, None])
        d_rows = attention_backward(Q, K, V, d_output, scale=self.scale)  # dQ, dK, dV
        found = {"table": np.zeros_like(p["table"]), "W_S": d_W_S}
        for name, ids, d_row in zip(("W_Q", "W_K", "W_V"), self._asked(part.ids), d_rows, strict=True):
            d_projected = embedding_backward(ids, d_row, len(VOCABULARY))  # (33, d): the sum for each token
            d_table, found[name] = linear_backward(p["table"], p[name], d_projected)
            found["table"] += d_table
        return loss, found

    def _projections(self, ids: Array) -> tuple[Array, Array, Array]:
        """Project the table, then look up: the same rows as table[ids] W, but each token is projected once."""
        p = self.parameters
        names = ("W_Q", "W_K", "W_V")
        Q, K, V = (
            project("SenseModel", name[-1], p["table"], p[name])[places]
            for name, places in zip(names, self._asked(ids), strict=True)
        )
        return Q, K, V

    @staticmethod
    def _asked(ids: Array) -> tuple[Array, Array, Array]:
        """Give the tokens that ask, (b, 1), and twice those that answer, (b, 8): with their keys and values."""
        return ids[:, BAE : BAE + 1], ids, ids


def train(model: SenseModel, part: Corpus, steps: int, rate: float = 0.01) -> Iterator[tuple[int, float]]:
    """Train on the whole part at every step, and yield the step's number and the loss before it.

    >>> losses = [loss for _, loss in train(SenseModel(np.random.default_rng(0)), corpus(), 3)]
    >>> losses[2] < losses[0]
    True
    """
    require_kind("train", "model", model, SenseModel, "a SenseModel")
    part = _as_corpus("train", "part", part)
    steps = as_count("train", "steps", steps)
    return descend(AdamW(model.parameters, rate=rate), lambda: model.gradients(part), steps)


def _as_corpus(who: str, name: str, part: Any) -> Corpus:
    """Give a corpus whose arrays hold together."""
    require_kind(who, name, part, Corpus, "a Corpus, such as corpus()")
    ids = _as_sentences(who, part.ids)
    senses = as_whole_numbers(who, "senses", part.senses, 0, len(SENSES) - 1)
    require_shape(who, "senses", senses, (len(ids),), "one for each sentence")
    return Corpus(ids, senses)


def _as_sentences(who: str, ids: ArrayLike) -> Array:
    """Give the ids of sentences of one length, long enough to have a place for 배."""
    array = as_whole_numbers(who, "ids", ids, 0, len(VOCABULARY) - 1)
    if array.ndim != 2 or array.shape[1] <= BAE:
        raise ValueError(
            f"{who}: ids has shape {array.shape}; expected (sentences, n) with n of at least {BAE + 1}"
        )
    return array
