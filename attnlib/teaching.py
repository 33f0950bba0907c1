"""What TEACHING.md, the teacher's book, says to a mistake."""

from __future__ import annotations

import re
from functools import cache

from attnlib import desk

BOOK = "TEACHING.md"
ROW = re.compile(r"^\| `(\d\d-[\w-]+)` \| (.+?) \| (.+?) \|$", re.MULTILINE)


@cache
def sayings() -> dict[tuple[str, str], str]:
    """Give what to say, by exercise and mistake.

    >>> ("05-softmax-rows", "wrong-axis") in sayings()
    True
    """
    text = (desk.course_root() / BOOK).read_text(encoding="utf-8")
    return {
        (exercise, mistake): say
        for exercise, mistakes, say in ROW.findall(text)
        for mistake in re.findall(r"`([^`]+)`", mistakes)
    }


def words(exercise: str, mistake: str) -> str:
    """Give the teacher's words to a mistake, or "" if the book has none.

    >>> words("05-softmax-rows", "no such mistake")
    ''
    """
    return sayings().get((exercise, mistake), "")
