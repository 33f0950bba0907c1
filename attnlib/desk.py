"""The learner's desk: a copy of the course to work on, on which nothing is ever lost.

The desk is the folder `work`, which git ignores.  It mirrors the course, so that links between files work:

    work/notebooks/05-softmax.ipynb    the learner's copy
    work/notebooks/05-softmax.live.ipynb   a copy to type in before others (see `attnlib.live`)
    work/images/                       the pictures that the notebooks show
    work/backups/                      older copies, with their dates
    work/progress.json                 what is solved (see `attnlib.solved`)
    work/.desk.json                    what was laid out; this file makes the folder a desk

A file is always written whole to a temporary file first and then moved into place.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import random
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from attnlib.chapters import CHAPTERS

MARKER = ".desk.json"
LOCK = ".desk.lock"
VERSION = 1
LARGEST = 5_000_000
"""bytes; a larger file is none that the course wrote"""
PATIENCE = 5.0
"""seconds to wait for another program"""
VARIABLE = "ATTNLIB_DESK"
TEMPORARY = ".desk-tmp"
NOTEBOOKS, IMAGES, BACKUPS = "notebooks", "images", "backups"
KEY = re.compile(r"notebooks/\d\d-[^./\\:]+\.ipynb|images/[^./\\:][^/\\:]*")
FULL = (errno.ENOSPC, errno.EDQUOT)

T = TypeVar("T")


class DeskError(Exception):
    """Something that the learner can put right: the message says in one sentence what it is.

    >>> raise DeskError("The disk is full.")
    Traceback (most recent call last):
    ...
    attnlib.desk.DeskError: The disk is full.
    """


# --- where things are ---------------------------------------------------------------------------------


def course_root() -> Path:
    """Give the folder of the course: the one that holds the notebooks and the package attnlib.

    >>> (course_root() / "notebooks").is_dir()
    True
    """
    root = Path(__file__).resolve().parent.parent
    if not (root / NOTEBOOKS / CHAPTERS[0].file).is_file():
        raise DeskError(
            "attnlib is installed here without the notebooks of the course: get the course's folder and run "
            "make lab in it (on Windows: py course.py lab)."
        )
    return root


def default_desk() -> Path:
    """Give the learner's desk: `work` in the course's folder, or what the variable ATTNLIB_DESK names.

    >>> default_desk().is_absolute()
    True
    """
    named = os.environ.get(VARIABLE, "").strip()
    if not named:
        return course_root() / "work"
    try:
        return Path(named).expanduser().absolute()
    except RuntimeError:
        raise DeskError(f"{VARIABLE} is {named}, but there is no such home folder: name another.") from None


def find_desk(start: Path | None = None) -> Path | None:
    """Give the desk that holds the folder `start` (the current one if none is given), or None.

    The notebooks of the course itself lie on no desk: running them records nothing.

    >>> find_desk(course_root() / "notebooks") is None
    True
    """
    try:
        here = (Path.cwd() if start is None else start).resolve()
    except OSError:  # the current folder was deleted
        return None
    return next((folder for folder in (here, *here.parents) if (folder / MARKER).is_file()), None)


# --- laying out ---------------------------------------------------------------------------------------


def lay_out(desk: Path, course: Path) -> list[str]:
    """Make the desk, or bring it up to date, and give the sentences to say: none if nothing changed.

    A copy whose cells the learner changed is never replaced: the new version is laid beside it.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     first = lay_out(Path(folder) / "work", course_root())
    ...     again = lay_out(Path(folder) / "work", course_root())
    >>> len(first), again
    (1, [])
    """
    with _in_words("The desk could not be laid out"):
        pristine = _pristine(course)
        _check_place(desk, course)
        for folder in (desk, desk / NOTEBOOKS, desk / IMAGES, desk / BACKUPS):
            folder.mkdir(parents=True, exist_ok=True)
        with locked(desk / LOCK):
            work = _Work(desk)
            for key, data in pristine.items():
                if key.startswith(NOTEBOOKS):
                    work.notebook(key, data)
                else:
                    work.image(key, data)
            for key in sorted(set(work.laid) - set(pristine)):
                work.gone(key)
            work.save()
            return work.sentences()


def reset(chapter: str, desk: Path, course: Path) -> str:
    """Lay a clean copy of one chapter, keep the old one in backups, and give the sentence that says both.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = lay_out(Path(folder), course_root())
    ...     sentence = reset("5", Path(folder), course_root())
    >>> sentence[:66]
    'A clean 05-softmax.ipynb lies on your desk; your old copy is kept '
    """
    with _in_words("The chapter could not be reset"):
        pristine = _pristine(course)
        key = find_chapter(chapter, [key for key in pristine if key.startswith(NOTEBOOKS)])
        if not (desk / MARKER).is_file():
            raise DeskError(
                "There is no desk yet, so nothing to reset: run make lab first (on Windows: py course.py lab)."
            )
        for folder in (desk / NOTEBOOKS, desk / BACKUPS):
            folder.mkdir(exist_ok=True)
        with locked(desk / LOCK):
            work = _Work(desk)
            aside = work.renew(key, pristine[key])
            work.save()
        old = f"your old copy is kept as {BACKUPS}/{aside.name}" if aside else "there was no old copy to keep"
        return " ".join([f"A clean {Path(key).name} lies on your desk; {old}.", *work.said])


def lay_aside(desk: Path, notebooks: Mapping[str, bytes]) -> list[str]:
    """Lay notebooks of other names beside the learner's copies, and give the backups of what lay there before.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = lay_out(Path(folder), course_root())
    ...     lay_aside(Path(folder), {"05-softmax.live.ipynb": b"{}"})
    []
    """
    kept = []
    with _in_words("The notebook could not be laid out"), locked(desk / LOCK):
        for name, data in notebooks.items():
            path = desk / NOTEBOOKS / name
            there = read(path)
            if there is None:
                write_safely(path, data)
            elif there != data:
                aside = free_name(desk / BACKUPS, f"{path.stem}.", path.suffix)
                _exchange(path, data, aside)
                kept.append(f"{BACKUPS}/{aside.name}")
    return kept


@dataclass(frozen=True)
class _Laid:
    """What is known of one file of the desk: hashes, or "" where unknown."""

    bytes: str = ""  # the file as it was laid there
    sources: str = ""  # the cells of that file
    offered: str = ""  # the newer version that was laid beside it


class _Work:
    """One update of a desk, under its lock."""

    def __init__(self, desk: Path) -> None:
        self.desk = desk
        self.said: list[str] = []
        self.new: list[str] = []
        sweep(desk, MARKER)
        for name in (NOTEBOOKS, IMAGES, BACKUPS):
            sweep(desk / name)
        self.raw = read(desk / MARKER)
        self.laid, self.trouble = _manifest(self.raw)

    def sentences(self) -> list[str]:
        if self.raw is None:
            ready = f"Your desk is ready in {self.desk}: work there, for nothing on it is ever overwritten."
            return [ready, *self.said]
        return [f"New on your desk: {', '.join(self.new)}.", *self.said] if self.new else self.said

    def notebook(self, key: str, data: bytes) -> None:
        path, laid = self.desk / key, self.laid.get(key, _Laid())
        fresh = _Laid(digest(data), sources(data) or "")
        mine = read(path)
        if mine is None:
            write_safely(path, data)
            self.new.append(path.name)
            self._current(key, fresh)
            return
        text = sources(mine)
        if mine == data or fresh.bytes == laid.bytes:
            self._current(key, fresh)
        elif text == laid.sources:
            if digest(mine) == laid.bytes:
                write_safely(path, data)
            else:  # cells were run: the outputs are worth keeping
                _exchange(path, data, self._backup(path))
            self._current(key, fresh)
        elif text == fresh.sources:  # the learner took over the new version already
            self._current(key, fresh)
        elif laid.offered != fresh.bytes:
            self._offer(path, data, laid.offered)
            self.laid[key] = replace(laid, offered=fresh.bytes)

    def image(self, key: str, data: bytes) -> None:
        path, there = self.desk / key, read(self.desk / key)
        if there is not None and there != data and digest(there) != self.laid.get(key, _Laid()).bytes:
            aside = self._backup(path)
            _exchange(path, data, aside)
            self.said.append(f"{key} was changed: it is the course's own again, yours is {BACKUPS}/{aside.name}.")
        elif there != data:
            write_safely(path, data)
        self.laid[key] = _Laid(digest(data))

    def gone(self, key: str) -> None:
        """Deal with a file that the course no longer has."""
        if key.startswith(IMAGES):
            return  # a notebook that the learner kept may still show it
        path, laid = self.desk / key, self.laid[key]
        self._tidy(key)
        del self.laid[key]
        mine = read(path)
        if mine is None:
            return
        where = "stays where it is, for you changed it"
        if sources(mine) == laid.sources:
            aside = self._backup(path)
            move(path, aside)
            where = f"is kept as {BACKUPS}/{aside.name}"
        self.said.append(f"{path.name} is no longer part of the course: your copy {where}.")

    def renew(self, key: str, data: bytes) -> Path | None:
        """Lay a clean copy whatever lies there, and give the backup of that."""
        path = self.desk / key
        aside = self._backup(path) if os.path.lexists(path) else None
        if aside:
            _exchange(path, data, aside)
        else:
            write_safely(path, data)
        self._current(key, _Laid(digest(data), sources(data) or ""))
        return aside

    def save(self) -> None:
        """Write down what was laid out, if anything changed."""
        files = {key: asdict(laid) for key, laid in sorted(self.laid.items())}
        raw = (json.dumps({"version": VERSION, "files": files}, indent=1) + "\n").encode()
        if raw == self.raw:
            return
        if self.raw is not None and self.trouble:
            aside = free_name(self.desk, ".desk.broken-", ".json")
            write_safely(aside, self.raw)
            self.said.append(
                f"The list of what lies on your desk, {MARKER}, {self.trouble}: it is kept as {aside.name}, and "
                "every notebook that differs from the course counts as changed by you."
            )
        write_safely(self.desk / MARKER, raw)

    def _offer(self, path: Path, data: bytes, offered: str) -> None:
        beside = newer_beside(path)
        there = read(beside)
        if there is not None and there != data and digest(there) != offered:
            _exchange(beside, data, self._backup(beside))
        elif there != data:
            write_safely(beside, data)
        self.said.append(
            f"There is a new version of {path.name}: your copy stays as it is, and the new one lies beside it as "
            f"{beside.name}."
        )

    def _current(self, key: str, fresh: _Laid) -> None:
        """Note that a copy is up to date."""
        self._tidy(key)
        self.laid[key] = fresh

    def _tidy(self, key: str) -> None:
        """Remove the new version beside a copy, if nobody touched it: it has become superfluous."""
        beside, offered = newer_beside(self.desk / key), self.laid.get(key, _Laid()).offered
        if offered and digest(read(beside) or b"") == offered:
            beside.unlink()

    def _backup(self, path: Path) -> Path:
        return free_name(self.desk / BACKUPS, f"{path.stem}.", path.suffix)


def newer_beside(path: Path) -> Path:
    """Give the place of a newer version that is laid beside a changed copy.

    >>> newer_beside(Path("05-softmax.ipynb")).name
    '05-softmax.new.ipynb'
    """
    return path.with_name(f"{path.stem}.new{path.suffix}")


def _pristine(course: Path) -> dict[str, bytes]:
    """Read the files of the course that a desk needs; the keys are their paths from the course's folder."""
    found = {}
    for path in chapter_files(course / NOTEBOOKS):
        data = found[f"{NOTEBOOKS}/{path.name}"] = path.read_bytes()
        if sources(data) is None:
            raise DeskError(f"The course's own {path} is not a notebook: get a fresh one by git restore.")
    if not found:
        raise DeskError(f"The folder {course / NOTEBOOKS} holds no chapters: get the course anew.")
    for path in sorted((course / IMAGES).glob("[!.]*")):
        if path.is_file():
            found[f"{IMAGES}/{path.name}"] = path.read_bytes()
    return found


def chapter_files(folder: Path) -> list[Path]:
    """Give the notebooks of a folder that are chapters, in their order: others have a dot in their name.

    >>> chapter_files(course_root() / "notebooks")[5].name
    '05-softmax.ipynb'
    """
    return [path for path in sorted(folder.glob("[0-9][0-9]-*.ipynb")) if "." not in path.stem and path.is_file()]


def _check_place(desk: Path, course: Path) -> None:
    """Refuse a desk that would mix with the course's own files."""
    desk, course = desk.resolve(), course.resolve()
    if desk == course or desk in course.parents or desk.is_relative_to(course / NOTEBOOKS):
        raise DeskError(f"{desk} cannot be the desk, for the course's own files lie there: name another folder.")


def find_chapter(chapter: str, keys: Sequence[str]) -> str:
    """Give the one of some notebooks' paths that a number or a name means.

    >>> find_chapter("5", ["notebooks/04-scaling.ipynb", "notebooks/05-softmax.ipynb"])
    'notebooks/05-softmax.ipynb'
    """
    wanted = str(chapter).strip().removesuffix(".ipynb")
    number = wanted.zfill(2) if wanted else ""
    stems = {Path(key).stem: key for key in keys}
    found = [key for stem, key in stems.items() if wanted == stem or number == stem[:2]]
    if len(found) != 1:
        raise DeskError(f"There is no chapter {wanted!r}: choose one of {', '.join(stems)}.")
    return found[0]


def _manifest(raw: bytes | None) -> tuple[dict[str, _Laid], str]:
    """Give what a desk's list says, and what is wrong with the list ("" if nothing is)."""
    if raw is None:
        return {}, ""
    try:
        data = parse(raw)
        version = data["version"]
        if type(version) is int and version > VERSION:
            return {}, "was made by a newer version of the course"
        laid = {key: _Laid(**entry) for key, entry in data["files"].items()}
        good = version == VERSION and all(
            KEY.fullmatch(key) and all(isinstance(value, str) for value in asdict(entry).values())
            for key, entry in laid.items()
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        good = False
    return (laid, "") if good else ({}, "was not readable")


# --- what notebooks hold ------------------------------------------------------------------------------


def digest(data: bytes) -> str:
    """Give the hash by which the desk knows a file again.

    >>> digest(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(data).hexdigest()


def sources(data: bytes) -> str | None:
    """Give a hash of what a learner edits in a notebook, the cells' types and sources; None if it is none.

    >>> sources(b'{"cells": [{"cell_type": "code", "source": ["1 +", " 1"], "outputs": []}]}') == sources(
    ...     b'{"cells": [{"cell_type": "code", "source": "1 + 1", "outputs": [{"text": "2"}]}]}')
    True
    >>> sources(b"not a notebook") is None
    True
    """
    try:
        cells = [(cell["cell_type"], _text(cell["source"])) for cell in parse(data, limit=None)["cells"]]
    except (ValueError, TypeError, KeyError):
        return None
    return digest(json.dumps(cells).encode())


def _text(source: object) -> str:
    if isinstance(source, (str, list)):
        return "".join(source)
    raise TypeError(f"{type(source).__name__} is no source")


def parse(data: bytes, limit: int | None = LARGEST) -> dict[str, Any]:
    """Read a JSON object, or raise ValueError for anything else.

    >>> parse(b'{"version": 1}')
    {'version': 1}
    """
    if limit is not None and len(data) > limit:
        raise ValueError(f"{len(data)} bytes are more than {limit}")
    try:
        found = json.loads(data.decode("utf-8-sig"))  # some editors put a mark before the text
    except RecursionError:
        raise ValueError("too deeply nested") from None
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found


# --- files --------------------------------------------------------------------------------------------


def read(path: Path, limit: int = -1) -> bytes | None:
    """Give the bytes of a file, at most `limit` of them, or None if there is no such file.

    >>> read(Path("no-such-file")) is None
    True
    """

    def work() -> bytes:
        with path.open("rb") as file:
            return file.read(limit)

    try:
        return patiently(work)
    except FileNotFoundError:
        return None


def write_safely(path: Path, data: bytes) -> None:
    """Write a file so that it holds, whatever happens, either all of the old bytes or all of the new ones.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_safely(Path(folder) / "a.txt", b"hello")
    ...     (Path(folder) / "a.txt").read_bytes()
    b'hello'
    """
    fresh = _stage(path, data)
    try:
        move(fresh, path)
    except BaseException:
        _remove(fresh)
        raise


def move(old: Path, new: Path) -> None:
    """Rename a file, and see to it that a power cut does not undo that.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_safely(Path(folder) / "a.txt", b"hello")
    ...     move(Path(folder) / "a.txt", Path(folder) / "b.txt")
    ...     [path.name for path in Path(folder).iterdir()]
    ['b.txt']
    """
    patiently(lambda: old.replace(new))  # the one step that cannot be done by halves
    _settle(old.parent, new.parent)


def free_name(folder: Path, stem: str, suffix: str) -> Path:
    """Give a path with the date and time in it at which nothing lies yet.

    >>> len(free_name(Path("backups"), "05-softmax.", ".ipynb").name)
    36
    """
    date = f"{datetime.now():%Y-%m-%dT%H-%M-%S}"
    names = (f"{stem}{date}{suffix if n == 1 else f'-{n}{suffix}'}" for n in itertools.count(1))
    return next(folder / name for name in names if not os.path.lexists(folder / name))


def sweep(folder: Path, name: str = "*") -> None:
    """Remove temporary files that a killed program left behind; only call this under the lock.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / ".a.txt.00c0ffee.desk-tmp").write_text("half a")
    ...     sweep(Path(folder), "a.txt")
    ...     list(Path(folder).iterdir())
    []
    """
    for path in folder.glob(f".{name}.*{TEMPORARY}"):
        _remove(path)


def patiently(work: Callable[[], T]) -> T:
    """Do something with a file; where another program holds it for a moment (Windows), try again a few times.

    >>> patiently(lambda: 5)
    5
    """
    for pause in (0.01, 0.03, 0.1, 0.3):
        try:
            return work()
        except PermissionError:
            time.sleep(pause)
    return work()


@contextlib.contextmanager
def locked(path: Path, seconds: float | None = None) -> Iterator[None]:
    """Hold the lock file `path`, which only one program and one thread can; the system frees it if one dies.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with locked(Path(folder) / "lock"):
    ...         with locked(Path(folder) / "lock", seconds=0):
    ...             pass
    Traceback (most recent call last):
    ...
    TimeoutError: [Errno ...] another program is busy with it: '...lock'
    """
    with path.open("ab") as file:
        end = time.monotonic() + (PATIENCE if seconds is None else seconds)
        while not _lock(file.fileno()):
            if time.monotonic() >= end:
                raise TimeoutError(errno.ETIMEDOUT, "another program is busy with it", str(path))
            time.sleep(random.uniform(0.001, 0.01))
        try:
            yield
        finally:
            _unlock(file.fileno())


def reason(error: OSError) -> str:
    """Say in words why the system refused to do something with a file.

    >>> reason(OSError(errno.ENOSPC, "No space left on device"))
    'the disk is full (free some space and try again)'
    """
    path = Path(str(error.filename or "a file"))
    where = path.parent if path.name.endswith((TEMPORARY, ".lock")) else path
    if error.errno in FULL:
        return "the disk is full (free some space and try again)"
    if isinstance(error, TimeoutError):
        return "another notebook or program is busy with the desk (try again in a moment)"
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return f"this computer does not allow to change or read {where} (look at its permissions)"
    if isinstance(error, (FileExistsError, NotADirectoryError, IsADirectoryError)):
        return f"a file lies where a folder should be, or a folder where a file should be (look at {where})"
    if isinstance(error, FileNotFoundError):
        return f"{where} is not there"
    return f"{error.strerror or error} ({where})"


@contextlib.contextmanager
def _in_words(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DeskError(f"{what}: {reason(error)}.") from error


def _stage(path: Path, data: bytes) -> Path:
    """Write bytes to a temporary file beside `path`, down to the disk."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}{TEMPORARY}")
    try:
        with fresh.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        _remove(fresh)
        raise
    return fresh


def _exchange(path: Path, data: bytes, aside: Path) -> None:
    """Move what lies at `path` to `aside` and lay new bytes in its place: both, or neither."""
    fresh = _stage(path, data)
    try:
        patiently(lambda: path.replace(aside))
        try:
            patiently(lambda: fresh.replace(path))
        except BaseException:
            move(aside, path)
            raise
    except BaseException:
        _remove(fresh)
        raise
    _settle(path.parent, aside.parent)


def _settle(*folders: Path) -> None:
    """See to it that a power cut does not undo what was renamed in these folders."""
    for folder in set(folders):
        with contextlib.suppress(OSError):  # Windows cannot do this, and does not need it
            number = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(number)
            finally:
                os.close(number)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


if sys.platform == "win32":  # pragma: no cover - each system has only one of the two
    import msvcrt

    def _lock(number: int) -> bool:
        """Take the lock of an open file, or tell that another one has it."""
        try:
            os.lseek(number, 0, os.SEEK_SET)
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock(number: int) -> None:
        os.lseek(number, 0, os.SEEK_SET)
        msvcrt.locking(number, msvcrt.LK_UNLCK, 1)

else:  # pragma: no cover - each system has only one of the two
    import fcntl

    def _lock(number: int) -> bool:
        """Take the lock of an open file, or tell that another one has it."""
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(number: int) -> None:
        fcntl.flock(number, fcntl.LOCK_UN)
