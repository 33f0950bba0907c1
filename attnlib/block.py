"""A transformer block, and a language model made of one (chapter 10)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnlib.adamw import AdamW
from attnlib.attention import AttentionResult, attention
from attnlib.checks import Array
from attnlib.gradients import attention_backward, cross_entropy, embedding_backward, linear_backward
from attnlib.heads import merge_heads, split_heads
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
        self.num_heads, self.use_positions = num_heads, use_positions
        wide = 4 * d_model
        shapes = dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (d_model, d_model))
        shapes |= {"W_1": (d_model, wide), "W_2": (wide, d_model), "W_U": (d_model, size)}
        p = {"table": rng.normal(size=(size, d_model))}
        p |= {name: rng.normal(size=shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}
        p |= {"b_1": np.zeros(wide), "b_2": np.zeros(d_model)}
        for place in ("1", "2", "3"):  # before attention, before feed-forward, before W_U
            p |= {f"gain_{place}": np.ones(d_model), f"bias_{place}": np.zeros(d_model)}
        self.parameters = p

    def embed(self, ids: Array) -> Array:
        """Look up the tokens and add their positions: (texts, n) → (texts, n, d_model).

        >>> LanguageModel(np.random.default_rng(0), 5, 8, 2).embed(np.array([[0, 1]])).shape
        (1, 2, 8)
        """
        X = self.parameters["table"][ids]
        return X + sinusoidal_positions(*X.shape[-2:]) if self.use_positions else X

    def norm(self, place: str, X: Array) -> Array:
        """Apply the layer norm of one of the three places.

        >>> model = LanguageModel(np.random.default_rng(0), 5, 8, 2)
        >>> abs(model.norm("1", np.arange(8.0)[None]).mean()) < 1e-9
        np.True_
        """
        return layer_norm(X, self.parameters[f"gain_{place}"], self.parameters[f"bias_{place}"])

    def attend(self, X: Array) -> AttentionResult:
        """Let each row attend to itself and to what came before, in every head.

        >>> model = LanguageModel(np.random.default_rng(0), 5, 8, 2)
        >>> model.attend(model.norm("1", model.embed(np.array([[0, 1, 2]])))).weights.shape
        (1, 2, 3, 3)
        """
        Q, K, V = (split_heads(X @ self.parameters[name], self.num_heads) for name in ("W_Q", "W_K", "W_V"))
        return attention(Q, K, V, causal=True)

    def logits(self, ids: Array) -> Array:
        """Give scores for the next token at every position: (texts, n) → (texts, n, size).

        >>> LanguageModel(np.random.default_rng(0), 5, 8, 2).logits(np.array([[0, 1]])).shape
        (1, 2, 5)
        """
        p = self.parameters
        X = self.embed(ids)
        X = X + merge_heads(self.attend(self.norm("1", X)).output) @ p["W_O"]
        X = X + feed_forward(self.norm("2", X), p["W_1"], p["b_1"], p["W_2"], p["b_2"])
        return self.norm("3", X) @ p["W_U"]

    def gradients(self, ids: Array, targets: Array) -> tuple[float, dict[str, Array]]:
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
        Q, K, V = (split_heads(N1 @ p[name], h) for name in ("W_Q", "W_K", "W_V"))
        joined = merge_heads(attention(Q, K, V, causal=True).output)
        X1 = X + joined @ p["W_O"]
        N2 = self.norm("2", X1)
        X2 = X1 + feed_forward(N2, p["W_1"], p["b_1"], p["W_2"], p["b_2"])
        N3 = self.norm("3", X2)
        loss, d_logits = cross_entropy(N3 @ p["W_U"], targets)

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

    def generate(self, ids: list[int], count: int, window: int) -> list[int]:
        """Write `count` more tokens, each time the most likely one, looking back `window` tokens.

        >>> len(LanguageModel(np.random.default_rng(0), 5, 8, 2).generate([0], count=3, window=4))
        4
        """
        written = list(ids)
        for _ in range(count):
            seen = np.array([written[-window:]])
            written.append(int(self.logits(seen)[0, -1].argmax()))
        return written


def train(
    model: LanguageModel, ids: Array, targets: Array, steps: int, rate: float = 0.003
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
    optimiser = AdamW(model.parameters, rate=rate)
    for step in range(1, steps + 1):
        loss, gradients = model.gradients(ids, targets)
        optimiser.step(gradients)
        yield step, loss
