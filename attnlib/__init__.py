"""attnlib: the mathematics of attention in small, readable NumPy.

    text -> tokens -> X -> Q, K, V -> scores -> scaled -> weights -> output -> heads

Everything here needs NumPy alone. Pictures (`attnlib.pictures`) and exercises (`attnlib.exercises`) are loaded
only when they are used.
"""

from importlib import import_module
from typing import Any

from attnlib.attention import AttentionResult, attention
from attnlib.heads import MultiHeadAttention, MultiHeadResult, merge_heads, split_heads
from attnlib.masks import causal_mask, padding_mask
from attnlib.positions import sinusoidal_positions
from attnlib.similarity import cosine_similarity, dot_products
from attnlib.softmax import entropy, softmax, softmax_jacobian
from attnlib.tokens import Vocabulary, embed, one_hot

__version__ = "0.1.0"


# Loaded on first use, so that `import attnlib` costs no more than the mathematics of chapters 01 to 08.
LATER = {
    "AdamW": "attnlib.adamw",
    "KeyValueCache": "attnlib.cache",
    "WorkedExample": "attnlib.examples",
    "abstract_3x3": "attnlib.examples",
    "attention_backward": "attnlib.gradients",
    "bae": "attnlib.examples",
    "blockwise_attention": "attnlib.blockwise",
    "catch_up": "attnlib.catching_up",
    "layer_norm": "attnlib.layers",
    "progress": "attnlib.exercises",
    "projector": "attnlib.screen",
    "soft_cap": "attnlib.softcap",
    "window_mask": "attnlib.windows",
    "write_a_poem": "attnlib.examples",
}


def __getattr__(name: str) -> Any:
    """Load a name of `LATER`."""
    if name in LATER:
        return getattr(import_module(LATER[name]), name)
    raise AttributeError(f"module 'attnlib' has no attribute {name!r}")


__all__ = [
    "AdamW",
    "AttentionResult",
    "KeyValueCache",
    "MultiHeadAttention",
    "MultiHeadResult",
    "Vocabulary",
    "WorkedExample",
    "abstract_3x3",
    "attention",
    "attention_backward",
    "bae",
    "blockwise_attention",
    "catch_up",
    "causal_mask",
    "cosine_similarity",
    "dot_products",
    "embed",
    "entropy",
    "layer_norm",
    "merge_heads",
    "one_hot",
    "padding_mask",
    "progress",
    "projector",
    "sinusoidal_positions",
    "soft_cap",
    "softmax",
    "softmax_jacobian",
    "split_heads",
    "window_mask",
    "write_a_poem",
]
