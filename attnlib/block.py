"""A transformer block, and a language model made of one (chapter 10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from attnlib.adamw import AdamW, descend
from attnlib.attention import AttentionResult, attention
from attnlib.checks import (
    Array,
    as_count,
    as_flag,
    as_floats,
    as_whole_numbers,
    brief,
    require_kind,
    require_linear,
    require_rng,
)
from attnlib.gradients import attention_backward, cross_entropy, embedding_backward, linear_backward
from attnlib.heads import merge_heads, project, split_heads
from attnlib.layers import feed_forward, feed_forward_backward, layer_norm, layer_norm_backward
from attnlib.positions import sinusoidal_positions


class LanguageModel:
    """Guess the next token: embeddings, positions, one causal pre-norm block, and a table of scores.

        X₁ = X + Attention(norm(X))      attention gathers context
        X₂ = X₁ + FeedForward(norm(X₁))  feed-forward refines it
        logits = norm(X₂) W_U

    Parameters
    ----------
    rng : draws the starting numbers
    size : number of tokens in the vocabulary
    d_model, num_heads : sizes of the block
    use_positions : add sinusoidal positions; without them the model does not know the order

    Examples
    --------
    >>> model = LanguageModel(np.random.default_rng(0), size=5, d_model=8, num_heads=2)
    >>> model.logits(np.array([[0, 1, 2]])).shape
    (1, 3, 5)
    """

    def __init__(
        self,
        rng: np.random.Generator,
        size: int,
        d_model: int = 32,
        num_heads: int = 4,
        *,
        use_positions: bool = True,
    ) -> None:
        who = "LanguageModel"
        require_rng(who, rng)
        size, d_model, num_heads = (
            as_count(who, name, count)
            for name, count in (("size", size), ("d_model", d_model), ("num_heads", num_heads))
        )
        self.num_heads, self.use_positions = num_heads, as_flag(who, "use_positions", use_positions)
        if d_model % num_heads:
            raise ValueError(f"{who}: d_model = {d_model} cannot be cut into num_heads = {num_heads} equal heads")
        if self.use_positions and d_model % 2:
            raise ValueError(
                f"{who}: d_model is {d_model}; positions need an even one, for a sine and a cosine each"
            )
        wide = 4 * d_model
        shapes = dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (d_model, d_model))
        shapes |= {"W_1": (d_model, wide), "W_2": (wide, d_model), "W_U": (d_model, size)}
        p = {"table": rng.normal(size=(size, d_model))}
        p |= {name: rng.normal(size=shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}
        p |= {"b_1": np.zeros(wide), "b_2": np.zeros(d_model)}
        for place in ("1", "2", "3"):  # before attention, before feed-forward, before W_U
            p |= {f"gain_{place}": np.ones(d_model), f"bias_{place}": np.zeros(d_model)}
        self.parameters = p

    def embed(self, ids: ArrayLike) -> Array:
        """Look up the tokens and add their positions: (texts, n) → (texts, n, d_model).

        >>> LanguageModel(np.random.default_rng(0), 5, 8, 2).embed(np.array([[0, 1]])).shape
        (1, 2, 8)
        """
        table = self.parameters["table"]
        places = as_whole_numbers("LanguageModel", "ids", ids, 0, len(table) - 1)
        if places.ndim != 2:
            raise ValueError(f"LanguageModel: ids has shape {places.shape}; expected (texts, n)")
        X = table[places]
        return X + sinusoidal_positions(*X.shape[-2:]) if self.use_positions else X

    def norm(self, place: str, X: ArrayLike) -> Array:
        """Apply the layer norm of one of the three places.

        >>> model = LanguageModel(np.random.default_rng(0), 5, 8, 2)
        >>> abs(model.norm("1", np.arange(8.0)[None]).mean()) < 1e-9
        np.True_
        """
        if not isinstance(place, str) or place not in ("1", "2", "3"):
            raise ValueError(f"LanguageModel.norm: place is {brief(place)}; expected '1', '2' or '3'")
        return layer_norm(X, self.parameters[f"gain_{place}"], self.parameters[f"bias_{place}"])

    def attend(self, X: ArrayLike) -> AttentionResult:
        """Let each row attend to itself and to what came before, in every head.

        >>> model = LanguageModel(np.random.default_rng(0), 5, 8, 2)
        >>> model.attend(model.norm("1", model.embed(np.array([[0, 1, 2]])))).weights.shape
        (1, 2, 3, 3)
        """
        (X,) = as_floats("LanguageModel.attend", X=X)
        require_linear("LanguageModel.attend", X, "W_Q", self.parameters["W_Q"])
        return attention(*self._projections(X), causal=True)

    def logits(self, ids: ArrayLike) -> Array:
        """Give scores for the next token at every position: (texts, n) → (texts, n, size).

        >>> LanguageModel(np.random.default_rng(0), 5, 8, 2).logits(np.array([[0, 1]])).shape
        (1, 2, 5)
        """
        p = self.parameters
        X = self.embed(ids)
        X = X + self._project(merge_heads(self.attend(self.norm("1", X)).output), "W_O")
        X = X + feed_forward(self.norm("2", X), p["W_1"], p["b_1"], p["W_2"], p["b_2"])
        return self._project(self.norm("3", X), "W_U")

    def gradients(self, ids: ArrayLike, targets: ArrayLike) -> tuple[float, dict[str, Array]]:
        """Give the loss and its gradient by every parameter.

        Forwards as in `logits`, keeping each step; then the same steps backwards. At each `+` the gradient goes
        both ways: into the layer, and around it.

        >>> model = LanguageModel(np.random.default_rng(0), 5, 8, 2)
        >>> loss, found = model.gradients(np.array([[0, 1, 2]]), np.array([[1, 2, 3]]))
        >>> set(found) == set(model.parameters)
        True
        """
        p, h = self.parameters, self.num_heads
        X = self.embed(ids)
        N1 = self.norm("1", X)
        Q, K, V = self._projections(N1)
        joined = merge_heads(attention(Q, K, V, causal=True).output)
        X1 = X + self._project(joined, "W_O")
        N2 = self.norm("2", X1)
        X2 = X1 + feed_forward(N2, p["W_1"], p["b_1"], p["W_2"], p["b_2"])
        N3 = self.norm("3", X2)
        loss, d_logits = cross_entropy(self._project(N3, "W_U"), targets)

        g: dict[str, Array] = {}
        d_N3, g["W_U"] = linear_backward(N3, p["W_U"], d_logits)
        d_X2, g["gain_3"], g["bias_3"] = layer_norm_backward(X2, p["gain_3"], d_N3)
        d_N2, g["W_1"], g["b_1"], g["W_2"], g["b_2"] = feed_forward_backward(
            N2, p["W_1"], p["b_1"], p["W_2"], p["b_2"], d_X2
        )
        d_through, g["gain_2"], g["bias_2"] = layer_norm_backward(X1, p["gain_2"], d_N2)
        d_X1 = d_X2 + d_through  # around the feed-forward layer, and through it
        d_joined, g["W_O"] = linear_backward(joined, p["W_O"], d_X1)
        d_heads = attention_backward(Q, K, V, split_heads(d_joined, h), causal=True)
        d_N1 = np.zeros_like(N1)
        for name, d_head in zip(("W_Q", "W_K", "W_V"), d_heads, strict=True):
            d_part, g[name] = linear_backward(N1, p[name], merge_heads(d_head))
            d_N1 += d_part
        d_through, g["gain_1"], g["bias_1"] = layer_norm_backward(X, p["gain_1"], d_N1)
        g["table"] = embedding_backward(ids, d_X1 + d_through, len(p["table"]))
        return loss, g

    def _projections(self, X: Array) -> tuple[Array, Array, Array]:
        """Give Q, K and V, cut into heads: (texts, num_heads, n, d_k) each."""
        Q, K, V = (split_heads(self._project(X, name), self.num_heads) for name in ("W_Q", "W_K", "W_V"))
        return Q, K, V

    def _project(self, rows: Array, name: str) -> Array:
        """Multiply rows by the parameter `name`."""
        return project("LanguageModel", f"the product with {name}", rows, self.parameters[name])

    def generate(self, ids: Sequence[int], count: int, window: int) -> list[int]:
        """Write `count` more tokens, each time the most likely one, looking back `window` tokens.

        >>> len(LanguageModel(np.random.default_rng(0), 5, 8, 2).generate([0], count=3, window=4))
        4
        """
        who = "LanguageModel.generate"
        count, window = as_count(who, "count", count, least=0), as_count(who, "window", window)
        start = as_whole_numbers(who, "ids", ids, 0, len(self.parameters["table"]) - 1)
        if start.ndim != 1:
            raise ValueError(f"{who}: ids has shape {start.shape}; expected one text, (n,)")
        written: list[int] = start.tolist()
        for _ in range(count):
            seen = [written[-window:]]
            written.append(int(self.logits(seen)[0, -1].argmax()))
        return written


def train(
    model: LanguageModel, ids: ArrayLike, targets: ArrayLike, steps: int, rate: float = 0.003
) -> Iterator[tuple[int, float]]:
    """Train on all texts at every step, and yield the step's number and the loss before it.

    Parameters
    ----------
    ids, targets : (texts, n): the token at each position, and the one to guess there

    Examples
    --------
    >>> model = LanguageModel(np.random.default_rng(0), 5, 8, 2)
    >>> losses = [loss for _, loss in train(model, np.array([[0, 1, 2]]), np.array([[1, 2, 3]]), steps=5)]
    >>> losses[-1] < losses[0]
    True
    """
    require_kind("train", "model", model, LanguageModel, "a LanguageModel")
    steps = as_count("train", "steps", steps)
    return descend(AdamW(model.parameters, rate=rate), lambda: model.gradients(ids, targets), steps)
