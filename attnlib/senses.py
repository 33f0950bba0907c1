"""배 is belly, pear or boat: a small corpus and a small model that learns to tell which (chapter 09).

The sentences are our own. Each has eight tokens, and only one of them decides the sense: one may eat chicken on
a boat, but only someone whose 배 is empty is hungry (고파서). Every sense is decided by words with 가 and with 를,
two each, so that the particle gives nothing away.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from attnlib.adamw import AdamW
from attnlib.attention import AttentionResult, attention
from attnlib.checks import Array
from attnlib.gradients import attention_backward, cross_entropy, embedding_backward, linear_backward
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
        self.scale = scale
        shapes = {"W_Q": (d_model, d_model), "W_K": (d_model, d_model), "W_V": (d_model, d_model)}
        self.parameters = {"table": spread * rng.normal(size=(len(VOCABULARY), d_model))}
        for name, shape in {**shapes, "W_S": (d_model, len(SENSES))}.items():
            self.parameters[name] = rng.normal(size=shape) / np.sqrt(d_model)

    def attend(self, ids: Array) -> AttentionResult:
        """Let 배 attend to all tokens of its sentence: the weights are (sentences, 1, tokens).

        >>> SenseModel(np.random.default_rng(0)).attend(corpus().ids[:5]).weights.shape
        (5, 1, 8)
        """
        Q, K, V = self._projections(ids)
        return attention(Q, K, V, scale=self.scale)

    def logits(self, ids: Array) -> Array:
        """Give a score for each sense: (sentences, 3).

        >>> SenseModel(np.random.default_rng(0)).logits(corpus().ids[:2]).shape
        (2, 3)
        """
        return self.attend(ids).output[:, 0] @ self.parameters["W_S"]

    def accuracy(self, part: Corpus) -> float:
        """Give the share of sentences whose sense is guessed right.

        >>> 0 <= SenseModel(np.random.default_rng(0)).accuracy(corpus()) <= 1
        True
        """
        return float((self.logits(part.ids).argmax(axis=-1) == part.senses).mean())

    def gradients(self, part: Corpus) -> tuple[float, dict[str, Array]]:
        """Give the loss and its gradient by every parameter: the forward pass, then each step backwards.

        >>> loss, gradients = SenseModel(np.random.default_rng(0)).gradients(corpus())
        >>> round(loss, 1), sorted(gradients)
        (1.1, ['W_K', 'W_Q', 'W_S', 'W_V', 'table'])
        """
        p = self.parameters
        Q, K, V = self._projections(part.ids)  # (b, 1, d), (b, 8, d), (b, 8, d)
        output = attention(Q, K, V, scale=self.scale).output  # (b, 1, d)
        loss, d_logits = cross_entropy(output[:, 0] @ p["W_S"], part.senses)

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
        Q, K, V = ((p["table"] @ p[name])[places] for name, places in zip(names, self._asked(ids), strict=True))
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
    optimiser = AdamW(model.parameters, rate=rate)
    for step in range(1, steps + 1):
        loss, gradients = model.gradients(part)
        optimiser.step(gradients)
        yield step, loss
