"""The kinds of exercises, and how each judges an answer."""

from __future__ import annotations

import inspect
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from attnlib.exercises.messages import say, text_of
from attnlib.exercises.running import Outcome, is_stub, own_line, run, settled
from attnlib.exercises.verdicts import Verdict

Function = Callable[..., Any]
SEEDS = (0, 1)
"""every function is tried on the cases of more than one seed, so that no mistake passes by luck"""


class Exercise(ABC):
    """What all exercises share: an id, a chapter, and texts from the catalogue."""

    def __init__(self, id: str) -> None:  # noqa: A002 - it is what everyone calls it
        self.id = id
        self.chapter = id[:2]

    @property
    def hints(self) -> list[str]:
        """The hints, from gentle to strong."""
        return list(text_of(self.id, "hints"))

    @property
    @abstractmethod
    def mistakes(self) -> Mapping[str, Any]:
        """The named mistakes: name → a wrong answer."""

    @property
    @abstractmethod
    def reference(self) -> Any:
        """A right answer."""

    @abstractmethod
    def examine(self, given: Any) -> Verdict:
        """Judge an answer that is not the stub."""

    @abstractmethod
    def answer(self) -> str:
        """Show the reference answer."""

    def judge(self, given: Any) -> Verdict:
        """Say whether an answer is right, or which mistake was made."""
        with np.errstate(all="ignore"):  # a learner's settings or numbers must not make the check itself complain
            return self.not_started() if is_stub(given) else self.examine(given)

    def not_started(self) -> Verdict:
        """Say that nothing was done yet, and how to get a hint."""
        return Verdict(self.id, "not-started", say("not-started", id=self.id))

    def right(self) -> Verdict:
        """Say that the answer is right, and what it now allows."""
        return Verdict(self.id, "solved", say("right", allows=text_of(self.id, "allows")))

    def named(self, mistake: str) -> Verdict:
        """Name a known mistake."""
        return Verdict(self.id, "mistake", say("mistake", text=text_of(self.id, "mistakes", mistake)), mistake)

    def wrong(self, reason: str, **values: object) -> Verdict:
        """Say what is wrong first."""
        return Verdict(self.id, "wrong", say(f"wrong-{reason}", id=self.id, **values), reason=reason)


class Property(NamedTuple):
    """Something that must hold of every right result, with a name in the catalogue."""

    name: str
    holds: Callable[..., bool]
    """called with the result and the arguments"""


class FunctionExercise(Exercise):
    """Write a function. It is tried on all cases and compared with the reference and with each known mistake.

    Parameters
    ----------
    reference : the tested answer
    cases : rng → list of argument tuples. All sizes differ from each other, so that a wrong axis cannot fit.
    mistakes : name → wrong function
    properties : what must hold of every result, looked at before the numbers
    """

    def __init__(
        self,
        id: str,  # noqa: A002
        reference: Function,
        cases: Callable[[np.random.Generator], list[tuple[Any, ...]]],
        mistakes: Mapping[str, Function],
        properties: Sequence[Property] = (),
        tolerance: float = 1e-6,
    ) -> None:
        super().__init__(id)
        self._reference = reference
        self._mistakes = dict(mistakes)
        self.cases = cases
        self.properties = properties
        self.tolerance = tolerance

    @property
    def reference(self) -> Function:
        """The tested answer."""
        return self._reference

    @property
    def mistakes(self) -> Mapping[str, Function]:
        """Name → wrong function."""
        return self._mistakes

    def answer(self) -> str:
        """Give the source of the tested reference."""
        return say("answer", source=inspect.getsource(self._reference).rstrip())

    def all_cases(self) -> list[tuple[Any, ...]]:
        """Give the cases of every seed."""
        return [case for seed in SEEDS for case in self.cases(np.random.default_rng(seed))]

    def examine(self, given: Any) -> Verdict:
        """Run the answer on all cases and judge what came."""
        if not callable(given):
            return self.wrong("callable", got=describe(given))
        cases = self.all_cases()
        outcomes: list[Outcome] = []
        for case in cases:
            outcome = run(given, case)
            if outcome.timed_out:
                return self.wrong("time")
            if outcome.value is ...:
                return self.not_started()
            outcomes.append(outcome)
        expected = [self._reference(*case) for case in cases]
        if all(self.agrees(o, Outcome(value=e)) for o, e in zip(outcomes, expected, strict=True)):
            return self.right()
        for name, mistake in self._mistakes.items():
            if all(self.agrees(o, run(mistake, case)) for o, case in zip(outcomes, cases, strict=True)):
                return self.named(name)
        faults = (
            self.first_fault(given, case, outcome, np.asarray(value))
            for case, outcome, value in zip(cases, outcomes, expected, strict=True)
        )
        return next(fault for fault in faults if fault is not None)

    def agrees(self, one: Outcome, other: Outcome) -> bool:
        """Tell whether two outcomes are the same: the same error, or the same numbers within the tolerance."""
        if one.changed != other.changed:
            return False
        if one.error is not None or other.error is not None:
            return type(one.error) is type(other.error) and in_words(one.error) == in_words(other.error)
        a, b = as_array(one.value), as_array(other.value)
        if a is None or b is None or a.shape != b.shape or "c" in a.dtype.kind + b.dtype.kind:
            return False
        return bool(np.allclose(a, b, rtol=self.room(a), atol=self.room(a), equal_nan=True))

    def room(self, got: np.ndarray[Any, Any]) -> float:
        """Give the tolerance, wider for an answer computed in float32."""
        return max(self.tolerance, 2e-5) if got.dtype == np.float32 else self.tolerance

    def first_fault(
        self, given: Function, case: tuple[Any, ...], outcome: Outcome, expected: np.ndarray[Any, Any]
    ) -> Verdict | None:
        """Give the first thing that is wrong with one outcome, or None if it is right."""
        if outcome.error is not None:
            return self.fault_of_error(given, outcome.error)
        got = as_array(outcome.value)
        if outcome.value is None:
            return self.wrong("none")
        if got is None:
            return self.wrong("type", got=describe(outcome.value))
        if got.shape != expected.shape:
            if expected.ndim == 0:
                return self.wrong("single", got=got.shape)
            shapes = ", ".join(str(x.shape) for x in case if isinstance(x, np.ndarray))
            inputs = say("input-shapes", shapes=shapes) if shapes else ""
            return self.wrong("shape", expected=expected.shape, got=got.shape, inputs=inputs)
        if got.dtype.kind not in "fiu":
            return self.wrong("dtype", got=got.dtype)
        lost = ~np.isfinite(got) & np.isfinite(expected)
        if lost.any():
            where = tuple(int(i) for i in np.argwhere(lost)[0])
            return self.wrong("nan", got=got[where], where=where)
        if outcome.changed is not None:
            return self.wrong("changed", number=outcome.changed + 1)
        for rule in self.properties:
            if not rule.holds(got, *case):
                return self.wrong("property", text=text_of(self.id, "properties", rule.name))._replace(
                    reason=rule.name
                )
        if np.allclose(got, expected, rtol=self.room(got), atol=self.room(got)):
            return None
        if expected.ndim == 0:
            wanted, found = told_apart(float(expected), float(got))
            return self.wrong("scalar", expected=wanted, got=found)
        with np.errstate(invalid="ignore"):
            gap = np.nan_to_num(np.abs(got - expected))
        where = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
        wanted, found = told_apart(float(expected[where]), float(got[where]))
        return self.wrong(
            "values",
            gap=f"{gap[where]:.3g}",
            where=where,
            expected=wanted,
            got=found,
            matrices=side_by_side(expected, got, where),
        )

    def fault_of_error(self, given: Function, error: BaseException) -> Verdict:
        """Say which error arose, and at which line of the learner's own code."""
        line = own_line(given, error)
        place = say("at-line", number=line[0], line=line[1]) if line else say("at-call")
        words = in_words(error)
        if "mismatch in its core dimension" in words:  # NumPy's own words help no learner here
            words = say("inner-sizes")
        return self.wrong("raises", error=words, place=place)


class NumberExercise(Exercise):
    """Give a number, computed by hand.

    Parameters
    ----------
    value : computes the right number
    within : how far off it may be
    mistakes : name → computes the number that this mistake leads to
    """

    def __init__(
        self,
        id: str,  # noqa: A002
        value: Callable[[], float],
        within: float,
        mistakes: Mapping[str, Callable[[], float]],
    ) -> None:
        super().__init__(id)
        self.value = value
        self.within = within
        self._mistakes = mistakes

    @property
    def reference(self) -> float:
        """The right number."""
        return float(self.value())

    @property
    def mistakes(self) -> Mapping[str, float]:
        """Name → the number that it leads to."""
        return {name: float(wrong()) for name, wrong in self._mistakes.items()}

    def answer(self) -> str:
        """Give the number and its reason."""
        return say("answer-value", value=f"{self.reference:.6g}", why=text_of(self.id, "why"))

    def examine(self, given: Any) -> Verdict:
        """Compare the number with the right one and with those of the known mistakes."""
        got = as_array(float(given) if isinstance(given, (Fraction, Decimal)) else given)
        if got is None or got.size != 1 or got.dtype.kind not in "fiu" or not np.isfinite(got).all():
            return self.wrong("number", got=describe(given))
        number = float(got.reshape(()))
        if abs(number - self.reference) <= self.within:
            return self.right()
        for name, wrong in self.mistakes.items():
            if abs(number - wrong) <= self.within:
                return self.named(name)
        side = say("too-high") if number > self.reference else say("too-low")
        return self.wrong("value", got=f"{number:.6g}", side=side)


class ChoiceExercise(Exercise):
    """Choose one of several options: a question, a prediction, or the place of a bug.

    Parameters
    ----------
    options : what may be answered
    value : computes the right option; every other option is a named mistake of the same name
    """

    def __init__(self, id: str, options: Sequence[str], value: Callable[[], str]) -> None:  # noqa: A002
        super().__init__(id)
        self.options = tuple(options)
        self.value = value

    @property
    def reference(self) -> str:
        """The right option."""
        return self.value()

    @property
    def mistakes(self) -> Mapping[str, str]:
        """Every other option."""
        return {option: option for option in self.options if option != self.reference}

    def answer(self) -> str:
        """Give the option and its reason."""
        return say("answer-value", value=self.reference, why=text_of(self.id, "why"))

    def examine(self, given: Any) -> Verdict:
        """Compare the option with the right one."""
        plain = str(given) if isinstance(given, (int, np.integer)) and not isinstance(given, bool) else given
        got = as_typed(plain) if isinstance(plain, str) else None
        for option in self.options:
            if got == as_typed(option):
                return self.right() if option == self.reference else self.named(option)
        return self.wrong("choice", got=describe(given), options=", ".join(self.options))


class OrderExercise(Exercise):
    """Put steps in order.

    Parameters
    ----------
    order : the right order, as letters: "cab"
    mistakes : name → a wrong order
    """

    def __init__(self, id: str, order: str, mistakes: Mapping[str, str]) -> None:  # noqa: A002
        super().__init__(id)
        self.order = order
        self._mistakes = mistakes

    @property
    def reference(self) -> str:
        """The right order."""
        return self.order

    @property
    def mistakes(self) -> Mapping[str, str]:
        """Name → a wrong order."""
        return self._mistakes

    def answer(self) -> str:
        """Give the order and its reason."""
        return say("answer-value", value=" ".join(self.order), why=text_of(self.id, "why"))

    def examine(self, given: Any) -> Verdict:
        """Compare the order with the right one, and name the first step that is out of place."""
        parts = given if isinstance(given, (list, tuple)) else [given]
        letters = "".join(part for part in parts if isinstance(part, str))
        got = "".join(letter for letter in as_typed(letters) if letter.isalnum())
        if sorted(got) != sorted(self.order):
            return self.wrong("order", got=describe(given), letters=", ".join(sorted(self.order)))
        if got == self.order:
            return self.right()
        for name, wrong in self._mistakes.items():
            if got == wrong:
                return self.named(name)
        place = next(i for i, (a, b) in enumerate(zip(got, self.order, strict=True)) if a != b)
        return self.wrong("place", number=place + 1, letter=got[place])


def as_typed(text: str) -> str:
    """Give a text without the differences that typing makes: spaces around it, case, forms of one letter.

    >>> as_typed(" Ｃ ")
    'c'
    """
    return unicodedata.normalize("NFKC", text).strip().lower()


def in_words(error: BaseException | None) -> str:
    """Give an error's name and message; some errors cannot even say their own.

    >>> in_words(ValueError("no"))
    'ValueError: no'
    """
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Write two numbers with so many digits that they look different.

    >>> told_apart(0.17678, 0.17677), told_apart(2.0, 3.0)
    (('0.17678', '0.17677'), ('2', '3'))
    """
    digits = 4
    while digits < 17 and f"{one:.{digits}g}" == f"{other:.{digits}g}":
        digits += 1
    return f"{one:.{digits}g}", f"{other:.{digits}g}"


def as_array(value: Any) -> np.ndarray[Any, Any] | None:
    """Give a learner's result as an array of numbers, or None if it is not one. Lists are fine.

    >>> as_array([[1, 2], [3, 4]]).shape
    (2, 2)
    >>> as_array("text") is None
    True
    """
    array = settled(value)
    return array if isinstance(array, np.ndarray) and array.dtype.kind in "fiubc" else None


def describe(value: Any) -> str:
    """Say what a value is, shortly.

    >>> describe(np.ones((2, 3))), describe("abc")
    ('an array of shape (2, 3)', "'abc' (str)")
    """
    if isinstance(value, np.ndarray):
        kind = "" if value.dtype.kind in "fiu" else say("of-kind", kind=value.dtype)
        return say("an-array", shape=value.shape) + kind
    try:
        shown = repr(value)
    except Exception:  # numbers of many thousand digits, strange objects
        shown = "..."
    return f"{shown if len(shown) <= 40 else shown[:37] + '...'} ({type(value).__name__})"


def side_by_side(expected: np.ndarray[Any, Any], got: np.ndarray[Any, Any], where: tuple[int, ...]) -> str:
    """Give expected and got as small aligned matrices, around the cell `where` if they are large.

    Each row begins with its number; "..." stands where columns are left out.

    >>> print(side_by_side(np.eye(2), np.ones((2, 2)), (0, 1)))
           expected           got
    row 0  1.000   0.000      1.000   1.000
    row 1  0.000   1.000      1.000   1.000
    """
    lead = where[:-2] if expected.ndim > 2 else ()
    row, column = (where[-2] if expected.ndim >= 2 else 0), where[-1]
    top, left = max(0, row - 3), max(0, column - 3)
    tables = [np.atleast_2d(x[lead]) for x in (expected, got)]
    rows = range(top, min(top + 6, len(tables[0])))
    blocks = [["", *(f"{say('row')} {i}" for i in rows)]]
    for title, table in zip((say("expected"), say("got")), tables, strict=True):
        part = [[f"{x:.3f}" for x in table[i, left : left + 6]] for i in rows]
        width = max(len(cell) for line in part for cell in line)
        before, after = "...   " * (left > 0), "   ..." * (left + 6 < table.shape[1])
        lines = [before + "   ".join(cell.rjust(width) for cell in line) + after for line in part]
        blocks.append([title, *lines])
    spans = [max(map(len, block)) for block in blocks]
    aligned = zip(
        *([text.ljust(span) for text in block] for block, span in zip(blocks, spans, strict=True)), strict=True
    )
    return "\n".join(f"{head}  {one}      {other}".rstrip() for head, one, other in aligned)
