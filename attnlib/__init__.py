"""attnlib: the mathematics of attention in small, readable NumPy.

    text -> tokens -> X -> Q, K, V -> scores -> scaled -> weights -> output -> heads

Everything here needs NumPy alone. Pictures (`attnlib.pictures`) and exercises (`attnlib.exercises`) are loaded
only when they are used.
"""

from typing import Any

from attnlib.attention import AttentionResult, attention
from attnlib.examples import WorkedExample, abstract_3x3, bae, write_a_poem
from attnlib.heads import MultiHeadAttention, MultiHeadResult, merge_heads, split_heads
from attnlib.masks import causal_mask, padding_mask
from attnlib.positions import sinusoidal_positions
from attnlib.similarity import cosine_similarity, dot_products
from attnlib.softmax import entropy, softmax, softmax_jacobian
from attnlib.tokens import Vocabulary, embed, one_hot

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load `attnlib.progress` on first use: it needs the exercises, which the mathematics does not."""
    if name == "progress":
        from attnlib.exercises import progress

        return progress
    raise AttributeError(f"module 'attnlib' has no attribute {name!r}")


__all__ = [
    "AttentionResult",
    "MultiHeadAttention",
    "MultiHeadResult",
    "Vocabulary",
    "WorkedExample",
    "abstract_3x3",
    "attention",
    "bae",
    "causal_mask",
    "cosine_similarity",
    "dot_products",
    "embed",
    "entropy",
    "merge_heads",
    "one_hot",
    "padding_mask",
    "sinusoidal_positions",
    "softmax",
    "softmax_jacobian",
    "split_heads",
    "write_a_poem",
]
