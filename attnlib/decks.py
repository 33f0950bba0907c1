"""The slides on the screen: whether a chapter's deck begins in its usual type or in large type, for a room."""

from __future__ import annotations

import os
from pathlib import Path

from attnlib.desk import DeskError, write_safely

FOLDER = "slides"
"""where `make slides` writes the decks"""
DECK = b'<main id="deck">'
USUAL, LARGE = b"</head>\n<body>\n", b"</head>\n<body class=projector>\n"


def begin_large(folder: Path, on: bool) -> int:
    """Let each deck in a folder begin in large type, or with False in its usual one; tell how many there are.

    Parameters
    ----------
    folder : where the decks are; if there is none, there are no decks
    on : large, or usual

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     deck = Path(folder, "05-softmax.html")
    ...     _ = deck.write_bytes(USUAL + DECK)
    ...     begin_large(Path(folder), True), deck.read_bytes() == LARGE + DECK
    (1, True)
    """
    old, new = (USUAL, LARGE) if on else (LARGE, USUAL)
    count = 0
    try:
        for path in sorted(folder.glob("*.html")):
            page, before = path.read_bytes(), path.stat()
            count += DECK in page
            if DECK in page and old in page:
                write_safely(path, page.replace(old, new, 1))
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # its text is as old as it was
    except OSError as error:
        raise DeskError(
            f"The slides in {folder.name}/ could not be changed ({error.strerror}): press p in a deck."
        ) from error
    return count
