"""The slides follow the projector: one call and one command let all decks begin in large type, and back."""

import os

import pages
import pytest
import slides

import attnlib
from attnlib import decks, desk
from attnlib.__main__ import main


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Give a course with a real deck, the index and a page of somebody else's in its slides."""
    monkeypatch.setattr(desk, "course_root", lambda: tmp_path)
    folder = tmp_path / "slides"
    folder.mkdir()
    made = slides.build(["03"], plan=pages.ROOT / "TEACHING.md")
    made |= {"index.html": slides.index_page([]), "mine.html": "</head>\n<body>\nmine"}
    for name, page in made.items():
        (folder / name).write_bytes(page.encode())
        os.utime(folder / name, ns=(10**18, 10**18))
    yield folder
    attnlib.projector(False)


def seen(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_call_makes_the_decks_large_and_another_takes_it_back(course):
    before = seen(course)
    view = attnlib.projector()
    during = seen(course)
    assert {name for name in before if during[name] != before[name]} == {"03-dot-product-and-cosine.html"}
    page, changed = during["03-dot-product-and-cosine.html"]
    assert page.count(b"<body class=projector>") == 1
    assert page.replace(b" class=projector", b"", 1) == before["03-dot-product-and-cosine.html"][0]
    assert changed == 10**18  # else a deck older than its chapter would look new
    assert repr(view).endswith("are large. Back: projector(False)")
    attnlib.projector()
    assert seen(course) == during
    attnlib.projector(False)
    assert seen(course) == before


def test_a_command_does_the_same(course, capsys):
    before = seen(course)
    assert main(["slides", "large"]) == 0
    assert capsys.readouterr().out == "Decks in slides/ that begin in large type now: 1.\n"
    assert seen(course) != before
    assert main(["slides", "usual", "--quiet"]) == 0
    assert seen(course) == before
    assert main(["slides", "huge"]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "The slides begin in large or in usual type, not in 'huge'.\n")


def test_without_slides_there_is_nothing_to_change(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(desk, "course_root", lambda: tmp_path)
    assert main(["slides", "large"]) == 0
    assert "Decks in slides/ that begin in large type now: 0 (make slides builds them" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_slides_that_cannot_be_changed_are_said_and_the_rest_is_done(course, monkeypatch):
    def refuse(path, data):
        raise OSError(30, "Read-only file system", str(path))

    monkeypatch.setattr(decks, "write_safely", refuse)
    view = attnlib.projector()
    assert attnlib.pictures.scale == 1.5
    why = "The slides in slides/ could not be changed (Read-only file system): press p in a deck."
    assert repr(view).endswith(why)
    assert "slides/ could not be changed" in view._repr_html_()
