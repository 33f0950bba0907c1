"""Any input at all, for what is made first and used then: the optimiser, the models, the cache, the checks.

As in test_fuzz: each computes, or raises our own error, and nothing else happens. What a model does on its way may
be refused in the name of the step that would have failed.
"""

import ast
import inspect
import json
from pathlib import Path

import numpy as np
import pytest
import test_fuzz
import test_fuzz_pictures
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from test_fuzz import CALLS, DTYPES, FINITE, MODERATE, NUMBERS, ODD, attempt, copies, floats, same

import attnlib
from attnlib import MultiHeadAttention, block, exercises, explorers, gradients, minilm, pictures, senses
from attnlib.adamw import AdamW
from attnlib.catching_up import CatchUpError

ROOT = Path(__file__).resolve().parents[1]
FEWER = settings.default.max_examples // 4  # for what takes long

RNG = st.integers(0, 3).map(np.random.default_rng)
COUNT, FEW = st.integers(-1, 8), st.integers(-1, 3)
FLAG = st.booleans()
MAYBE = st.one_of(st.none(), FINITE)


def whole(shapes, high):
    return arrays(np.int64, st.sampled_from(shapes), elements=st.integers(-1 if high % 3 else 0, high))


def adamw(parameters, gradients, rate, betas, eps, decay):
    """Take two steps, on copies: give the parameters and what the optimiser remembers."""
    own = {name: copies(one) for name, one in parameters.items()} if isinstance(parameters, dict) else parameters
    optimiser = AdamW(own, rate=rate, betas=betas, eps=eps, decay=decay)
    for _ in range(2):
        before = [copies(one) for one in own.values()]
        try:
            optimiser.step(gradients)
        except (ValueError, TypeError):
            assert all(map(same, before, own.values())), "a step that failed moved something"
            raise
    return (*own.values(), *optimiser.means.values(), *optimiser.squares.values())


def heads(W_Q, W_K, W_V, W_O, num_heads, num_kv_heads, X, context, mask, causal):
    result = MultiHeadAttention(W_Q, W_K, W_V, W_O, num_heads, num_kv_heads=num_kv_heads)(X, context, mask, causal)
    return result.output, result.weights


def drawn_heads(rng, d_model, num_heads, num_kv_heads, dtype):
    made = MultiHeadAttention.from_rng(rng, d_model, num_heads, num_kv_heads=num_kv_heads, dtype=dtype)
    return made.W_Q, made.W_K, made.W_V, made.W_O


def split(everything, n_train, rng):
    return tuple(part.ids for part in senses.split(everything, n_train, rng))


def sense_model(rng, d_model, spread, scale, ids, labels, steps, rate):
    model = senses.SenseModel(rng, d_model, spread, scale)
    part = senses.Corpus(ids, labels)
    losses = [loss for _, loss in senses.train(model, part, steps, rate)]
    return (*losses, model.logits(ids), model.attend(ids).weights, model.accuracy(part), model.gradients(part)[0])


def language_model(rng, size, d_model, num_heads, use_positions, ids, targets, steps, rate):
    model = block.LanguageModel(rng, size, d_model, num_heads, use_positions=use_positions)
    losses = [loss for _, loss in block.train(model, ids, targets, steps, rate)]
    return (*losses, model.logits(ids), model.embed(ids), model.gradients(ids, targets)[0])


def written(ids, count, window):
    model = block.LanguageModel(np.random.default_rng(0), size=4, d_model=2, num_heads=1)
    return np.array(model.generate(ids, count, window))


def block_parts(place, X):
    model = block.LanguageModel(np.random.default_rng(0), size=4, d_model=2, num_heads=1)
    return (model.norm(place, X), model.attend(X).weights)


def trained(model, part, steps):
    return tuple(loss for _, loss in senses.train(model, part, steps))


def written_by(model, ids, targets, steps):
    return tuple(loss for _, loss in block.train(model, ids, targets, steps))


def beginning(part):
    return senses.Corpus(part.ids[:2], part.senses[:2])


FUNCTIONS = st.sampled_from(
    [
        lambda x: (x * x / 1e10).sum() if np.abs(x).max() < 1e100 else 0.0,
        lambda x: x.ravel()[0],
        lambda x: float(np.sign(x).sum()) * 1e307,
        lambda x: "text",
        lambda x: None,
        lambda x: np.nan,
        lambda x: np.float32(3),
        lambda x: x.fill(0) or 1,
        np.copy,
        np.sum,
    ]
)
ONES = st.fixed_dictionaries({"a": floats((2, 3), FINITE), "b": floats((), FINITE)})
ONES_32 = st.fixed_dictionaries({"a": floats((2, 3), FINITE, np.float32), "b": floats((), FINITE, np.float32)})
SENTENCES = st.sampled_from([senses.corpus().ids[:3], senses.corpus().ids[-2:].tolist(), senses.corpus().ids[:1]])
CORPORA = st.sampled_from([senses.corpus(), senses.Corpus(senses.corpus().ids[:9], senses.corpus().senses[:9])])
OURS = r"attention|attention_backward|layer_norm|layer_norm_backward|feed_forward|feed_forward_backward"
OURS += r"|linear_backward|embedding_backward|cross_entropy|softmax_backward|AdamW|train"
WEIGHTS = floats(st.sampled_from([(2, 2), (2, 4), (4, 2), (3, 4)]), FINITE)
MODELS = {
    "numerical_gradient": (
        gradients.numerical_gradient,
        "numerical_gradient",
        {"f": FUNCTIONS, "x": NUMBERS, "step": FINITE},
    ),
    "AdamW": (
        adamw,
        "AdamW",
        {
            "parameters": ONES | ONES_32,
            "gradients": ONES,
            "rate": FINITE,
            "betas": st.tuples(*[st.sampled_from([0, 0.5, 0.9, 1 - 1e-16, 1, -0.1])] * 2),
            "eps": FINITE,
            "decay": FINITE,
        },
    ),
    "MultiHeadAttention": (
        heads,
        "(MultiHeadAttention|attention)",
        {
            **dict.fromkeys(["W_Q", "W_K", "W_V", "W_O"], WEIGHTS),
            "num_heads": FEW,
            "num_kv_heads": st.one_of(st.none(), FEW),
            "X": NUMBERS,
            "context": st.one_of(st.none(), NUMBERS),
            "mask": st.one_of(st.none(), test_fuzz.LIKELY["mask"]),
            "causal": FLAG,
        },
    ),
    "MultiHeadAttention.from_rng": (
        drawn_heads,
        "MultiHeadAttention",
        {
            "rng": RNG,
            "d_model": COUNT,
            "num_heads": FEW,
            "num_kv_heads": st.one_of(st.none(), FEW),
            "dtype": st.sampled_from([np.float32, float, "f4", int, np.float16]),
        },
    ),
    "split": (split, "split", {"everything": CORPORA, "n_train": st.integers(-1, 7000), "rng": RNG}),
    "SenseModel": (
        sense_model,
        f"(SenseModel|{OURS})",
        {
            "rng": RNG,
            "d_model": COUNT,
            "spread": FINITE,
            "scale": MAYBE,
            "ids": SENTENCES,
            "labels": whole([(3,), (2,), (1,)], 2),
            "steps": FEW,
            "rate": FINITE,
        },
    ),
    "LanguageModel": (
        language_model,
        f"(LanguageModel|{OURS})",
        {
            "rng": RNG,
            "size": FEW,
            "d_model": COUNT,
            "num_heads": FEW,
            "use_positions": FLAG,
            "ids": whole([(1, 3), (2, 2), (2,)], 3),
            "targets": whole([(1, 3), (2, 2), (2,)], 3),
            "steps": FEW,
            "rate": FINITE,
        },
    ),
    "LanguageModel.generate": (
        written,
        r"LanguageModel",
        {"ids": st.lists(st.integers(-1, 4), max_size=4), "count": FEW, "window": FEW},
    ),
    "parts of LanguageModel": (
        block_parts,
        "(LanguageModel|layer_norm|attention)",
        {"place": st.sampled_from(["1", "3", "4", 1]), "X": NUMBERS},
    ),
    "train of senses": (
        trained,
        "train",
        {
            "model": RNG.map(senses.SenseModel),
            "part": CORPORA.map(beginning),
            "steps": FEW,
        },
    ),
    "train of block": (
        written_by,
        f"({OURS}|LanguageModel)",
        {
            "model": RNG.map(lambda rng: block.LanguageModel(rng, 4, 2, 1)),
            "ids": whole([(1, 3), (2, 2)], 3),
            "targets": whole([(1, 3), (2, 2)], 3),
            "steps": FEW,
        },
    ),
}


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
def test_anything(name, data):
    call, who, likely = MODELS[name]
    strange = data.draw(st.sampled_from([None, None, *likely]))
    arguments = {
        parameter: data.draw(ODD if parameter == strange else strategy, label=parameter)
        for parameter, strategy in likely.items()
    }
    attempt(who, call, **arguments)


# --- what fits is computed, and agrees ----------------------------------------------------------------


@given(st.data())
def test_adamw(data):
    dtype = data.draw(DTYPES)
    start = data.draw(floats((3,), MODERATE, dtype))
    history = data.draw(st.lists(floats((3,), MODERATE, dtype), min_size=1, max_size=4))
    rate, decay = data.draw(st.floats(0, 0.5)), data.draw(st.floats(0, 0.5))
    betas = data.draw(st.tuples(st.floats(0, 0.95), st.floats(0, 0.95)))
    parameters = {"w": start.copy()}
    optimiser = AdamW(parameters, rate=rate, betas=betas, eps=0.01, decay=decay)
    for gradient in history:
        assert attempt("AdamW", optimiser.step, {"w": gradient}) is None
    for place, x in enumerate(start.tolist()):
        mean = square = 0.0
        for step, gradient in enumerate(history, start=1):
            g = float(gradient[place])
            mean = betas[0] * mean + (1 - betas[0]) * g
            square = betas[1] * square + (1 - betas[1]) * g * g
            x -= rate * decay * x
            x -= rate * (mean / (1 - betas[0] ** step)) / ((square / (1 - betas[1] ** step)) ** 0.5 + 0.01)
        assert parameters["w"][place] == pytest.approx(x, abs=4000 * float(np.finfo(dtype).eps))


@given(arrays(np.float64, st.sampled_from([(), (2,), (2, 2)]), elements=MODERATE))
def test_numerical_gradient(x):
    found = attempt("numerical_gradient", gradients.numerical_gradient, lambda z: float((z**2).sum()), x, 0.5)
    np.testing.assert_allclose(found, 2 * x, rtol=0, atol=1e-12)  # of a square, a long step is no worse


# --- the real model, and the checks -------------------------------------------------------------------

TEXTS = st.one_of(st.text(max_size=12), st.text(st.characters(categories=["Cs", "Lo", "So", "Cc"]), max_size=4))


@pytest.fixture(scope="module")
def real():
    try:
        return minilm.load()
    except minilm.WeightsError:
        pytest.skip("the weights are not installed: make model installs them")


@settings(max_examples=FEWER)
@given(text=st.one_of(TEXTS, ODD), X=NUMBERS, layer=FEW, k=FEW)
def test_the_real_model_takes_any_text(real, text, X, layer, k):
    attempt("MiniLM", real.tokens, text)
    attempt("MiniLM", real.nearest, text, k)
    attempt("MiniLM", real.values, X, layer)
    vector = attempt("MiniLM", real.sentence, text)
    if vector is not None:
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        assert np.isfinite(real.forward(text).weights).all()


EXERCISES = exercises.all_exercises()


@given(name=st.sampled_from(sorted(EXERCISES)), given_=ODD, called=st.booleans())
def test_a_check_takes_any_answer(name, given_, called):
    verdict = EXERCISES[name].judge((lambda *arguments: given_) if called else given_)
    assert verdict.text == repr(verdict) != ""
    if called:
        assert verdict.kind in ("not-started", "mistake", "wrong")  # what looks at nothing cannot be right


@given(name=ODD, section=ODD)
def test_an_unknown_name_is_said(name, section):
    assert attempt("real_model", explorers.real_model, name) is None
    assume(name not in (*EXERCISES, *range(13)) if isinstance(name, (str, int)) else True)
    for call in (exercises.hint, exercises.answer, lambda name: exercises.check(name, ...)):
        with pytest.raises(ValueError, match=r"^There is no exercise .* Did you mean: "):
            call(name)
    with pytest.raises(CatchUpError, match=r"^catch_up: \S.*"):
        attnlib.catch_up(name, section)


# --- nothing is left out ------------------------------------------------------------------------------

USED = {  # what the calls above are made of
    *(call for call, _ in CALLS.values()),
    *(getattr(pictures, name) for name in test_fuzz_pictures.CALLS),
    *(
        AdamW,
        MultiHeadAttention,
        MultiHeadAttention.from_rng.__func__,
        attnlib.KeyValueCache,
        gradients.numerical_gradient,
    ),
    *(senses.SenseModel, senses.split, senses.train, block.LanguageModel, block.train),
    *(attnlib.Vocabulary.ids, attnlib.Vocabulary.words),
    *(exercises.check, exercises.hint, exercises.answer, explorers.real_model, attnlib.catch_up),
}
WITHOUT = {  # what has no fuzzing, and why
    "attnlib.AttentionResult": "a result: it is given, never asked for",
    "attnlib.MultiHeadResult": "a result: it is given, never asked for",
    "attnlib.WorkedExample": "holds the printed figures of the notes, which test_mathematics compares",
    "attnlib.projector": "has one argument, True or False; its one bad input is in test_bad_input",
    "attnlib.minilm.load": "reads files: test_minilm breaks them one by one",
}


def names_in(notebook):
    """Give what a notebook takes from attnlib: dotted name → object."""
    found, known = {}, {}
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    trees = [ast.parse("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"]
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attnlib"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                module = __import__(node.module, fromlist=[alias.name])  # imports it, if it is a module, too
                known[alias.asname or alias.name] = whole, getattr(module, alias.name)
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Name) and node.id in known:
            whole, one = known[node.id]
            found[whole] = one
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            whole, one = known[node.value.id]
            found[f"{whole}.{node.attr}"] = getattr(one, node.attr)
    return found


PUBLIC = {f"attnlib.{name}": getattr(attnlib, name) for name in attnlib.__all__}
for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
    PUBLIC |= names_in(path)
PUBLIC = {
    name: one
    for name, one in PUBLIC.items()
    if callable(one) and (inspect.isclass(one) or inspect.signature(one).parameters)
}


def test_every_function_that_a_learner_meets_is_here_or_has_a_reason():
    missing = sorted(
        name for name, one in PUBLIC.items() if getattr(one, "__func__", one) not in USED and name not in WITHOUT
    )
    assert missing == []
    assert len(PUBLIC) > 60
    assert all(PUBLIC[name] not in USED for name in WITHOUT)
