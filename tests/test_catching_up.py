"""Whoever comes late can go on from any section, and loses nothing of their own."""

import ast
import contextlib
import io
import json

import nbformat
import numpy as np
import pytest
import refresh

import attnlib
from attnlib import catching_up, desk, solved
from attnlib.catching_up import CatchUpError, line, load
from attnlib.cells import in_sections, source_of
from attnlib.chapters import CHAPTERS

NOTEBOOKS = desk.course_root() / "notebooks"


@pytest.fixture(autouse=True)
def print_options():
    """Undo what a chapter's first cell does to the rest of the tests."""
    with np.printoptions():
        yield


def code_of(file):
    """Give the code cells of a chapter by section."""
    found = {}
    for section, cell in in_sections(json.loads((NOTEBOOKS / file).read_text(encoding="utf-8"))):
        if cell["cell_type"] == "code":
            found.setdefault(section, []).append(cell)
    return found


SECTIONS = [(c.number, section) for c in CHAPTERS[1:] for section in code_of(c.file) if section]
FILES = {c.number: c.file for c in CHAPTERS}


def shown(cell):
    """Give the text of a cell's stored outputs."""
    texts = [
        "".join(output["text"]) if "text" in output else "".join(output["data"]["text/plain"]) + "\n"
        for output in cell["outputs"]
    ]
    return "".join(texts)


def run(source, names):
    """Run a cell and give the text of what it shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if value is not None:
                print(repr(value))
    return out.getvalue()


def test_every_chapter_has_sections_to_begin_with():
    assert {chapter for chapter, _ in SECTIONS} == {c.number for c in CHAPTERS[1:]}
    assert len(SECTIONS) > 80


@pytest.mark.parametrize(("chapter", "section"), SECTIONS)
def test_a_section_shows_the_same_without_the_cells_before_it(chapter, section, capsys, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    names = {}
    load(chapter, section, names)
    said = capsys.readouterr()
    assert f"Loaded for section {section} of chapter {chapter}: what the chapter imports" in said.out
    assert said.out.count("\n") <= 2
    assert said.err == ""
    for cell in code_of(FILES[chapter])[section]:
        now = run(source_of(cell), names)
        if "nbval-ignore-output" not in cell["metadata"].get("tags", []):
            assert now == shown(cell)


def test_it_works_in_the_notebook_that_calls_it(capsys):
    names = {}
    exec(line("05", 4).removeprefix("# "), names)
    said = "Loaded for section 4 of chapter 05: what the chapter imports; tokens, scaled, row, raised, weights.\n"
    assert capsys.readouterr().out == said
    assert names["scaled"].shape == (3, 3)
    assert not {"my_number", "scaled"} & set(vars(catching_up))


def test_functions_see_what_is_changed_later():
    names = {}
    load("01", 5, names)
    names["table"] = names["table"] + 100.0
    assert names["nearest"]([0.0, 0.0], without=[])[0] > 100


def test_answers_stay_as_they_are_and_are_named(capsys):
    def softmax_rows(scores):
        return scores

    names = {"softmax_rows": softmax_rows, "my_number": 0.6, "my_choice": ..., "mine": 5, "row": "mine"}
    load("05", 7, names)
    said = capsys.readouterr().out
    assert said.endswith(" As in the course again: row. Your own my_number and softmax_rows were kept.\n")
    assert names["softmax_rows"] is softmax_rows
    assert (names["my_number"], names["my_choice"], names["mine"]) == (0.6, ..., 5)
    assert names["row"].shape == (3,)
    load("05", 5, names)
    assert capsys.readouterr().out.endswith(" Your own my_number was kept.\n")


def test_stubs_are_not_made(capsys):
    names = {}
    load("05", 9, names)
    assert not {"softmax_rows", "my_number", "my_choice", "my_order", "jacobian"} & set(names)
    assert "Your own" not in capsys.readouterr().out


def test_nothing_is_recorded(tmp_path, monkeypatch):
    desk.lay_out(tmp_path, desk.course_root())
    monkeypatch.chdir(tmp_path / "notebooks")
    monkeypatch.setattr(solved, "record", lambda *_, **__: pytest.fail("recorded"))
    load("06", 6, {"my_number": 0.17, "my_choice": "고파서"})


def test_training_is_said_before_it_begins(capsys):
    load("10", 7, {})
    assert capsys.readouterr().out.startswith(
        "A model is trained on the way: this takes some seconds.\nLoaded for"
    )
    load("09", 3, {})
    assert "trained" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("chapter", "section", "words"),
    [
        ("05", 40, "catch_up: chapter 05 has no section 40: choose one from 1 to 9."),
        ("05", 0, "catch_up: chapter 05 has no section 0: choose one from 1 to 9."),
        (5, "4", "catch_up: chapter 05 has no section '4': choose one from 1 to 9."),
        ("05", True, "catch_up: chapter 05 has no section True: choose one from 1 to 9."),
        ("00", 1, "catch_up: chapter 00 has no section 1: its sections have no numbers."),
        ("13", 1, "catch_up: There is no chapter '13': choose one of 00-start-here, "),
        (None, 1, "catch_up: There is no chapter 'None': choose one of 00-start-here, "),
    ],
)
def test_what_is_not_there_is_one_sentence(chapter, section, words):
    names = {"row": 1}
    with pytest.raises(CatchUpError) as error:
        load(chapter, section, names)
    assert str(error.value).startswith(words)
    assert error.value._render_traceback_() == [str(error.value)]
    assert names == {"row": 1}


def test_in_a_real_kernel_only_the_sentences_are_shown(tmp_path):
    sources = ['from attnlib import catch_up\ncatch_up("10", 7)', 'catch_up("10", 70)']
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[1].metadata["tags"] = ["raises-exception"]
    notebook = nbformat.v4.new_notebook(cells=cells)
    refresh.execute(notebook, tmp_path)
    outputs = refresh.merge_streams(notebook.cells[0].outputs)
    assert [output.output_type for output in outputs] == ["stream"]
    assert outputs[0].text.count("\n") == 2
    assert notebook.cells[1].outputs[0].traceback == [
        "catch_up: chapter 10 has no section 70: choose one from 1 to 7."
    ]


def test_it_is_part_of_the_package():
    assert attnlib.catch_up is catching_up.catch_up
