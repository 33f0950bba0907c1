"""The desk: laid out, updated and reset, and whatever happens nothing of the learner's is lost."""

import errno
import itertools
import json
import os
import random
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from attnlib import desk as module
from attnlib.chapters import CHAPTERS
from attnlib.desk import DeskError, default_desk, find_desk, lay_out, reset

START, SOFTMAX, SCALING = "00-start-here.ipynb", "05-softmax.ipynb", "06-scaling.ipynb"
FULL = OSError(errno.ENOSPC, "No space left on device")


def notebook(*cells, output="", kind="code"):
    """Make the bytes of a small notebook."""
    made = [{"cell_type": kind, "metadata": {}, "outputs": [{"text": output}], "source": [text]} for text in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


OLD, RUN, MINE = notebook("old"), notebook("old", output="42"), notebook("mine", output="42")
NEW, NEWER = notebook("new"), notebook("newer")


@pytest.fixture
def course(tmp_path):
    folder = tmp_path / "course"
    for name in ("notebooks", "images"):
        (folder / name).mkdir(parents=True)
    for name in (START, SOFTMAX, SCALING):
        (folder / "notebooks" / name).write_bytes(OLD)
    (folder / "notebooks" / "ruff.toml").write_text("")
    (folder / "images" / "map.svg").write_text("<svg/>")
    (folder / "images" / ".hidden").write_text("")
    (folder / "images" / "folder").mkdir()
    (folder / "notebooks" / "05-softmax.new.ipynb").write_bytes(OLD)  # a stray file, no chapter
    return folder


@pytest.fixture
def desk(course):
    folder = course / "work"
    lay_out(folder, course)
    return folder


def files(folder):
    """Give every file of a folder but the locks and the desk's list."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if name not in (module.LOCK, module.MARKER)}


def backups(desk):
    return {name.removeprefix("backups/"): data for name, data in files(desk).items() if "backups/" in name}


def at(monkeypatch, text):
    """Set the desk's clock."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.fromisoformat(text)

    monkeypatch.setattr(module, "datetime", Clock)


# --- where things are ---------------------------------------------------------------------------------


def test_the_course_lies_beside_the_package():
    assert (module.course_root() / "attnlib" / "desk.py").is_file()


def test_without_the_course_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "__file__", str(tmp_path / "site-packages" / "attnlib" / "desk.py"))
    with pytest.raises(
        DeskError, match=r"^attnlib is installed here without the notebooks of the course: get .*\.$"
    ):
        module.course_root()


@pytest.mark.parametrize("blank", [None, "", "  "])
def test_the_default_desk_is_work_in_the_course(monkeypatch, blank):
    monkeypatch.delenv("ATTNLIB_DESK", raising=False)
    if blank is not None:
        monkeypatch.setenv("ATTNLIB_DESK", blank)
    assert default_desk() == module.course_root() / "work"


def test_a_variable_names_another_desk(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNLIB_DESK", str(tmp_path / "mine"))
    assert default_desk() == tmp_path / "mine"
    monkeypatch.setenv("ATTNLIB_DESK", "mine")
    monkeypatch.chdir(tmp_path)
    assert default_desk() == tmp_path / "mine"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("ATTNLIB_DESK", "~/mine")
    assert default_desk() == tmp_path / "mine"


def test_a_home_that_nobody_has(monkeypatch):
    def no_home(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", no_home)
    monkeypatch.setenv("ATTNLIB_DESK", "~nobody/desk")
    with pytest.raises(
        DeskError, match=r"^ATTNLIB_DESK is ~nobody/desk, but there is no such home folder: name an"
    ):
        default_desk()


def test_a_desk_is_found_from_any_folder_on_it(desk, monkeypatch):
    for folder in (desk, desk / "notebooks", desk / "backups"):
        assert find_desk(folder) == desk.resolve()
    monkeypatch.chdir(desk / "notebooks")
    assert find_desk() == desk.resolve()


def test_the_notebooks_of_the_course_lie_on_no_desk(course, desk, monkeypatch):
    for folder in (course, course / "notebooks", module.course_root() / "notebooks"):
        assert find_desk(folder) is None
    monkeypatch.chdir(course / "notebooks")
    assert find_desk() is None


def test_a_deleted_folder_lies_on_no_desk(monkeypatch):
    def deleted():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr(Path, "cwd", deleted)
    assert find_desk() is None


@pytest.mark.parametrize("place", [".", "..", "notebooks", "notebooks/work"])
def test_a_desk_among_the_files_of_the_course_is_refused(course, place):
    before = files(course)
    with pytest.raises(
        DeskError, match=r"cannot be the desk, for the course's own files lie there: name another fol"
    ):
        lay_out(course / place, course)
    assert files(course) == before


# --- laying out ---------------------------------------------------------------------------------------


def test_the_first_time(course):
    desk = course / "deep" / "work"
    assert lay_out(desk, course) == [
        f"Your desk is ready in {desk}: work there, for nothing on it is ever overwritten."
    ]
    assert files(desk) == {
        **{f"notebooks/{n}": OLD for n in (START, SOFTMAX, SCALING)},
        "images/map.svg": b"<svg/>",
    }
    assert (desk / "backups").is_dir()
    assert json.loads((desk / ".desk.json").read_bytes())["files"]["notebooks/" + SOFTMAX]["bytes"] == (
        module.digest(OLD)
    )


def test_the_second_time_nothing_is_said_and_nothing_written(course, desk, monkeypatch):
    (desk / "notebooks" / SOFTMAX).write_bytes(MINE)
    (desk / "notebooks" / SCALING).write_bytes(RUN)
    before = files(desk)

    def refuse(*_):
        raise AssertionError("written")

    monkeypatch.setattr(module, "_stage", refuse)
    assert lay_out(desk, course) == []
    assert files(desk) == before


def test_the_course_itself_can_be_laid_out(tmp_path):
    lay_out(tmp_path, module.course_root())
    laid = {path.name for path in (tmp_path / "notebooks").iterdir()}
    assert laid >= {chapter.file for chapter in CHAPTERS}
    for name in laid:
        assert (tmp_path / "notebooks" / name).read_bytes() == (
            module.course_root() / "notebooks" / name
        ).read_bytes()


def test_an_untouched_copy_is_replaced_silently(course, desk):
    (course / "notebooks" / SOFTMAX).write_bytes(NEW)
    assert lay_out(desk, course) == []
    assert files(desk)["notebooks/" + SOFTMAX] == NEW
    assert backups(desk) == {}
    assert lay_out(desk, course) == []


def test_a_copy_that_was_only_run_is_replaced_and_backed_up(course, desk, monkeypatch):
    at(monkeypatch, "2026-11-18T01:20:33")
    (desk / "notebooks" / SOFTMAX).write_bytes(RUN)
    (course / "notebooks" / SOFTMAX).write_bytes(NEW)
    assert lay_out(desk, course) == []
    assert files(desk)["notebooks/" + SOFTMAX] == NEW
    assert backups(desk) == {"05-softmax.2026-11-18T01-20-33.ipynb": RUN}


BROKEN = [
    pytest.param(data, id=name)
    for name, data in {
        "changed": MINE,
        "cell added": notebook("old", "more"),
        "cell type": notebook("old", kind="markdown"),
        "empty": b"",
        "half": RUN[:40],
        "not UTF-8": b"\xff\xfe" + RUN,
        "a list": b"[]",
        "cells a number": b'{"cells": 5}',
        "no cells": b'{"worksheets": []}',
        "cells are names": b'{"cells": ["code"]}',
        "no source": b'{"cells": [{"cell_type": "code"}]}',
        "source an object": b'{"cells": [{"cell_type": "code", "source": {"old": 1}}]}',
        "source a list of numbers": b'{"cells": [{"cell_type": "code", "source": [1]}]}',
        "too deep": b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    }.items()
]


@pytest.mark.parametrize("mine", BROKEN)
def test_a_changed_copy_is_kept_and_the_new_version_laid_beside_and_said_once(course, desk, mine):
    (desk / "notebooks" / SOFTMAX).write_bytes(mine)
    (course / "notebooks" / SOFTMAX).write_bytes(NEW)
    assert lay_out(desk, course) == [
        "There is a new version of 05-softmax.ipynb: your copy stays as it is, and the new one lies beside it as "
        "05-softmax.new.ipynb."
    ]
    after = files(desk)
    assert after["notebooks/05-softmax.ipynb"] == mine
    assert after["notebooks/05-softmax.new.ipynb"] == NEW
    assert backups(desk) == {}
    assert lay_out(desk, course) == []
    assert files(desk) == after


def changed_and_offered(course, desk):
    (desk / "notebooks" / SOFTMAX).write_bytes(MINE)
    (course / "notebooks" / SOFTMAX).write_bytes(NEW)
    assert len(lay_out(desk, course)) == 1
    return desk / "notebooks" / "05-softmax.new.ipynb"


def test_each_new_version_is_said(course, desk):
    beside = changed_and_offered(course, desk)
    (course / "notebooks" / SOFTMAX).write_bytes(NEWER)
    assert len(lay_out(desk, course)) == 1
    assert beside.read_bytes() == NEWER
    assert backups(desk) == {}, "the version before was the course's own, untouched"


def test_a_new_version_that_the_learner_changed_is_backed_up_before_the_next(course, desk, monkeypatch):
    at(monkeypatch, "2026-11-18T01:20:33")
    beside = changed_and_offered(course, desk)
    beside.write_bytes(RUN)
    (course / "notebooks" / SOFTMAX).write_bytes(NEWER)
    assert len(lay_out(desk, course)) == 1
    assert beside.read_bytes() == NEWER
    assert backups(desk) == {"05-softmax.new.2026-11-18T01-20-33.ipynb": RUN}
    assert files(desk)["notebooks/" + SOFTMAX] == MINE


def test_a_new_version_that_the_learner_deleted_is_not_laid_again(course, desk):
    changed_and_offered(course, desk).unlink()
    assert lay_out(desk, course) == []
    assert "notebooks/05-softmax.new.ipynb" not in files(desk)


def test_a_file_with_the_name_of_a_new_version_is_not_overwritten(course, desk):
    (desk / "notebooks" / "05-softmax.new.ipynb").write_bytes(RUN)
    changed_and_offered(course, desk)
    assert list(backups(desk).values()) == [RUN]


def test_a_new_version_that_already_lies_there_needs_no_backup(course, desk):
    (desk / "notebooks" / "05-softmax.new.ipynb").write_bytes(NEW)
    changed_and_offered(course, desk)
    assert backups(desk) == {}


@pytest.mark.parametrize("output", ["", "42"])
def test_a_new_version_that_the_learner_took_over_stays(course, desk, output):
    taken = notebook("new", output=output)
    changed_and_offered(course, desk)
    (desk / "notebooks" / SOFTMAX).write_bytes(taken)
    assert lay_out(desk, course) == []
    assert files(desk)["notebooks/" + SOFTMAX] == taken
    assert "notebooks/05-softmax.new.ipynb" not in files(desk), "it is of no more use"
    (course / "notebooks" / SOFTMAX).write_bytes(NEWER)
    assert lay_out(desk, course) == []
    assert files(desk)["notebooks/" + SOFTMAX] == NEWER
    assert list(backups(desk).values()) == ([taken] if output else [])


def test_a_new_version_that_the_learner_ran_is_not_tidied_away(course, desk):
    beside = changed_and_offered(course, desk)
    beside.write_bytes(RUN)
    reset("05", desk, course)
    assert beside.read_bytes() == RUN


def test_a_deleted_copy_is_laid_anew_and_a_new_chapter_too(course, desk):
    (desk / "notebooks" / SOFTMAX).unlink()
    (course / "notebooks" / "07-masks.ipynb").write_bytes(NEW)
    assert lay_out(desk, course) == ["New on your desk: 05-softmax.ipynb, 07-masks.ipynb."]
    assert files(desk)["notebooks/" + SOFTMAX] == OLD
    assert files(desk)["notebooks/07-masks.ipynb"] == NEW
    assert lay_out(desk, course) == []


@pytest.mark.parametrize("mine", [OLD, RUN])
def test_a_chapter_removed_from_the_course_goes_to_backups(course, desk, monkeypatch, mine):
    at(monkeypatch, "2026-11-18T01:20:33")
    (desk / "notebooks" / SCALING).write_bytes(mine)
    (course / "notebooks" / SCALING).unlink()
    assert lay_out(desk, course) == [
        "06-scaling.ipynb is no longer part of the course: your copy is kept as "
        "backups/06-scaling.2026-11-18T01-20-33.ipynb."
    ]
    assert backups(desk) == {"06-scaling.2026-11-18T01-20-33.ipynb": mine}
    assert "notebooks/" + SCALING not in files(desk)
    assert lay_out(desk, course) == []


def test_a_chapter_removed_from_the_course_stays_if_changed(course, desk):
    (desk / "notebooks" / SCALING).write_bytes(MINE)
    (course / "notebooks" / SCALING).write_bytes(NEW)
    lay_out(desk, course)
    (course / "notebooks" / SCALING).rename(course / "notebooks" / "08-scaling.ipynb")
    assert lay_out(desk, course) == [
        "New on your desk: 08-scaling.ipynb.",
        "06-scaling.ipynb is no longer part of the course: your copy stays where it is, for you changed it.",
    ]
    assert files(desk)["notebooks/" + SCALING] == MINE
    assert "notebooks/06-scaling.new.ipynb" not in files(desk)
    assert lay_out(desk, course) == []


def test_a_chapter_removed_from_course_and_desk(course, desk):
    (desk / "notebooks" / SCALING).unlink()
    (course / "notebooks" / SCALING).unlink()
    assert lay_out(desk, course) == []


def test_the_learners_own_files_are_never_touched(course, desk):
    own = ["notes.txt", "notebooks/99-mine.ipynb", "notebooks/Untitled.ipynb", "images/photo.png", "progress.json"]
    own += ["notebooks/.a.tmp", "backups/old.ipynb"]
    for name in own:
        (desk / name).write_bytes(b"own")
    for name in (START, SOFTMAX, SCALING):
        (course / "notebooks" / name).write_bytes(NEW)
    assert lay_out(desk, course) == []
    reset("05", desk, course)
    assert {name: files(desk)[name] for name in own} == dict.fromkeys(own, b"own")


def test_the_learners_own_file_with_the_name_of_a_new_chapter(course, desk):
    (desk / "notebooks" / "07-masks.ipynb").write_bytes(MINE)
    (course / "notebooks" / "07-masks.ipynb").write_bytes(NEW)
    assert len(lay_out(desk, course)) == 1
    assert files(desk)["notebooks/07-masks.ipynb"] == MINE
    assert files(desk)["notebooks/07-masks.new.ipynb"] == NEW
    assert lay_out(desk, course) == []


def test_images_follow_the_course(course, desk, monkeypatch):
    at(monkeypatch, "2026-11-18T01:20:33")
    picture = course / "images" / "map.svg"
    picture.write_bytes(b"<svg>2</svg>")
    assert lay_out(desk, course) == []
    assert files(desk)["images/map.svg"] == b"<svg>2</svg>"
    assert backups(desk) == {}
    (desk / "images" / "map.svg").write_bytes(b"drawn on")
    assert lay_out(desk, course) == [
        "images/map.svg was changed: it is the course's own again, yours is backups/map.2026-11-18T01-20-33.svg."
    ]
    assert files(desk)["images/map.svg"] == b"<svg>2</svg>"
    assert backups(desk) == {"map.2026-11-18T01-20-33.svg": b"drawn on"}
    (desk / "images" / "map.svg").unlink()
    assert lay_out(desk, course) == []
    assert files(desk)["images/map.svg"] == b"<svg>2</svg>"
    picture.unlink()
    assert lay_out(desk, course) == []
    assert files(desk)["images/map.svg"] == b"<svg>2</svg>", "a copy that the learner kept may show it"


def test_a_course_without_images(course):
    (course / "images").rename(course / "pictures")
    assert len(lay_out(course / "work", course)) == 1


# --- the desk's own list ------------------------------------------------------------------------------


ENTRY = {"bytes": "0", "sources": "0", "offered": ""}
LISTS = {
    "empty": (b"", "was not readable"),
    "half": (b'{"version": 1, "fi', "was not readable"),
    "not UTF-8": (b"\xff", "was not readable"),
    "a list": (b"[]", "was not readable"),
    "no version": (b'{"files": {}}', "was not readable"),
    "version 0": (b'{"version": 0, "files": {}}', "was not readable"),
    "no files": (b'{"version": 1}', "was not readable"),
    "files a list": (b'{"version": 1, "files": []}', "was not readable"),
    "an entry a list": (b'{"version": 1, "files": {"notebooks/05-softmax.ipynb": []}}', "was not readable"),
    "an entry with a number": (
        json.dumps({"version": 1, "files": {"notebooks/05-softmax.ipynb": {**ENTRY, "bytes": 5}}}).encode(),
        "was not readable",
    ),
    "too large": (b" " * 5_000_001, "was not readable"),
    "newer": (b'{"version": 2, "all": "different"}', "was made by a newer version of the course"),
    **{
        f"path {path}": (json.dumps({"version": 1, "files": {path: ENTRY}}).encode(), "was not readable")
        for path in (
            "../x",
            "notebooks/..",
            "images/..",
            "notebooks/../../x.ipynb",
            "images/a/../../x",
            "x/y",
            "/x",
            "images/..\\..\\x",
            "notebooks/c:x.ipynb",
            "notebooks/05-a/b.ipynb",
        )
    },
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_that_is_of_no_use_is_kept_aside_and_said(course, desk, monkeypatch, name):
    at(monkeypatch, "2026-11-18T01:20:33")
    raw, trouble = LISTS[name]
    (desk / ".desk.json").write_bytes(raw)
    (desk / "notebooks" / SOFTMAX).write_bytes(MINE)
    (desk / "notebooks" / SCALING).write_bytes(RUN)
    before = files(desk)
    assert lay_out(desk, course) == [
        "There is a new version of 05-softmax.ipynb: your copy stays as it is, and the new one lies beside it as "
        "05-softmax.new.ipynb.",
        f"The list of what lies on your desk, .desk.json, {trouble}: it is kept as "
        ".desk.broken-2026-11-18T01-20-33.json, and every notebook that differs from the course counts as changed "
        "by you.",
    ]
    after = files(desk)
    assert after.pop(".desk.broken-2026-11-18T01-20-33.json") == raw
    assert after.pop("notebooks/05-softmax.new.ipynb") == OLD
    assert after == before
    assert lay_out(desk, course) == []


def test_a_list_with_a_mark_before_the_text_is_readable(course, desk):
    (desk / ".desk.json").write_bytes(b"\xef\xbb\xbf" + (desk / ".desk.json").read_bytes())
    assert lay_out(desk, course) == []


def test_a_deleted_list_harms_nothing(course, desk):
    (desk / "notebooks" / SOFTMAX).write_bytes(MINE)
    (desk / "notebooks" / SCALING).write_bytes(RUN)
    (desk / ".desk.json").unlink()
    (course / "notebooks" / SOFTMAX).write_bytes(NEW)
    ready, new = lay_out(desk, course)
    assert ready.startswith("Your desk is ready")
    assert new.startswith("There is a new version of 05-softmax.ipynb")
    assert files(desk)["notebooks/" + SOFTMAX] == MINE
    assert files(desk)["notebooks/" + SCALING] == RUN
    assert find_desk(desk) == desk.resolve()
    assert lay_out(desk, course) == []


# --- reset --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", ["05", "5", "05-softmax", "05-softmax.ipynb", " 5 ", 5])
def test_reset_keeps_the_old_copy_and_says_so(course, desk, monkeypatch, chapter):
    at(monkeypatch, "2026-11-18T01:20:33")
    (desk / "notebooks" / SOFTMAX).write_bytes(MINE)
    assert reset(chapter, desk, course) == (
        "A clean 05-softmax.ipynb lies on your desk; your old copy is kept as "
        "backups/05-softmax.2026-11-18T01-20-33.ipynb."
    )
    assert files(desk)["notebooks/" + SOFTMAX] == OLD
    assert backups(desk) == {"05-softmax.2026-11-18T01-20-33.ipynb": MINE}
    assert lay_out(desk, course) == []


def test_resets_within_a_second_and_with_a_clock_set_back(course, desk, monkeypatch):
    for number, date in enumerate(["2026-11-18T01:20:33"] * 3 + ["2025-01-01T00:00:00"]):
        at(monkeypatch, date)
        (desk / "notebooks" / SOFTMAX).write_bytes(str(number).encode())
        reset("05", desk, course)
    assert backups(desk) == {
        "05-softmax.2026-11-18T01-20-33.ipynb": b"0",
        "05-softmax.2026-11-18T01-20-33-2.ipynb": b"1",
        "05-softmax.2026-11-18T01-20-33-3.ipynb": b"2",
        "05-softmax.2025-01-01T00-00-00.ipynb": b"3",
    }


@pytest.mark.parametrize("chapter", ["99", "", "soft", "-5", "050", "../05-softmax", None])
def test_an_unknown_chapter_is_refused_with_the_list(course, desk, chapter):
    before = files(desk)
    with pytest.raises(
        DeskError, match=r"^There is no chapter '.*': choose one of 00-start-here, 05-softmax, 06-scaling\.$"
    ):
        reset(chapter, desk, course)
    assert files(desk) == before


def test_a_number_that_two_chapters_share_is_refused(course, desk):
    (course / "notebooks" / "05-other.ipynb").write_bytes(OLD)
    with pytest.raises(DeskError, match=r"choose one of 00-start-here, 05-other, 05-softmax, 06-scaling"):
        reset("05", desk, course)
    assert reset("05-softmax", desk, course).startswith("A clean 05-softmax.ipynb")


def test_reset_of_a_deleted_copy(course, desk):
    (desk / "notebooks" / SOFTMAX).unlink()
    assert reset("05", desk, course) == (
        "A clean 05-softmax.ipynb lies on your desk; there was no old copy to keep."
    )
    assert files(desk)["notebooks/" + SOFTMAX] == OLD


def test_reset_without_a_desk(course):
    with pytest.raises(DeskError, match=r"^There is no desk yet, so nothing to reset: run make lab first"):
        reset("05", course / "work", course)
    assert not (course / "work").exists()


def test_reset_takes_the_newest_version_and_tidies_the_offer(course, desk):
    beside = changed_and_offered(course, desk)
    reset("05", desk, course)
    assert files(desk)["notebooks/" + SOFTMAX] == NEW
    assert list(backups(desk).values()) == [MINE]
    assert not beside.exists()


def test_reset_keeps_a_broken_list_aside_too(course, desk):
    (desk / ".desk.json").write_bytes(b"broken")
    said = reset("05", desk, course)
    assert said.startswith("A clean 05-softmax.ipynb lies on your desk; ")
    assert " The list of what lies on your desk, .desk.json, was not readable: it is kept as .desk.broken-" in said
    assert [data for name, data in files(desk).items() if name.startswith(".desk.broken-")] == [b"broken"]


# --- trouble ------------------------------------------------------------------------------------------


def test_a_course_without_notebooks(tmp_path):
    with pytest.raises(DeskError, match=r"holds no chapters: get the course anew\.$"):
        lay_out(tmp_path / "work", tmp_path)
    assert not (tmp_path / "work").exists()


def test_a_notebook_of_the_course_that_is_broken(course, desk):
    (course / "notebooks" / SOFTMAX).write_bytes(b"<<<<<<< HEAD")
    before = files(desk)
    with pytest.raises(DeskError, match=r"05-softmax\.ipynb is not a notebook: get a fresh one by git restore\.$"):
        lay_out(desk, course)
    assert files(desk) == before


@pytest.mark.parametrize("name", [".", "notebooks", "images", "backups"])
def test_a_file_where_a_folder_should_be(course, name):
    desk = course / "work"
    (desk / name).parent.mkdir(exist_ok=True)
    (desk / name).write_bytes(b"in the way")
    with pytest.raises(
        DeskError, match=r"^The desk could not be laid out: a file lies where a folder should be, or"
    ):
        lay_out(desk, course)
    assert (desk / name).read_bytes() == b"in the way"
    assert not (desk / ".desk.json").exists()


def test_a_folder_where_a_file_should_be(course, desk):
    (desk / "notebooks" / SOFTMAX).unlink()
    (desk / "notebooks" / SOFTMAX).mkdir()
    with pytest.raises(DeskError, match=r"^The desk could not be laid out: .*05-softmax\.ipynb"):
        lay_out(desk, course)


def test_a_folder_that_is_read_only(course, desk, monkeypatch):
    (course / "notebooks" / SOFTMAX).write_bytes(NEW)
    before = files(desk)
    opened = Path.open

    def refuse(self, mode="r", *rest, **more):
        if set(mode) & set("xwa"):
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return opened(self, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", refuse)
    for work in (lambda: lay_out(desk, course), lambda: reset("05", desk, course)):
        with pytest.raises(
            DeskError, match=r": this computer does not allow to change or read .*work \(look at its"
        ):
            work()
    assert files(desk) == before


def test_a_parent_folder_that_is_read_only(course, monkeypatch):
    def refuse(self, *_, **__):
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(DeskError, match=r"does not allow to change or read .*work \(look at its permissions\)\.$"):
        lay_out(course / "work", course)


class Failing:
    """A function of `os` that fails at its n-th call, or from then on."""

    def __init__(self, monkeypatch, name, fails):
        self.real, self.calls, self.fails = getattr(os, name), 0, fails
        monkeypatch.setattr(os, name, self)

    def __call__(self, *arguments, **options):
        self.calls += 1
        if self.fails(self.calls):
            raise FULL
        return self.real(*arguments, **options)


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_at_any_moment_loses_nothing(tmp_path, course, call, lasting):
    outcomes = []
    for n in itertools.count(1):
        desk = tmp_path / f"desk-{n}"
        for name in (START, SOFTMAX, SCALING):
            (course / "notebooks" / name).write_bytes(OLD)
        (course / "images" / "map.svg").write_bytes(b"<svg/>")
        lay_out(desk, course)
        mine = {START: notebook("old", output="run"), SOFTMAX: notebook("changed"), SCALING: OLD}
        for name, data in mine.items():
            (desk / "notebooks" / name).write_bytes(data)
            (course / "notebooks" / name).write_bytes(NEW)
        (desk / "notebooks" / "05-softmax.new.ipynb").write_bytes(b"own")
        (desk / "images" / "map.svg").write_bytes(b"drawn on")
        precious = {mine[START], mine[SOFTMAX], b"own", b"drawn on"}
        with pytest.MonkeyPatch.context() as patch:
            failing = Failing(patch, call, lambda calls, n=n: calls >= n if lasting else calls == n)
            try:
                lay_out(desk, course)
                outcomes.append(None)
            except DeskError as error:
                outcomes.append(str(error))
        assert precious <= set(files(desk).values())
        assert not list(desk.rglob("*.desk-tmp"))
        assert find_desk(desk) == desk.resolve()
        if not lasting and outcomes[-1]:
            assert all((desk / "notebooks" / name).is_file() for name in mine)
        lay_out(desk, course)
        assert precious <= set(files(desk).values())
        assert files(desk)["notebooks/" + START] == files(desk)["notebooks/" + SCALING] == NEW
        assert files(desk)["notebooks/" + SOFTMAX] == mine[SOFTMAX]
        assert files(desk)["notebooks/05-softmax.new.ipynb"] == NEW
        assert files(desk)["images/map.svg"] == b"<svg/>"
        assert lay_out(desk, course) == []
        if failing.calls < n:
            break
    assert {*outcomes} == {
        None,
        "The desk could not be laid out: the disk is full (free some space and try again).",
    }
    assert len(outcomes) > 6


def test_a_full_disk_while_the_desk_is_made(course):
    for n in itertools.count(1):
        desk = course.parent / f"desk-{n}"
        with pytest.MonkeyPatch.context() as patch:
            failing = Failing(patch, "replace", lambda calls, n=n: calls == n)
            try:
                lay_out(desk, course)
            except DeskError:
                assert find_desk(desk) is None
                assert len(lay_out(desk, course)) == 1
        assert lay_out(desk, course) == []
        assert len(files(desk)) == 4
        if failing.calls < n:
            break
    assert n == 6


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_at_any_moment_of_a_reset_loses_nothing(course, desk, call):
    for n in itertools.count(1):
        mine = notebook(f"mine {n}")
        (desk / "notebooks" / SOFTMAX).write_bytes(mine)
        (course / "notebooks" / SOFTMAX).write_bytes(notebook(f"new {n}"))
        with pytest.MonkeyPatch.context() as patch:
            failing = Failing(patch, call, lambda calls, n=n: calls == n)
            try:
                reset("05", desk, course)
            except DeskError as error:
                assert str(error).startswith("The chapter could not be reset: the disk is full")  # noqa: PT017
        assert mine in files(desk).values()
        assert (desk / "notebooks" / SOFTMAX).is_file()
        assert not list(desk.rglob("*.desk-tmp"))
        if failing.calls < n:
            break
    assert n > 3


def test_what_a_killed_program_left_is_swept(course, desk):
    left = [desk / "notebooks" / ".05-softmax.ipynb.0123abcd.desk-tmp", desk / "..desk.json.0123abcd.desk-tmp"]
    left += [desk / "backups" / ".a.b.desk-tmp", desk / "images" / ".map.svg.1.desk-tmp"]
    other = desk / ".progress.json.0123abcd.desk-tmp"  # this one has its own lock
    for path in (*left, other):
        path.write_bytes(b"half")
    assert lay_out(desk, course) == []
    assert [path.exists() for path in (*left, other)] == [False] * 4 + [True]


def test_a_file_that_cannot_be_swept_harms_nothing(course, desk):
    (desk / "notebooks" / ".a.b.desk-tmp").mkdir()
    assert lay_out(desk, course) == []


def test_two_programs_take_turns(course, desk, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    with module.locked(desk / ".desk.lock"):
        with pytest.raises(
            DeskError, match=r"laid out: another notebook or program is busy with the desk \(try again"
        ):
            lay_out(desk, course)
        with pytest.raises(
            DeskError, match=r"reset: another notebook or program is busy with the desk \(try again"
        ):
            reset("05", desk, course)
    assert lay_out(desk, course) == []


def test_a_lock_is_waited_for(tmp_path, monkeypatch):
    path, slept = tmp_path / "lock", []
    first = module.locked(path)
    first.__enter__()

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 3:
            first.__exit__(None, None, None)

    monkeypatch.setattr(module.time, "sleep", sleep)
    with module.locked(path):
        assert len(slept) == 3


def test_a_file_that_is_held_for_a_moment_is_waited_for(monkeypatch):
    slept = []
    monkeypatch.setattr(module.time, "sleep", slept.append)
    answers = iter([PermissionError, PermissionError, 5])

    def work():
        answer = next(answers)
        if answer is PermissionError:
            raise PermissionError
        return answer

    assert module.patiently(work) == 5
    assert len(slept) == 2


def test_patience_ends(monkeypatch):
    slept = []
    monkeypatch.setattr(module.time, "sleep", slept.append)

    def refuse():
        raise PermissionError("held")

    with pytest.raises(PermissionError, match="held"):
        module.patiently(refuse)
    assert len(slept) == 4


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EDQUOT, "Quota"), "the disk is full (free some space and try again)"),
        (TimeoutError(), "another notebook or program is busy with the desk (try again in a moment)"),
        (FileNotFoundError(errno.ENOENT, "No such file", "x"), "x is not there"),
        (OSError(errno.EIO, "Input/output error", "x"), "Input/output error (x)"),
        (OSError("strange"), "strange (a file)"),
    ],
)
def test_reasons_in_words(error, words):
    assert module.reason(error) == words


CHILD = """
import sys, types
package = types.ModuleType("attnlib")  # without NumPy, to start fast
package.__path__ = [sys.argv[1]]
sys.modules["attnlib"] = package
from pathlib import Path
from attnlib.desk import reset
course, desk, life = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
reset("05", desk, course)  # what lies there from the life before goes to backups
print("ready", flush=True)
for number in range(100_000):
    (desk / "notebooks" / "05-softmax.ipynb").write_text(f"answer {life}-{number};")
    print(f"answer {life}-{number};", flush=True)
    reset("05", desk, course)
"""


def test_a_reset_that_is_killed_at_any_moment_loses_nothing(course, desk):
    chance, confirmed, times = random.Random(5), set(), 25
    package = Path(module.__file__).parent
    for life in range(times):
        command = [sys.executable, "-I", "-c", CHILD, str(package), str(course), str(desk), str(life)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout.readline() == "ready\n"
            seen = [child.stdout.readline() for _ in range(chance.randrange(6))]
            time.sleep(chance.uniform(0, 0.01))
            child.kill()
            confirmed |= {line.strip() for line in [*seen, *child.stdout] if line.endswith(";\n")}
        kept = {data.decode() for name, data in files(desk).items() if "05-softmax" in name}
        assert confirmed <= kept
        lay_out(desk, course)
    assert len(confirmed) > times  # it waits for 2.5 a life
    assert not list(desk.rglob("*.desk-tmp"))
