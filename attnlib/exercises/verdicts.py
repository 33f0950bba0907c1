"""What a check says: a line in words, which a notebook shows as a note, in a light and in a dark theme."""

from __future__ import annotations

import html
from typing import NamedTuple

# The note's edge has a colour, and its first words say the same. Text and ground stay the theme's own.
EDGE = {"not-started": "#767676", "solved": "#00855f", "mistake": "#b24a00", "wrong": "#b24a00", "note": "#0068a8"}


def as_note(kind: str, text: str) -> str:
    """Give text as HTML: the first line as prose, further lines as they are, aligned.

    >>> as_note("solved", "Right.").endswith(">Right.</p></div>")
    True
    """
    first, _, rest = text.partition("\n")
    block = f'<pre style="margin:6px 0 0 0">{html.escape(rest)}</pre>' if rest else ""
    style = f"border-left:5px solid {EDGE[kind]};padding:6px 12px;margin:4px 0"
    return f'<div role="status" style="{style}"><p style="margin:0">{html.escape(first)}</p>{block}</div>'


class Note(NamedTuple):
    """A text for the learner.

    >>> Note("Hint 1 of 3.")
    Hint 1 of 3.
    """

    text: str

    def __repr__(self) -> str:
        """Give the text itself."""
        return self.text

    def _repr_html_(self) -> str:
        return as_note("note", self.text)


class Verdict(NamedTuple):
    """The result of a check.

    >>> Verdict("05-by-hand", "solved", "Right.")
    Right.
    """

    exercise: str
    kind: str
    """ "not-started", "solved", "mistake" or "wrong" """
    text: str
    mistake: str | None = None
    """the name of the mistake, if it is a known one"""
    reason: str | None = None
    """what was wrong first, if it is not a known one: "callable", "raises", "type", "shape", ..."""

    def noted(self, sentence: str | None) -> Verdict:
        """Give the same verdict with a sentence added, if there is one.

        >>> Verdict("05-by-hand", "solved", "Right.").noted("Not saved.")
        Right.
        Not saved.
        """
        return self if sentence is None else self._replace(text=f"{self.text}\n{sentence}")

    def __repr__(self) -> str:
        """Give the text itself."""
        return self.text

    def _repr_html_(self) -> str:
        return as_note(self.kind, self.text)
