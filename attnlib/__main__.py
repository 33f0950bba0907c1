"""The commands of the course: ``python -m attnlib --help`` lists them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
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


def status(options: argparse.Namespace) -> int:
    """Show what is solved, by chapter.

    >>> COMMANDS[2].work is status
    True
    """
    from attnlib.exercises import by_chapter

    where = desk.default_desk()
    if not (where / desk.MARKER).is_file():
        say("There is no desk yet, so nothing is solved: begin with make lab (on Windows: py course.py lab).")
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


class Argument(NamedTuple):
    """One argument of a command: --quiet is a switch, chapter is needed.

    >>> Argument("chapter", "its number").name
    'chapter'
    """

    name: str
    help: str


class Command(NamedTuple):
    """One command: its name, what --help says of it, its function and its arguments.

    >>> [command.name for command in COMMANDS]
    ['desk', 'reset', 'status', 'doctor']
    """

    name: str
    help: str
    work: Callable[[argparse.Namespace], int]
    arguments: tuple[Argument, ...] = ()


QUIET = Argument("--quiet", "say only what is new")
CHAPTER = Argument("chapter", "its number or name, as 05")

COMMANDS = (
    Command("desk", "make your desk, or bring it up to date", lay_desk, (QUIET,)),
    Command("reset", "lay a clean copy of a chapter", reset, (CHAPTER,)),
    Command("status", "show what you have solved", status),
    Command("doctor", "tell whether this machine is ready", doctor),
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
        for name, text in command.arguments:
            if name.startswith("-"):
                sub.add_argument(name, help=text, action="store_true")
            else:
                sub.add_argument(name, help=text)
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
