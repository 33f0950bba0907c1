"""What is solved: the file `progress.json` on the learner's desk.

    {"version": 1, "exercises": {"05-softmax-rows":
        {"solved": "2026-11-18T01:20:33", "tries": 3, "mistakes": {"wrong-axis": 2}}}}

Two notebooks may record at the same time, and a program may be killed at any moment: nothing is lost.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from attnlib import desk as files
from attnlib.chapters import CHAPTERS

FILE = "progress.json"
LOCK = ".progress.lock"
VERSION = 1
NAME = re.compile(r"\w[\w ._-]{0,99}")  # letters of any script: a mistake may be called 고파서
MOST = 1_000_000_000
"""the largest count that a progress file may hold"""
NEWER = "Your progress was made by a newer version of the course: update the course; until then it is not changed."


@dataclass(frozen=True)
class Exercise:
    """What is known of one exercise.

    >>> Exercise(solved=None, tries=2, mistakes={"wrong-axis": 1}).tries
    2
    """

    solved: str | None
    """date and time of the first solution, as 2026-11-18T01:20:33"""
    tries: int
    mistakes: Mapping[str, int]
    """how often each known mistake was made"""


@dataclass(frozen=True)
class Progress:
    """What a learner did so far, and the sentences to say about the file that holds it.

    >>> Progress({"05-sum": Exercise("2026-11-18T01:20:33", 1, {}), "05-max": Exercise(None, 4, {})}).solved
    frozenset({'05-sum'})
    """

    exercises: Mapping[str, Exercise]
    sentences: tuple[str, ...] = ()

    @property
    def solved(self) -> frozenset[str]:
        """The exercises that are solved."""
        return frozenset(name for name, exercise in self.exercises.items() if exercise.solved is not None)


def record(desk: Path, exercise: str, *, solved: bool, mistake: str | None = None) -> str | None:
    """Add one try of an exercise; give a sentence for the learner if something is wrong with the file.

    What was solved once stays solved.  No trouble with files ever raises an error.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     record(Path(folder), "05-softmax-rows", solved=False, mistake="wrong-axis")
    ...     record(Path(folder), "05-softmax-rows", solved=True)
    ...     load(Path(folder)).exercises["05-softmax-rows"].tries
    2
    """
    _check("exercise", exercise)
    if mistake is not None:
        _check("mistake", mistake)
    if not isinstance(solved, bool):
        raise TypeError(f"record: solved is {solved!r} ({type(solved).__name__}); expected True or False")
    said = []
    try:
        with files.locked(desk / LOCK):
            files.sweep(desk, FILE)
            found = _judge(files.read(desk / FILE, files.LARGEST + 1))
            if found.state == "newer":
                return NEWER
            said += _keep(desk, found)
            _add(found.data["exercises"], exercise, solved, mistake)
            _write(desk, found.data)
    except OSError as error:
        said.append(f"This try could not be saved: {files.reason(error)}; what was saved before is still there.")
    return " ".join(said) or None


def load(desk: Path) -> Progress:
    """Give the progress that a desk holds: none if there is no file yet.

    A file that cannot be read is kept aside, and `sentences` says so.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     load(Path(folder))
    Progress(exercises=mappingproxy({}), sentences=())
    """
    said: list[str] = []
    found = _judge(None)
    try:
        found = _judge(files.read(desk / FILE, files.LARGEST + 1))
        if found.state in ("older", "broken"):
            with files.locked(desk / LOCK):
                found = _judge(files.read(desk / FILE, files.LARGEST + 1))  # another program may have mended it
                said += _keep(desk, found)
                if found.state == "older":
                    _write(desk, found.data)
    except OSError as error:
        trouble = {"older": "could not be brought up to date", "broken": "is broken and could not be moved aside"}
        what = trouble.get(found.state, "could not be read")
        said.append(f"Your progress in {desk / FILE} {what}: {files.reason(error)}.")
    if found.state == "newer":
        said.append(NEWER)
    exercises = {
        name: Exercise(entry["solved"], entry["tries"], MappingProxyType(entry["mistakes"]))
        for name, entry in found.data["exercises"].items()
    }
    return Progress(MappingProxyType(exercises), tuple(said))


def bars(progress: Progress, totals: Mapping[str, Sequence[str]]) -> str:
    """Draw the progress by chapter in plain text; `totals` gives the exercises of each chapter number.

    >>> done = {name: Exercise("2026-11-18T01:20:33", 1, {}) for name in ("a", "b", "c")}
    >>> print(bars(Progress(done), {"00": ["a"], "05": ["b", "c", "d", "e", "f"]}))
    00 Start here [##########] 1 of 1
    05 Softmax    [####------] 2 of 5
       Together   [#####-----] 3 of 6
    """
    titles = {chapter.number: " ".join(chapter.title.split()) for chapter in CHAPTERS}
    rows = [(number, titles.get(number, ""), set(totals[number])) for number in sorted(totals) if totals[number]]
    if not rows:
        return "There are no exercises yet."
    rows.append(("", "Together", set().union(*(names for _, _, names in rows))))
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = []
    for number, title, names in rows:
        done = len(names & progress.solved)
        full = max(10 * done // len(names), min(done, 1))  # the last # comes with the last exercise
        bar = "#" * full + "-" * (10 - full)
        lines.append(f"{number:{first}} {title:{second}} [{bar}] {done} of {len(names)}")
    return "\n".join(lines)


# --- the file -----------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """A progress file: what state it is in, and what it holds in the format of this version."""

    state: Literal["fine", "older", "newer", "broken"]
    data: dict[str, Any]
    raw: bytes = b""


def _judge(raw: bytes | None) -> _Found:
    nothing: dict[str, Any] = {"version": VERSION, "exercises": {}}
    if raw is None:
        return _Found("fine", nothing)
    try:
        data = files.parse(raw)
    except ValueError:
        return _Found("broken", nothing, raw)
    version = data.get("version", 0)
    fits = _fits(data.get("exercises"))
    if type(version) is int and version > VERSION:
        return _Found("newer", data if fits else nothing, raw)
    if type(version) is int and version == VERSION and fits:
        return _Found("fine", data, raw)
    names = data.get("solved")
    if version == 0 and isinstance(names, list) and all(isinstance(name, str) for name in names):
        for name in names:  # the oldest format knows neither dates nor tries
            _add(nothing["exercises"], name, True, None)
        return _Found("older", nothing, raw)
    return _Found("broken", nothing, raw)


def _fits(exercises: object) -> bool:
    return isinstance(exercises, dict) and all(
        isinstance(entry, dict)
        and _is_date(entry.get("solved", 0))
        and is_count(entry.get("tries"))
        and isinstance(entry.get("mistakes"), dict)
        and all(map(is_count, entry["mistakes"].values()))
        for entry in exercises.values()
    )


def is_count(value: object) -> bool:
    """Tell whether something that was read is a count.

    >>> is_count(3), is_count(-3), is_count(True)
    (True, False, False)
    """
    return type(value) is int and 0 <= value <= MOST


def _is_date(value: object) -> bool:
    if value is None:
        return True
    try:
        return isinstance(value, str) and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


def _add(exercises: dict[str, Any], name: str, solved: bool, mistake: str | None) -> None:
    entry = exercises.setdefault(name, {"solved": None, "tries": 0, "mistakes": {}})
    entry["tries"] = min(entry["tries"] + 1, MOST)
    if solved and entry["solved"] is None:
        entry["solved"] = datetime.now().isoformat(timespec="seconds")
    if mistake is not None:
        entry["mistakes"][mistake] = min(entry["mistakes"].get(mistake, 0) + 1, MOST)


def _keep(desk: Path, found: _Found) -> list[str]:
    """Keep aside a file that is about to be replaced, and say so."""
    if found.state == "broken":
        aside = files.free_name(desk, "progress.broken-", ".json")
        files.move(desk / FILE, aside)
        return [f"Your progress file was not readable: it is kept as {aside.name}, and a new one is begun."]
    if found.state == "older":
        aside = files.free_name(desk, "progress.older-", ".json")
        files.write_safely(aside, found.raw)
        return [f"Your progress file had an older format: a copy of it as it was is kept as {aside.name}."]
    return []


def _write(desk: Path, data: dict[str, Any]) -> None:
    raw = (json.dumps(data, indent=1) + "\n").encode()
    if len(raw) > files.LARGEST:
        raise OSError(errno.EFBIG, "the file would be larger than any progress can be", str(desk / FILE))
    files.write_safely(desk / FILE, raw)


def _check(what: str, name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"record: {what} is {name!r} ({type(name).__name__}); expected a name")
    if not NAME.fullmatch(name):
        raise ValueError(
            f"record: {what} is {name[:100]!r}; expected 1 to 100 letters, digits, spaces, dots or dashes"
        )
