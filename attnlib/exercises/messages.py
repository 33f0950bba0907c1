"""The catalogue: every sentence that an exercise says, apart from the logic, so that it can be translated.

The texts are in messages.en.toml. A translation is a file beside it, such as messages.ko.toml, chosen with the
environment variable ATTNLIB_LANGUAGE=ko; what it does not translate stays English.
"""

from __future__ import annotations

import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@cache
def catalogue(language: str) -> dict[str, Any]:
    """Give the texts of a language: the engine's, and each exercise's.

    >>> sorted(catalogue("en"))[:2]
    ['engine', 'exercises']
    """
    path = FOLDER / f"messages.{language}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.name.split(".")[1] for file in FOLDER.glob("messages.*.toml")))
        raise ValueError(f"ATTNLIB_LANGUAGE is {language!r}, but there are only: {known}")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def lookup(*keys: str) -> Any:
    """Give the entry under these keys in the learner's language, or else in English.

    >>> lookup("engine", "right")
    'Right. {allows}'
    """
    for language in dict.fromkeys((os.environ.get("ATTNLIB_LANGUAGE") or "en", "en")):
        entry: Any = catalogue(language)
        for key in keys:
            entry = entry.get(key) if isinstance(entry, dict) else None
        if entry is not None:
            return entry
    raise KeyError(f"no message for {'.'.join(keys)}")


def say(key: str, **values: object) -> str:
    """Give one of the engine's sentences, with the values put in.

    >>> say("right", allows="Go on.")
    'Right. Go on.'
    """
    return str(lookup("engine", key)).format(**values)


def text_of(exercise: str, *keys: str) -> Any:
    """Give a text that belongs to one exercise.

    >>> len(text_of("05-softmax-rows", "hints"))
    3
    """
    return lookup("exercises", exercise, *keys)
