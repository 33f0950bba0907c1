"""The commands of the course: ``python -m attnlib --help`` lists them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from attnlib import desk, solved
from attnlib.desk import DeskError

PROGRAM = "python -m attnlib"


def say(text: str) -> None:
    """Print a text; a letter that the terminal does not know becomes a question mark.

    >>> say("Your desk is ready.")
    Your desk is ready.
    """
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), flush=True)


def lay_desk(options: argparse.Namespace) -> int:
    """Make or update the desk, and say what changed (unless --quiet: also that nothing did).

    >>> COMMANDS[0].work is lay_desk
    True
    """
    where = desk.default_desk()
    said = desk.lay_out(where, desk.course_root())
    if not said and not options.quiet:
        said = [f"Your desk in {where} is up to date."]
    for sentence in said:
        say(sentence)
    return 0


def reset(options: argparse.Namespace) -> int:
    """Lay a clean copy of a chapter.

    >>> COMMANDS[1].work is reset
    True
    """
    say(desk.reset(options.chapter, desk.default_desk(), desk.course_root()))
    return 0


def live(options: argparse.Namespace) -> int:
    """Lay a chapter for live coding on the desk.

    >>> COMMANDS[5].work is live
    True
    """
    from attnlib import live

    for sentence in live.lay(options.chapter, desk.default_desk(), desk.course_root()):
        say(sentence)
    return 0


def group(options: argparse.Namespace) -> int:
    """Show who of a study group is stuck where.

    >>> COMMANDS[6].work is group
    True
    """
    from attnlib import group

    found = group.gather(Path(options.folder))
    for text in (
        *found.sentences,
        repr(found),
        f"The same as a page: {group.write_page(found, Path(options.folder))}",
    ):
        say(text)
    return 0


def ready(options: argparse.Namespace) -> int:
    """Say whether a session can begin, or what is missing.

    >>> COMMANDS[4].work is ready
    True
    """
    from attnlib import ready

    missing = ready.missing(options.chapter)
    for sentence in missing or [ready.sentence(options.chapter)]:
        say(sentence)
    return int(bool(missing))


def status(options: argparse.Namespace) -> int:
    """Show what is solved, by chapter, or write it down for the group.

    >>> COMMANDS[2].work is status
    True
    """
    from attnlib.exercises import by_chapter

    where = desk.default_desk()
    if options.export != bool(options.name):
        raise DeskError(f"Choose a nickname for the group: {PROGRAM} status --export --name NICKNAME")
    if not (where / desk.MARKER).is_file():
        say("There is no desk yet, so nothing is solved: begin with make lab (on Windows: py course.py lab).")
        return 0
    if options.export:
        from attnlib.group import export

        say(f"Give this file to your group: {export(where, options.name)} (your nickname, and what you solved)")
        return 0
    progress = solved.load(where)
    for text in (*progress.sentences, solved.bars(progress, by_chapter())):
        say(text)
    return 0


def doctor(options: argparse.Namespace) -> int:
    """Say whether this machine is ready for the course.

    >>> COMMANDS[3].work is doctor
    True
    """
    from attnlib import environment

    say(environment.report())
    return int(bool(environment.problems()))


def slides(options: argparse.Namespace) -> int:
    """Let the slides begin in large type, or in their usual one.

    >>> COMMANDS[7].work is slides
    True
    """
    from attnlib import decks

    if options.size not in ("large", "usual"):
        raise DeskError(f"The slides begin in large or in usual type, not in {options.size!r}.")
    folder = desk.course_root() / decks.FOLDER
    count = decks.begin_large(folder, options.size == "large")
    if not options.quiet:
        how = "" if count else " (make slides builds them (on Windows: py course.py slides))"
        say(f"Decks in {folder.name}/ that begin in {options.size} type now: {count}{how}.")
    return 0


class Argument(NamedTuple):
    """One argument of a command: --quiet is a switch, --name NICKNAME has a value, chapter is needed.

    >>> Argument("chapter", "its number").name
    'chapter'
    """

    name: str
    help: str
    value: str = ""
    """what the value of an option is called"""
    needed: bool = True
    """whether a place without a name must be filled"""

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Make a parser know it."""
        if not self.name.startswith("-"):
            parser.add_argument(self.name, help=self.help, nargs=None if self.needed else "?")
        elif self.value:
            parser.add_argument(self.name, help=self.help, metavar=self.value, default="")
        else:
            parser.add_argument(self.name, help=self.help, action="store_true")


class Command(NamedTuple):
    """One command: its name, what --help says of it, its function and its arguments.

    >>> [command.name for command in COMMANDS]
    ['desk', 'reset', 'status', 'doctor', 'ready', 'live', 'group', 'slides']
    """

    name: str
    help: str
    work: Callable[[argparse.Namespace], int]
    arguments: tuple[Argument, ...] = ()


QUIET = Argument("--quiet", "say only what is new")
CHAPTER = Argument("chapter", "its number or name, as 05")
EXPORT = Argument("--export", "write it into a small file for your study group")
NAME = Argument("--name", "how your study group calls you", "NICKNAME")
SIZE = Argument("size", "large, for a room, or usual")
FOLDER = Argument("folder", "where the members' files are")

COMMANDS = (
    Command("desk", "make your desk, or bring it up to date", lay_desk, (QUIET,)),
    Command("reset", "lay a clean copy of a chapter", reset, (CHAPTER,)),
    Command("status", "show what you have solved", status, (EXPORT, NAME)),
    Command("doctor", "tell whether this machine is ready", doctor),
    Command("ready", "tell whether you can teach a chapter", ready, (CHAPTER._replace(needed=False),)),
    Command("live", "lay a chapter to type before others", live, (CHAPTER,)),
    Command("group", "show who of a study group is stuck", group, (FOLDER,)),
    Command("slides", "let the slides begin in large type, or not", slides, (SIZE, QUIET)),
)


class Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence.

    >>> issubclass(Parser, argparse.ArgumentParser)
    True
    """

    def error(self, message: str) -> NoReturn:
        """Complain instead of printing the usage."""
        raise DeskError(f"This command is not clear ({message}): {PROGRAM} --help lists the commands.")


def parser() -> Parser:
    """Make the parser of the command line.

    >>> parser().parse_args(["reset", "05"]).chapter
    '05'
    """
    top = Parser(prog=PROGRAM, description="The commands of the course.", allow_abbrev=False)
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.help, description=command.help, allow_abbrev=False)
        for argument in command.arguments:
            argument.add_to(sub)
        sub.set_defaults(work=command.work)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code.

    >>> main(["doctor"])  # doctest: +ELLIPSIS
    All is well: attnlib ...
    0
    """
    try:
        options = parser().parse_args(arguments)
        return int(options.work(options))
    except DeskError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
