"""Work shared by several threads, while BLAS keeps to one (chapter 11).

BLAS, the library that multiplies NumPy's matrices, has threads of its own, which wait for each other after every
product. Threads that each do a whole piece of work, its products included, wait only once, at the end.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Piece = TypeVar("Piece")


def share(work: Callable[[Piece], None], pieces: Sequence[Piece], threads: int | None = None) -> None:
    """Call `work` with each piece, several at a time; return when all are done.

    NumPy lets other threads run while it computes. If a piece raises an error, pieces that have not begun are left
    out, and the error is raised here.

    Parameters
    ----------
    work : a function of one piece. It must not write where the work on another piece reads or writes.
    pieces : what to work on
    threads : how many pieces are worked on at a time; as many as the computer has cores if not given. The result
        is the same to the last bit for any number, because BLAS uses one thread for each piece in any case.

    Examples
    --------
    >>> squares = [0] * 5
    >>> def square(i):
    ...     squares[i] = i * i
    >>> share(square, range(5), threads=2)
    >>> squares
    [0, 1, 4, 9, 16]
    """
    threads = min(threads or os.cpu_count() or 1, len(pieces))
    left = deque(pieces)

    def take_turns() -> None:
        while True:
            try:
                piece = left.popleft()  # no two threads get the same one
            except IndexError:
                return
            try:
                work(piece)
            except BaseException:
                left.clear()
                raise

    with one_blas_thread():
        if threads < 2:
            take_turns()
        else:
            with ThreadPoolExecutor(threads - 1) as pool:  # one fewer: this thread works, too
                others = [pool.submit(take_turns) for _ in range(threads - 1)]
                take_turns()
            for other in others:
                other.result()  # raises what `work` raised


_lock = Lock()
_held: list[Any] = []  # one entry for each `with` that is inside; the first knows what BLAS had before


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside a `with`; the last of several that overlap lets it go.

    BLAS has one setting for the whole program. So two that overlap must not each put back what they found: the
    second found 1.

    >>> with one_blas_thread():
    ...     blas_threads()
    1
    """
    with _lock:
        _held.append(_blas().limit(limits=1))
    try:
        yield
    finally:
        with _lock:
            limit = _held.pop()
            if not _held:
                limit.restore_original_limits()


def blas_threads() -> int:
    """Tell how many threads BLAS may use now; 1 if there is no BLAS whose threads can be counted.

    >>> blas_threads() >= 1
    True
    """
    return max((library["num_threads"] for library in _blas().info()), default=1)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")  # to look for it takes a millisecond: once is enough
