"""The study group: a small file from each member, and for the teacher a table of who is stuck where.

    {"format": "attnlib-group", "version": 1, "nickname": "Mina", "day": "2026-11-18",
     "exercises": {"05-softmax-rows": {"solved": false, "tries": 3, "mistakes": {"wrong-axis": 2}}}}

A member's file holds no code, and nothing of the person but the nickname. What comes from others is read with
care: of bounded size, of exactly this form, and shown only as text.
"""

from __future__ import annotations

import html
import json
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from attnlib import desk as files
from attnlib import solved, teaching
from attnlib.chapters import CHAPTERS
from attnlib.desk import DeskError
from attnlib.exercises import all_exercises, by_chapter
from attnlib.exercises.messages import text_of

FORMAT, VERSION = "attnlib-group", 1
PREFIX, PAGE = "group-", "group.html"
LARGEST = 200_000
"""bytes of one member's file"""
MOST_FILES, MOST_ENTRIES, LONGEST = 500, 500, 30
MARK = "<!doctype html><!-- made by python -m attnlib group -->"
SHADES = ((0.0, "#ffffff"), (0.01, "#dcebf5"), (0.34, "#b3d5ea"), (0.67, "#86bcdd"), (1.0, "#5aa3cf"))
"""the ground of a cell, by the share that is solved; black text has a contrast above 7 : 1 on each"""


class FileError(ValueError):
    """A member's file cannot be used; the message says why, to be put after the file's name.

    >>> raise FileError("is empty")
    Traceback (most recent call last):
    ...
    attnlib.group.FileError: is empty
    """


@dataclass(frozen=True)
class Member:
    """What one member has done.

    >>> Member("Mina", "2026-11-18", {}).nickname
    'Mina'
    """

    nickname: str
    day: str
    exercises: Mapping[str, solved.Exercise]

    def done(self, names: Sequence[str]) -> int:
        """Count the exercises of a list that are solved."""
        return sum(self.exercises[name].solved is not None for name in names if name in self.exercises)

    def stuck(self, names: Sequence[str]) -> list[str]:
        """Give the exercises of a list that were tried and are not solved."""
        return [name for name in names if name in self.exercises and self.exercises[name].solved is None]


# --- a member's file ----------------------------------------------------------------------------------


def check_nickname(nickname: object) -> str:
    """Give a nickname as it is stored, or say what is wrong with it.

    >>> check_nickname(" Mina ")
    'Mina'
    >>> check_nickname("<b>")
    Traceback (most recent call last):
    ...
    attnlib.desk.DeskError: A nickname has 1 to 30 letters, digits, spaces, dots or dashes, not '<b>'.
    """
    name = unicodedata.normalize("NFC", nickname).strip() if isinstance(nickname, str) else ""
    letters = all(unicodedata.category(sign)[0] in "LMN" or sign in " ._-" for sign in name)
    if not (0 < len(name) <= LONGEST and letters and name[0].isalnum()):
        shown = ascii(nickname)[: LONGEST + 10]
        raise DeskError(f"A nickname has 1 to {LONGEST} letters, digits, spaces, dots or dashes, not {shown}.")
    return name


def export(where: Path, nickname: str) -> Path:
    """Write a member's file on the desk, and give its path.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     export(Path(folder), "Mina").name
    'group-Mina.json'
    """
    name = check_nickname(nickname)
    known = all_exercises()
    told = {
        exercise: {
            "solved": entry.solved is not None,
            "tries": entry.tries,
            "mistakes": {
                mistake: n for mistake, n in entry.mistakes.items() if mistake in known[exercise].mistakes
            },
        }
        for exercise, entry in solved.load(where).exercises.items()
        if exercise in known
    }
    data = {"format": FORMAT, "version": VERSION, "nickname": name, "day": f"{date.today()}", "exercises": told}
    path = where / f"{PREFIX}{name.replace(' ', '-').rstrip('.')}.json"
    try:
        there = files.read(path, LARGEST + 1)
        if there is not None:
            read_member(there)  # only a member's file is replaced
        files.write_safely(path, (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode())
    except FileError:
        raise DeskError(f"{path} lies where your file should be, and is no such file: move it away.") from None
    except OSError as error:
        raise DeskError(f"Your file could not be written: {files.reason(error)}.") from error
    return path


def read_member(raw: bytes) -> Member:
    """Read a member's file; what the course does not know is left out.

    >>> read_member(b'{"format": "attnlib-group", "version": 2}')
    Traceback (most recent call last):
    ...
    attnlib.group.FileError: was made by a newer version of the course: update yours
    """
    try:
        data = files.parse(raw, LARGEST)
    except ValueError:
        raise FileError(f"is no member's file of at most {LARGEST // 1000} kB") from None
    version = data.get("version")
    if data.get("format") != FORMAT or type(version) is not int or version < 1:
        raise FileError("is no member's file: python -m attnlib status --export makes one")
    if version > VERSION:
        raise FileError("was made by a newer version of the course: update yours")
    try:
        nickname = check_nickname(data.get("nickname"))
    except DeskError as error:
        raise FileError(f"has no nickname ({str(error).rstrip('.')})") from None
    day, exercises = data.get("day"), data.get("exercises")
    if not _is_day(day):
        raise FileError("has no day such as 2026-11-18")
    if not isinstance(exercises, dict) or len(exercises) > MOST_ENTRIES:
        raise FileError(f"has no list of at most {MOST_ENTRIES} exercises")
    known = all_exercises()
    found = {
        name: solved.Exercise(
            day if entry["solved"] else None,
            entry["tries"],
            _known(name, entry["mistakes"]),
        )
        for name, entry in exercises.items()
        if _is_entry(entry) and name in known
    }
    return Member(nickname, str(day), found)


def _known(exercise: str, mistakes: Mapping[str, int]) -> dict[str, int]:
    """Give the mistakes that the course has a name for: nothing else is told to the group."""
    names = all_exercises()[exercise].mistakes
    return {mistake: count for mistake, count in mistakes.items() if count and mistake in names}


def _is_day(day: object) -> bool:
    try:
        return isinstance(day, str) and len(day) == 10 and bool(date.fromisoformat(day))
    except ValueError:
        return False


def _is_entry(entry: object) -> bool:
    """Tell whether an entry has its form; a file in which one has not is refused whole."""
    good = (
        isinstance(entry, dict)
        and isinstance(entry.get("solved"), bool)
        and solved.is_count(entry.get("tries"))
        and isinstance(entry.get("mistakes"), dict)
        and len(entry["mistakes"]) <= MOST_ENTRIES
        and all(map(solved.is_count, entry["mistakes"].values()))
    )
    if not good:
        raise FileError("has an exercise without solved, tries and mistakes")
    return True


# --- the group ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """One thing to talk about: an exercise on which members are stuck.

    >>> Point("05-softmax-rows", ["Mina"], "wrong-axis", 1, "Look at the rows.").mistake
    'wrong-axis'
    """

    exercise: str
    stuck: Sequence[str]
    """who tried and has not solved it"""
    mistake: str
    """the mistake that most members made, or "" """
    made_by: int
    say: str
    """what to say to it"""


@dataclass(frozen=True)
class Group:
    """The members of a study group, and the sentences about files that were left out.

    >>> Group((Member("Mina", "2026-11-18", {}),), ())
    Nobody has tried an exercise yet: Mina.
    """

    members: tuple[Member, ...]
    sentences: tuple[str, ...]

    def points(self) -> list[Point]:
        """Give what to talk about next week: first what most members are stuck on."""
        found = []
        for name, exercise in all_exercises().items():
            tried = [
                (member.nickname, member.exercises[name]) for member in self.members if name in member.exercises
            ]
            stuck = [nickname for nickname, entry in tried if entry.solved is None]
            made = Counter(mistake for _, entry in tried for mistake in entry.mistakes if entry.mistakes[mistake])
            mistake, count = made.most_common(1)[0] if made else ("", 0)
            if stuck or count > 1:
                say = teaching.words(name, mistake) or text_of(name, "mistakes", mistake) if mistake else ""
                found.append(Point(name, stuck, mistake, count, say or exercise.hints[0]))
        return sorted(found, key=lambda point: (-len(point.stuck), -point.made_by, point.exercise))

    def __repr__(self) -> str:
        """Give the table and what to talk about, in plain text."""
        chapters = self._chapters()
        if not chapters:
            return f"Nobody has tried an exercise yet: {', '.join(member.nickname for member in self.members)}."
        rows = [["", *(number for number, _ in chapters)]]
        for member in self.members:
            rows.append([member.nickname, *(_cell(member, names) for _, names in chapters)])
        widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(_padded, row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, "(solved of all; !2 = tried two without solving them)", "", *self._talk()])

    def _repr_html_(self) -> str:
        chapters = self._chapters()
        titles = {chapter.number: " ".join(chapter.title.split()) for chapter in CHAPTERS}
        head = "".join(f'<th scope="col" title="{titles[number]}">{number}</th>' for number, _ in chapters)
        body = "".join(
            f'<tr><th scope="row" style="text-align:left;padding:4px 10px">{html.escape(member.nickname)}</th>'
            + "".join(_shaded(member, names) for _, names in chapters)
            + "</tr>"
            for member in self.members
        )
        talk = "".join(f"<li>{html.escape(line)}</li>" for line in self._talk()[1:])
        table = f'<table style="border-collapse:collapse"><thead><tr><td></td>{head}</tr></thead>{body}</table>'
        return (
            f"{table}<p>Solved of all, the darker the more; !2 = tried two without solving them.</p>"
            f"<h2>What to talk about</h2><ol>{talk or '<li>Nobody is stuck.</li>'}</ol>"
        )

    def page(self) -> str:
        """Give a page of its own for a browser; it asks nothing of the network."""
        about = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.sentences)
        style = (
            "body{font:18px/1.5 sans-serif;margin:2em;max-width:70em;color:#000;background:#fff}li{margin:.5em 0}"
        )
        return (
            f'{MARK}<html lang="en"><meta charset="utf-8"><title>The study group</title><style>{style}</style>'
            f"<h1>The study group</h1>{about}{self._repr_html_()}</html>\n"
        )

    def _chapters(self) -> list[tuple[str, list[str]]]:
        """Give the chapters in which anybody has tried anything, with their exercises."""
        tried = {name for member in self.members for name in member.exercises}
        return [(number, names) for number, names in by_chapter().items() if tried & set(names)]

    def _talk(self) -> list[str]:
        lines = []
        for point in self.points():
            who = f"stuck: {', '.join(point.stuck)}" if point.stuck else "solved by all who tried"
            made = f"; most often {point.mistake}, by {point.made_by}" if point.mistake else ""
            lines.append(f"{point.exercise} ({who}{made}): {point.say}")
        return ["What to talk about:" if lines else "Nobody is stuck.", *lines]


def gather(folder: Path | str) -> Group:
    """Read the members' files of a folder; of two with one nickname the newer counts.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = export(Path(folder), "Mina")
    ...     [member.nickname for member in gather(Path(folder)).members]
    ['Mina']
    """
    try:
        found = [path for path in Path(folder).iterdir() if path.is_file()]
    except OSError as error:
        raise DeskError(f"The folder of the group could not be read: {files.reason(error)}.") from error
    paths = sorted(path for path in found if path.suffix.lower() == ".json")
    if not paths:
        how = "put the members' files there (python -m attnlib status --export --name NICKNAME makes one)"
        raise DeskError(f"There is no member's file in {folder}: {how}.")
    said = [f"Only the first {MOST_FILES} files were read."] if len(paths) > MOST_FILES else []
    members: dict[str, Member] = {}
    for path in paths[:MOST_FILES]:
        try:
            member = read_member(files.read(path, LARGEST + 1) or b"")
        except (FileError, OSError) as error:
            why = files.reason(error) if isinstance(error, OSError) else f"it {error}"
            said.append(f"{ascii(path.name)[1:-1]} was left out: {why}.")
            continue
        key = member.nickname.casefold()
        if key in members:
            said.append(f"There are two files of {member.nickname}: the newer one counts.")
        members[key] = max(members.get(key, member), member, key=_age)
    return Group(tuple(sorted(members.values(), key=lambda member: member.nickname.casefold())), tuple(said))


def write_page(group: Group, folder: Path) -> Path:
    """Write the group's page into the folder, and give its path; another file of that name is never replaced.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_page(Group((), ()), Path(folder)).name
    'group.html'
    """
    path = folder / PAGE
    try:
        there = files.read(path, len(MARK))
        if there is not None and there != MARK.encode():
            raise DeskError(f"{path} is not a page of the group: move it away, and run the same command again.")
        files.write_safely(path, group.page().encode())
    except OSError as error:
        raise DeskError(f"The page of the group could not be written: {files.reason(error)}.") from error
    return path


def _age(member: Member) -> tuple[str, int]:
    """Give what grows with time: the day, and on one day the number of tries."""
    return member.day, sum(entry.tries for entry in member.exercises.values())


def _cell(member: Member, names: Sequence[str]) -> str:
    stuck = len(member.stuck(names))
    return f"{member.done(names)}/{len(names)}" + (f" !{stuck}" if stuck else "")


def _shaded(member: Member, names: Sequence[str]) -> str:
    share = member.done(names) / len(names)
    ground = [colour for limit, colour in SHADES if share >= limit][-1]
    edge = "3px solid #b24a00" if member.stuck(names) else "1px solid #999"
    style = f"background:{ground};color:#000;border:{edge};padding:4px 10px;text-align:center"
    return f'<td style="{style}">{_cell(member, names)}</td>'


def _width(text: str) -> int:
    """Give how many columns of a terminal a text takes: Hangul takes two each, a mark none."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.category(sign) in ("Mn", "Me") for sign in text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
