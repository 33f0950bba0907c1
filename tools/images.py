"""Draw the images that the Markdown texts use: ``python tools/images.py [--check]``.

Every file in images/ is made here, from code; with ``--check`` nothing is written, and what differs is named.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Sequence
from pathlib import Path

import growth

from attnlib import pictures
from attnlib.chapters import CHAPTERS

IMAGES = Path(__file__).resolve().parents[1] / "images"
RESULTS = IMAGES.parent / "benchmarks" / "results.json"


def draw() -> dict[str, bytes]:
    """Give every image: file name → contents."""
    drawn = {
        "course-map.svg": pictures.course_map([(chapter.number, chapter.title) for chapter in CHAPTERS]),
        "growth.svg": growth.draw(json.loads(RESULTS.read_text(encoding="utf-8"))["curves"]),
        "pipeline.svg": pictures.pipeline(),
    }
    return {name: svg(picture) for name, picture in drawn.items()}


def svg(picture: pictures.Picture) -> bytes:
    """Give a picture as the bytes of an SVG file, with its description as the image's text."""
    with io.BytesIO() as file:
        picture.save(file, "svg")
        return file.getvalue()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the images, or with --check say which would change."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; say what would change")
    check = parser.parse_args(arguments).check
    drawn = draw()
    changed = [
        name
        for name, content in drawn.items()
        if not (IMAGES / name).exists() or (IMAGES / name).read_bytes() != content
    ]
    changed += [path.name for path in IMAGES.iterdir() if path.name not in drawn]
    for name in changed:
        if name not in drawn:
            print(f"images/{name}: not made by tools/images.py; add it there or remove it")
        elif check:
            print(f"images/{name}: differs from what the code draws; run make images")
        else:
            (IMAGES / name).write_bytes(drawn[name])
            print(f"images/{name}: written")
    return 1 if changed and (check or set(changed) - set(drawn)) else 0


if __name__ == "__main__":
    raise SystemExit(main())
