"""The evening before: "Ready", or one sentence for each thing that is missing."""

import json
import os
import shutil
import socket

import pytest

import attnlib.__main__ as program
from attnlib import desk, environment, live, minilm, ready

COURSE = desk.course_root()


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Give a course of its own, with a desk, in which nothing is missing."""
    root = tmp_path / "course"
    for name in ("notebooks", "images"):
        shutil.copytree(COURSE / name, root / name)
    for folder in ready.BUILT:
        (root / folder).mkdir()
        for path in desk.chapter_files(root / "notebooks"):
            (root / folder / f"{path.stem}.html").write_text("page")
    (root / "slides" / "index.html").write_text("index")
    monkeypatch.setattr(desk, "course_root", lambda: root)
    monkeypatch.setenv("ATTNLIB_DESK", str(tmp_path / "desk"))
    desk.lay_out(tmp_path / "desk", root)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setattr(ready, "PORT", port)
    return root


def test_nothing_is_missing(course, capsys):
    assert ready.missing("05", ready.PORT) == []
    assert ready.missing(None, ready.PORT) == []
    assert ready.sentence("5") == f"Ready: 05-softmax. {ready.PROJECTOR}"
    assert ready.sentence() == f"Ready: all chapters. {ready.PROJECTOR}"


def test_the_command_says_ready(course, capsys):
    assert program.main(["ready", "05"]) == 0
    assert capsys.readouterr() == (f"Ready: 05-softmax. {ready.PROJECTOR}\n", "")
    assert program.main(["ready"]) == 0
    assert capsys.readouterr().out.startswith("Ready: all chapters.")


def test_the_command_says_what_is_missing(course, capsys):
    shutil.rmtree(course / "slides")
    (course / "handout" / "05-softmax.html").unlink()
    assert program.main(["ready", "05"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "slides/ lacks 05-softmax.html, index.html: make slides builds them (on Windows: py course.py slides).",
        "handout/ lacks 05-softmax.html: make handout builds them (on Windows: py course.py handout).",
    ]
    assert program.main(["ready", "40"]) == 1
    assert capsys.readouterr().err.startswith("There is no chapter '40': ")


def test_pages_older_than_the_notebook(course):
    page = course / "slides" / "05-softmax.html"
    os.utime(page, (1, 1))
    assert ready.missing("05", ready.PORT) == [
        "slides/ is older than the notebook (05-softmax.html): "
        "make slides builds them (on Windows: py course.py slides)."
    ]
    assert ready.missing("06", ready.PORT) == []


def test_a_notebook_without_outputs(course):
    path = course / "notebooks" / "05-softmax.ipynb"
    path.write_bytes(live.emptied(path.read_bytes()))
    cells = [cell for cell in json.loads(path.read_bytes())["cells"] if cell["cell_type"] == "code"]
    page = course / "slides" / "05-softmax.html"
    for folder in ready.BUILT:
        (course / folder / page.name).write_text("newer")
    assert ready.missing("05", ready.PORT) == [
        f"05-softmax.ipynb has {len(cells)} of {len(cells)} code cells never run: make refresh runs them."
    ]


def test_the_environment(course, monkeypatch):
    monkeypatch.setattr(environment, "problems", lambda: ["the package numpy is missing: install it"])
    assert ready.missing("05", ready.PORT) == ["The package numpy is missing: install it."]


def test_the_model_is_needed_for_chapter_12_only(course, monkeypatch):
    def load():
        raise minilm.WeightsError("the weights are not there: run make model.")

    monkeypatch.setattr(minilm, "load", load)
    said = ["Chapter 12 needs its model: the weights are not there: run make model."]
    assert ready.missing("12", ready.PORT) == said
    assert ready.missing(None, ready.PORT) == said
    assert ready.missing("11", ready.PORT) == []


def test_the_desk(course, tmp_path):
    mine = tmp_path / "desk" / "notebooks" / "05-softmax.ipynb"
    mine.write_bytes(live.emptied(mine.read_bytes()))  # worked on
    assert ready.missing("05", ready.PORT) == []
    desk.newer_beside(mine).write_bytes(b"{}")
    (said,) = ready.missing("05", ready.PORT)
    assert said.startswith("05-softmax.new.ipynb waits on your desk, newer than your copy: take it over, or ")
    desk.newer_beside(mine).unlink()
    mine.unlink()
    assert ready.missing("05", ready.PORT) == ["05-softmax.ipynb is not on your desk: make lab lays it."]
    shutil.rmtree(tmp_path / "desk")
    assert ready.missing("05", ready.PORT) == [
        "There is no desk yet: make lab lays it (on Windows: py course.py lab)."
    ]


def test_a_taken_port(course):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert ready.missing("05", port) == [
            f"Port {port} is taken: stop that program, or take another with make lab PORT={port + 1}."
        ]
