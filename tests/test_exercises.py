"""Every exercise is proven: right answers pass, each named mistake is named, and mutants of the answer fail."""

import json
import re

import numpy as np
import pytest
from drawn import NOTEBOOKS
from exercise_variants import VARIANTS
from mutants import survey
from proof import ANSWERS

from attnlib import desk, solved
from attnlib.chapters import CHAPTERS
from attnlib.exercises import all_exercises, by_chapter, chapter05, check
from attnlib.exercises.kinds import ChoiceExercise, FunctionExercise, NumberExercise, OrderExercise
from attnlib.exercises.messages import catalogue

EVERY = list(all_exercises().values())
FUNCTIONS = [exercise for exercise in EVERY if isinstance(exercise, FunctionExercise)]
MISTAKES = [(exercise, name) for exercise in EVERY for name in exercise.mistakes]

# Mutants that change behaviour somewhere and are accepted all the same, each with the reason why that is right.
SURVIVORS = {}
KILLED = json.loads(ANSWERS.read_text(encoding="utf-8"))


def ident(value):
    return getattr(value, "id", value)


@pytest.mark.parametrize("exercise", EVERY, ids=ident)
def test_the_reference_passes(exercise):
    verdict = exercise.judge(exercise.reference)
    assert verdict.kind == "solved", verdict.text
    assert verdict.text.startswith("Right. ")


@pytest.mark.parametrize("exercise", EVERY, ids=ident)
def test_a_stub_is_not_started(exercise):
    def stub(*arguments): ...

    def half_a_stub(*arguments):
        raised = ...
        return raised

    stubs = [..., stub, half_a_stub] if isinstance(exercise, FunctionExercise) else [...]
    for untouched in stubs:
        verdict = exercise.judge(untouched)
        assert verdict.kind == "not-started"
        assert verdict.text == f'Not started. For a first hint: hint("{exercise.id}")'


@pytest.mark.parametrize(("exercise", "name"), MISTAKES, ids=ident)
def test_each_mistake_is_recognised_as_itself(exercise, name):
    verdict = exercise.judge(exercise.mistakes[name])
    assert (verdict.kind, verdict.mistake) == ("mistake", name), verdict.text


def test_every_mistake_can_be_recorded_on_a_desk(tmp_path, monkeypatch):
    (tmp_path / desk.MARKER).write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for exercise, name in MISTAKES:
        assert check(exercise.id, exercise.mistakes[name]).mistake == name
    known = solved.load(tmp_path).exercises
    assert {(exercise, name) for exercise in known for name in known[exercise].mistakes} == {
        (exercise.id, name) for exercise, name in MISTAKES
    }


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=ident)
def test_other_right_ways_pass(exercise):
    reference = exercise.reference

    def gives_a_list(*arguments):
        return np.asarray(reference(*arguments)).tolist()

    def gives_float32(*arguments):
        return np.asarray(reference(*arguments)).astype(np.float32)

    def computes_in_float32(*arguments):
        return reference(
            *(x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype == float else x for x in arguments)
        )

    def as_keywords_do_not_matter(*arguments, **unused):
        return reference(*arguments)

    ways = [gives_a_list, gives_float32, computes_in_float32, as_keywords_do_not_matter, *VARIANTS[exercise.id]]
    for way in ways:
        verdict = exercise.judge(way)
        assert verdict.kind == "solved", f"{way.__name__}: {verdict.text}"


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=ident)
def test_the_inputs_cannot_hide_a_mistake(exercise):
    for case in exercise.all_cases():
        for array in (x for x in case if isinstance(x, np.ndarray)):
            sizes = [n for n in array.shape if n > 1]
            assert len(set(sizes)) == len(sizes), f"two axes of {array.shape} are alike: a wrong one would fit"
    assert len(exercise.all_cases()) >= 4


@pytest.mark.parametrize("exercise", EVERY, ids=ident)
def test_the_texts_are_complete(exercise):
    texts = catalogue("en")["exercises"][exercise.id]
    assert texts["allows"].endswith((".", "?"))
    assert 2 <= len(texts["hints"]) <= 3
    assert set(texts["mistakes"]) == set(exercise.mistakes)
    assert len(set(texts["mistakes"].values())) == len(texts["mistakes"])
    assert set(texts.get("properties", {})) == {rule.name for rule in getattr(exercise, "properties", ())}
    assert ("why" in texts) == (not isinstance(exercise, FunctionExercise))
    assert exercise.answer()


def test_no_text_belongs_to_nothing():
    assert set(catalogue("en")["exercises"]) == set(all_exercises())


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=ident)
def test_mutants_of_the_answer_are_rejected(exercise, record_property):
    changed, survivors = survey(exercise)
    record_property("mutants", exercise.id)
    assert changed >= 2, "too few mutants to prove anything"
    assert {(exercise.id, survivor) for survivor in survivors} <= set(SURVIVORS)
    assert len(survivors) <= 0.05 * changed
    assert changed - len(survivors) == KILLED.get(exercise.id), "the stored count is old: run make proof"


def test_the_hunted_bug_is_real():
    scores = np.random.default_rng(0).normal(size=(3, 5))
    for lines, right in ((chapter05.HUNT, False), (chapter05.MENDED, True)):
        names = {"np": np, "scores": scores}
        exec("\n".join(lines), names)
        assert np.allclose(names["weights"].sum(axis=-1), 1) == right
    assert sum(a != b for a, b in zip(chapter05.HUNT, chapter05.MENDED, strict=True)) == 1


def code_cells(chapter):
    cells = json.loads((NOTEBOOKS / chapter.file).read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_every_exercise_stands_in_its_chapter_and_is_stored_as_not_started():
    found = {}
    for chapter in CHAPTERS:
        for cell in code_cells(chapter):
            for exercise in re.findall(r'check\("([^"]+)"', "".join(cell["source"])):
                shown = "".join("".join(output["data"]["text/plain"]) for output in cell["outputs"])
                assert shown == f'Not started. For a first hint: hint("{exercise}")'
                found.setdefault(chapter.number, []).append(exercise)
    assert found == by_chapter()


@pytest.mark.parametrize("chapter", sorted(set(by_chapter()) - {"00"}))  # 00 only shows how an exercise works
def test_each_chapter_has_enough_exercises_of_enough_kinds(chapter):
    exercises = [all_exercises()[name] for name in by_chapter()[chapter]]
    assert len(exercises) >= 4
    assert len({type(exercise) for exercise in exercises}) >= 2


def test_chapter_05_has_five_of_three_kinds_and_the_four_mistakes():
    exercises = [all_exercises()[name] for name in by_chapter()["05"]]
    assert {type(e) for e in exercises} == {FunctionExercise, NumberExercise, ChoiceExercise, OrderExercise}
    assert {"wrong-axis", "no-maximum", "over-everything", "no-exp"} <= set(
        all_exercises()["05-softmax-rows"].mistakes
    )


def test_the_sentence_of_the_wrong_axis():
    verdict = check("05-softmax-rows", chapter05.wrong_axis)
    assert repr(verdict) == "Not yet. Your columns sum to 1: you normalised over the queries. Each row should."
