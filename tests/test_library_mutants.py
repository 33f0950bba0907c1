"""The mutants of attnlib: the table is sound, what is stored belongs to it, and the judge tells red from green."""

import ast
import json

import pytest
from library_mutants import (
    KNOWN_BY,
    MUTANTS,
    RESULTS,
    ROOT,
    SURVIVORS,
    Copy,
    Mutant,
    claims,
    notebook_of,
    paths_of,
)

STORED = json.loads(RESULTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.key)
def test_each_mutant_changes_one_place_of_its_module(mutant):
    text = (ROOT / "attnlib" / f"{mutant.module}.py").read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"change tests/library_mutants.py: {mutant.old!r} is not there once"
    changed = text.replace(mutant.old, mutant.new)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
    for path in [*paths_of(mutant.module), *([notebook_of(mutant.claim)] if mutant.claim else [])]:
        assert (ROOT / path).is_file()


def test_there_are_many_and_no_two_alike():
    assert len({mutant.key for mutant in MUTANTS}) == len(MUTANTS) >= 60
    assert {mutant.module for mutant in MUTANTS} == set(KNOWN_BY)


def test_the_claims_are_what_each_chapter_says_aloud():
    numbers = [path.name[:2] for path in sorted((ROOT / "notebooks").glob("*.ipynb"))][1:]  # 00 claims nothing
    assert list(claims()) == [f"{number}.{place}" for number in numbers for place in (1, 2, 3)]
    assert claims()["05.2"] == (
        "Subtracting the row's maximum changes nothing in the result and prevents overflow."
    )
    assert {mutant.claim for mutant in MUTANTS} - {""} == set(claims())


def test_the_stored_results_are_those_of_this_table():
    message = "run make mutants (or make mutants ARGS=--new)"
    assert {key: found["claim"] for key, found in STORED.items()} == {m.key: m.claim for m in MUTANTS}, message


def test_nothing_survives_without_a_reason():
    assert {key for key, found in STORED.items() if not found["test"]} == set(SURVIVORS)
    assert all(reason.strip() for reason in SURVIVORS.values())


def test_every_claim_has_a_mutant_that_turns_its_notebook_red():
    assert {found["claim"] for found in STORED.values() if found["notebook"]} == set(claims())


def test_the_judge_tells_red_from_green(tmp_path):
    copy = Copy(tmp_path)
    path = tmp_path / "attnlib" / "positions.py"
    whole = path.read_bytes()
    red = copy.judge(Mutant("positions", "10000.0 **", "100.0 **", "01.3"))
    assert red["test"].startswith(("tests/", "attnlib/"))
    assert red["notebook"].startswith("notebooks/01-embeddings.ipynb::Cell")
    green = copy.judge(Mutant("positions", "10000.0 **", "1e4 **", "01.3"))
    assert (green["test"], green["notebook"]) == (None, None)
    assert path.read_bytes() == whole
