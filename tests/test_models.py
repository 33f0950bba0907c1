"""The small models that the chapters train: their gradients are right, and they learn what the chapters claim."""

import numpy as np
import pytest

from attnlib import block, senses
from attnlib.gradients import cross_entropy, numerical_gradient


def relative_error(a, b):
    return np.linalg.norm(a - b) / max(np.linalg.norm(a) + np.linalg.norm(b), 1e-6)


@pytest.mark.parametrize("use_positions", [True, False])
def test_every_gradient_of_the_language_model(use_positions):
    rng = np.random.default_rng(0)
    model = block.LanguageModel(rng, size=5, d_model=6, num_heads=2, use_positions=use_positions)
    for name in model.parameters:  # away from zeros and ones
        model.parameters[name] += 0.1 * rng.normal(size=model.parameters[name].shape)
    ids, targets = rng.integers(0, 5, size=(2, 4)), rng.integers(0, 5, size=(2, 4))
    loss, gradients = model.gradients(ids, targets)
    assert loss == pytest.approx(cross_entropy(model.logits(ids), targets)[0])
    for name, value in model.parameters.items():

        def loss_at(x, name=name):
            model.parameters[name] = x
            return cross_entropy(model.logits(ids), targets)[0]

        kept = value.copy()
        measured = numerical_gradient(loss_at, kept)
        model.parameters[name] = kept
        assert relative_error(gradients[name], measured) < 1e-6, name


@pytest.mark.parametrize("scale", [None, 2.0])
def test_every_gradient_of_the_sense_model(scale):
    rng = np.random.default_rng(0)
    model = senses.SenseModel(rng, d_model=4, spread=1.0, scale=scale)
    part = senses.Corpus(senses.corpus().ids[::997], senses.corpus().senses[::997])
    loss, gradients = model.gradients(part)
    assert loss == pytest.approx(cross_entropy(model.logits(part.ids), part.senses)[0])
    for name, value in model.parameters.items():

        def loss_at(x, name=name):
            model.parameters[name] = x
            return cross_entropy(model.logits(part.ids), part.senses)[0]

        kept = value.copy()
        measured = numerical_gradient(loss_at, kept)
        model.parameters[name] = kept
        assert relative_error(gradients[name], measured) < 1e-6, name


def test_the_language_model_cannot_see_the_future():
    rng = np.random.default_rng(0)
    model = block.LanguageModel(rng, size=7, d_model=8, num_heads=2)
    ids = rng.integers(0, 7, size=(1, 6))
    changed = ids.copy()
    changed[0, 4:] = (changed[0, 4:] + 3) % 7
    assert np.array_equal(model.logits(ids)[0, :4], model.logits(changed)[0, :4])


def test_the_corpus_gives_nothing_away_but_the_deciding_word():
    ids, sense = senses.corpus()
    deciding = {word for pairs in senses.DECIDING.values() for _, word in pairs}
    for word in senses.VOCABULARY.tokens:
        present = (ids == senses.VOCABULARY.ids([word])[0]).any(axis=1)
        shares = np.bincount(sense[present], minlength=3) / present.sum()
        assert (shares.max() == 1) == (word in deciding), word
        if word not in deciding:
            np.testing.assert_allclose(shares, 1 / 3)


def test_the_split_shares_no_sentence_and_holds_the_notes_sentence_out():
    train, held_out = senses.split(senses.corpus(), 400, np.random.default_rng(0))
    seen = set(map(tuple, train.ids))
    assert len(seen) == 400
    assert not seen & set(map(tuple, held_out.ids))
    assert tuple(senses.corpus().ids[0]) in set(map(tuple, held_out.ids))


@pytest.mark.parametrize("seed", range(10, 16))
def test_the_false_claim_becomes_true(seed):
    rng = np.random.default_rng(seed)
    train, held_out = senses.split(senses.corpus(), 400, rng)
    model = senses.SenseModel(rng)
    note = senses.corpus().ids[:1]
    assert abs(model.attend(note).weights[0, 0, 4] - 1 / 8) < 0.02
    for _ in senses.train(model, train, steps=100):
        pass
    weights = model.attend(note).weights[0, 0]
    assert weights.argmax() == 4
    assert weights[4] > 0.5
    assert model.accuracy(held_out) >= 0.95


@pytest.mark.parametrize("use_positions", [True, False])
def test_only_positions_tell_the_language_model_the_order(use_positions):
    model = block.LanguageModel(
        np.random.default_rng(0), size=5, d_model=8, num_heads=2, use_positions=use_positions
    )
    one, other = model.logits(np.array([[0, 1, 2]]))[0, -1], model.logits(np.array([[1, 0, 2]]))[0, -1]
    assert np.allclose(one, other) == (not use_positions)


def test_the_language_model_writes_what_its_last_position_finds_most_likely():
    model = block.LanguageModel(np.random.default_rng(7), size=9, d_model=8, num_heads=2)
    written = [4, 2]
    for _ in range(6):
        logits = model.logits(np.array([written[-3:]]))[0]
        written.append(int(logits[-1].argmax()))
    assert model.generate([4, 2], count=6, window=3) == written
    assert len({*written}) > 4  # it does not repeat itself: another position would have written something else
