"""Chapter 12's real model, one text forwards, against the same weights in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attnlib import minilm
from attnlib.checks import Array
from benchmarks import peers
from benchmarks.timing import Measured, interleave, plain, ratio

SENTENCE = "The animal didn't cross the street because it was too tired."
TEXTS = {"a sentence": SENTENCE, "a page": " ".join([SENTENCE] * 12)}


def measure(quick: bool) -> Measured:
    """Time a short and a long text, from the words to the last layer's rows."""
    try:
        model = minilm.load()
    except minilm.WeightsError as error:
        print(f"The lines of chapter 12 are left out. {error}")
        return Measured([])
    torch = peers.torch()
    figures = []
    for name, text in TEXTS.items():
        calls: dict[str, Callable[[], Array]] = {"attnlib": lambda text=text: model.forward(text).hidden[-1]}
        if torch:
            calls["torch"] = torch_forward(torch, model, text)
            peers.require_equal(f"{name} in torch", calls["attnlib"](), calls["torch"](), 1e-4)
        times = interleave(calls, 1 if quick else 15, repeat=1 if quick or name == "a page" else 5)
        what = f"MiniLM, {name} of {len(model.tokens(text))} tokens"
        figures.append(plain(f"{what}: milliseconds", "ms", [1e3 * t for t in times["attnlib"]]))
        if torch:
            figures.append(ratio(f"{what}: attnlib / torch", times["attnlib"], times["torch"], "≤ 2"))
    return Measured(figures)


def torch_forward(torch: Any, model: minilm.MiniLM, text: str) -> Callable[[], Array]:
    """Give a function that does in torch what `MiniLM.forward` does, but keeps only the last layer's rows."""
    W = {name: torch.tensor(array) for name, array in model.tensors.items()}
    f, d_model, heads = torch.nn.functional, model.embedding_table.shape[1], model.num_heads

    def norm(X: Any, name: str) -> Any:
        gain, bias = W[f"{name}.LayerNorm.weight"], W[f"{name}.LayerNorm.bias"]
        return f.layer_norm(X, (d_model,), gain, bias, model.eps)

    def linear(X: Any, name: str) -> Any:
        return f.linear(X, W[f"{name}.weight"], W[f"{name}.bias"])

    def split(X: Any) -> Any:
        return X.view(len(X), heads, -1).transpose(0, 1)[None]  # (1, heads, n, d_k)

    def forward() -> Array:
        with torch.inference_mode():
            ids = torch.tensor(model.tokenizer.encode(text).ids)
            e = "embeddings"
            X = W[f"{e}.word_embeddings.weight"][ids] + W[f"{e}.position_embeddings.weight"][: len(ids)]
            X = norm(X + W[f"{e}.token_type_embeddings.weight"][0], e)
            for layer in range(model.num_layers):
                name = f"encoder.layer.{layer}"
                Q, K, V = (split(linear(X, f"{name}.attention.self.{part}")) for part in ("query", "key", "value"))
                gathered = f.scaled_dot_product_attention(Q, K, V)[0].transpose(0, 1).reshape(len(ids), d_model)
                X = norm(X + linear(gathered, f"{name}.attention.output.dense"), f"{name}.attention.output")
                inner = f.gelu(linear(X, f"{name}.intermediate.dense"))
                X = norm(X + linear(inner, f"{name}.output.dense"), f"{name}.output")
            return X.numpy()

    return forward
