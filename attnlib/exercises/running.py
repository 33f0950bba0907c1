"""Running a learner's answer: on copies, with a time limit, and with errors turned into words."""

from __future__ import annotations

import ctypes
import dis
import linecache
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

TIME_LIMIT = 5.0
"""seconds for one call of an answer"""


class TimeUpError(BaseException):
    """Raised inside an answer that takes too long; no `except Exception` catches it."""


class Outcome(NamedTuple):
    """What came of one call: a value or an error; and whether the inputs were changed."""

    value: Any = None
    error: BaseException | None = None
    changed: int | None = None
    """the place of the first argument that the answer changed"""

    @property
    def timed_out(self) -> bool:
        """Tell whether the call was stopped."""
        return isinstance(self.error, TimeUpError)


def run(function: Callable[..., Any], arguments: tuple[Any, ...], limit: float | None = None) -> Outcome:
    """Call a function on copies of the arguments, in a thread of its own, and stop it after `limit` seconds.

    >>> run(lambda x: x + 1, (np.array([1.0]),)).value
    array([2.])
    >>> run(lambda x: 1 / 0, (0,)).error
    ZeroDivisionError('division by zero')
    """
    copies = tuple(np.array(x) if isinstance(x, np.ndarray) else x for x in arguments)
    box: list[Outcome] = []

    def work() -> None:
        with suppress(TimeUpError):  # it may arrive a moment after the answer was given
            try:
                with np.errstate(all="ignore"):
                    value = settled(function(*copies))
            except BaseException as error:
                box.append(Outcome(error=error))
            else:
                box.append(Outcome(value=value))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join(TIME_LIMIT if limit is None else limit)
    finally:  # also when the learner presses the stop button while waiting
        _end(thread)
    outcome = box[0] if box else Outcome(error=TimeUpError())
    for place, (before, after) in enumerate(zip(arguments, copies, strict=True)):
        if isinstance(before, np.ndarray) and (before.shape, before.dtype, before.tobytes()) != (
            after.shape,
            after.dtype,
            after.tobytes(),
        ):
            return outcome._replace(changed=place)
    return outcome


def settled(value: Any) -> Any:
    """Give a result as an array of its own, if it is one of numbers: later changes do not reach it.

    >>> settled([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    >>> settled("text")
    'text'
    """
    if value is None or isinstance(value, (str, bytes, dict, set, np.ma.MaskedArray)):
        return value
    try:
        array = np.array(value)
        return array if array.dtype.kind in "fiubc" else np.array(value, dtype=float)
    except Exception:  # whatever a strange object raises: then it is no array of numbers
        return value


def _end(thread: threading.Thread, tries: int = 20) -> None:
    """Raise TimeUpError inside a thread until it ends; one that never does (deep in C code) is left behind.

    C code that never lets other threads run, such as sum(range(10**10)), cannot be stopped: it ends by itself.
    """
    while thread.is_alive() and tries:
        tries -= 1
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(TimeUpError)
        )
        thread.join(0.05)


def is_stub(given: Any) -> bool:
    """Tell whether an answer is still the untouched stub: ``...``, or a function that does nothing.

    >>> def stub(x):
    ...     ...
    >>> is_stub(stub), is_stub(...), is_stub(lambda x: x)
    (True, True, False)
    """
    if given is ...:
        return True
    code = code_of(given)
    if code is None:
        return False
    harmless = ("RESUME", "NOP", "LOAD_CONST", "RETURN", "POP_TOP", "COPY_FREE_VARS", "CACHE")
    instructions = list(dis.get_instructions(code))
    constants = [i.argval for i in instructions if i.opname.startswith(("LOAD_CONST", "RETURN_CONST"))]
    return all(i.opname.startswith(harmless) for i in instructions) and all(
        value in (None, ...) for value in constants
    )


def code_of(function: Any) -> CodeType | None:
    """Give the code of a Python function, or None for anything else.

    >>> code_of(len) is None
    True
    """
    try:
        code = function.__code__
    except Exception:  # an object may answer anything when asked for an attribute
        return None
    return code if isinstance(code, CodeType) else None


def own_line(function: Any, error: BaseException) -> tuple[int, str] | None:
    """Give the line of the learner's own code at which an error arose: its number and its text.

    >>> def broken(x):
    ...     return x.nothing
    >>> own_line(broken, run(broken, (1,)).error)[1]
    'return x.nothing'
    """
    code = code_of(function)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    if not own or own[-1].lineno is None:
        return None
    line = own[-1].lineno
    return line, linecache.getline(own[-1].filename, line).strip()
