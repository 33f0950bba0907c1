"""Exercises that know which mistake you made.

In a notebook: a stub with ``...``, then ``check("05-softmax-rows", softmax_rows)``. Also ``hint(id)``, one at a
time, ``answer(id)``, the tested reference, and ``progress()``, what is solved over all chapters.
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from attnlib.exercises.kinds import Exercise
from attnlib.exercises.messages import say
from attnlib.exercises.verdicts import Note, Verdict

_hints_given: dict[str, int] = {}


def check(exercise: str, given: Any) -> Verdict:
    """Say in a line whether an answer is right, or which mistake was made.

    Parameters
    ----------
    exercise : the exercise's id, such as "05-softmax-rows"
    given : the learner's function, number, letter or order; ``...`` means not started

    Examples
    --------
    >>> check("05-softmax-rows", ...)
    Not started. For a first hint: hint("05-softmax-rows")
    >>> from attnlib import softmax
    >>> check("05-softmax-rows", lambda scores: softmax(scores, axis=0)).mistake
    'wrong-axis'
    """
    verdict = find(exercise).judge(given)
    return verdict if verdict.kind == "not-started" else verdict.noted(_record(verdict))


def hint(exercise: str) -> Note:
    """Give the next hint of an exercise; each call gives one more.

    >>> _hints_given.clear()
    >>> hint("05-softmax-rows").text.startswith("Hint 1 of 3.")
    True
    """
    hints = find(exercise).hints
    given = _hints_given.get(exercise, 0)
    _hints_given[exercise] = given + 1
    if given >= len(hints):
        return Note(say("hint-none-left", id=exercise))
    return Note(say("hint", number=given + 1, total=len(hints), text=hints[given]))


def answer(exercise: str) -> Note:
    """Show the reference answer: the source of the tested code, or the value with its reason.

    >>> print(answer("05-softmax-rows").text.splitlines()[1])
    def softmax_rows(scores):
    """
    return Note(find(exercise).answer())


def progress() -> Note:
    """Show what is solved, over all chapters.

    >>> print(progress())  # doctest: +ELLIPSIS
    Progress is kept only for notebooks on your desk...
    """
    from attnlib import desk, solved

    here = desk.find_desk()
    if here is None:
        return Note(say("no-desk"))
    known = solved.load(here)
    return Note("\n".join([*known.sentences, solved.bars(known, by_chapter())]))


def find(exercise: str) -> Exercise:
    """Give the exercise with this id.

    >>> find("05-softmax-rows").chapter
    '05'
    """
    known = all_exercises()
    if not isinstance(exercise, str) or exercise not in known:
        close = difflib.get_close_matches(str(exercise).lower(), known, n=1)
        asked = " ".join(str(exercise).split())[:80]
        raise ValueError(say("unknown-id", id=asked, close=close[0] if close else ", ".join(known)))
    return known[exercise]


@cache
def all_exercises() -> dict[str, Exercise]:
    """Give every exercise of the course by its id, in the order of the chapters.

    >>> "05-softmax-rows" in all_exercises()
    True
    """
    found: dict[str, Exercise] = {}
    for name in sorted(module.name for module in iter_modules(__path__) if module.name.startswith("chapter")):
        module = import_module(f"attnlib.exercises.{name}")
        found.update((exercise.id, exercise) for exercise in module.EXERCISES)
    return found


def by_chapter() -> dict[str, list[str]]:
    """Give the ids of each chapter's exercises.

    >>> by_chapter()["05"][0]
    '05-by-hand'
    """
    grouped: dict[str, list[str]] = {}
    for exercise in all_exercises().values():
        grouped.setdefault(exercise.chapter, []).append(exercise.id)
    return grouped


def _record(verdict: Verdict) -> str | None:
    """Keep the result on the learner's desk, if this notebook lies on one; give a sentence if that failed."""
    from attnlib import desk, solved

    here = desk.find_desk()
    if here is None:
        return say("not-kept") if verdict.kind == "solved" else None
    return solved.record(here, verdict.exercise, solved=verdict.kind == "solved", mistake=verdict.mistake)
