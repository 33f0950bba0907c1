"""The evening before: can a chapter be taught tomorrow? One word, or a sentence for each thing that is missing."""

from __future__ import annotations

import socket
from pathlib import Path

from attnlib import desk, environment
from attnlib.cells import chapter_file
from attnlib.chapters import CHAPTERS

PORT = 8888
MODEL_CHAPTER = "12"
BUILT = ("slides", "handout")
"""folders of pages made from the notebooks, each by the command of its name"""
PROJECTOR = "For the projector, slides included: make lab ARGS=--projector, or attnlib.projector() in a notebook."


def missing(chapter: str | None = None, port: int | None = None) -> list[str]:
    """Give a sentence for each thing that a session on a chapter (or on any) still needs.

    >>> all(problem.endswith(".") for problem in missing("5"))
    True
    """
    course = desk.course_root()
    paths = _paths(chapter)
    said = [f"{problem[0].upper()}{problem[1:]}." for problem in environment.problems()]
    for path in paths:
        said += _notebook(path)
    for name in BUILT:
        said += _built(course / name, paths)
    if any(path.name.startswith(MODEL_CHAPTER) for path in paths):
        said += _model()
    return said + _desk(desk.default_desk(), paths) + _port(PORT if port is None else port)


def sentence(chapter: str | None = None) -> str:
    """Give the sentence to say when nothing is missing.

    >>> sentence("05").split(".")[0]
    'Ready: 05-softmax'
    """
    names = ", ".join(path.stem for path in _paths(chapter)) if chapter else "all chapters"
    return f"Ready: {names}. {PROJECTOR}"


def _paths(chapter: str | None) -> list[Path]:
    return [chapter_file(number) for number in ([chapter] if chapter else [c.number for c in CHAPTERS])]


def _notebook(path: Path) -> list[str]:
    """Tell whether the course's own notebook holds its outputs."""
    cells = [cell for cell in desk.parse(path.read_bytes(), limit=None)["cells"] if cell["cell_type"] == "code"]
    empty = sum(cell.get("execution_count") is None for cell in cells)
    if not empty:
        return []
    return [f"{path.name} has {empty} of {len(cells)} code cells never run: make refresh runs them."]


def _built(folder: Path, paths: list[Path]) -> list[str]:
    """Tell whether a folder of pages is there and newer than the notebooks."""
    how = f"make {folder.name} builds them (on Windows: py course.py {folder.name})"
    pages = {path: folder / f"{path.stem}.html" for path in paths}
    index = [folder / "index.html"] if folder.name == "slides" else []
    absent = [page.name for page in [*pages.values(), *index] if not page.is_file()]
    if absent:
        return [f"{folder.name}/ lacks {', '.join(absent)}: {how}."]
    old = [page.name for path, page in pages.items() if page.stat().st_mtime < path.stat().st_mtime]
    return [f"{folder.name}/ is older than the notebook ({', '.join(old)}): {how}."] if old else []


def _model() -> list[str]:
    from attnlib import minilm

    try:
        minilm.load()
    except minilm.WeightsError as error:
        return [f"Chapter {MODEL_CHAPTER} needs its model: {error}"]
    return []


def _desk(where: Path, paths: list[Path]) -> list[str]:
    """Tell whether the teacher's own copies are there, and no newer ones wait beside them."""
    if not (where / desk.MARKER).is_file():
        return ["There is no desk yet: make lab lays it (on Windows: py course.py lab)."]
    copies = [where / desk.NOTEBOOKS / path.name for path in paths]
    said = [f"{copy.name} is not on your desk: make lab lays it." for copy in copies if not copy.is_file()]
    newer = [desk.newer_beside(copy).name for copy in copies if desk.newer_beside(copy).is_file()]
    how = "take it over, or python -m attnlib reset lays it in the place of yours, which is kept"
    return said + [f"{name} waits on your desk, newer than your copy: {how}." for name in newer]


def _port(port: int) -> list[str]:
    """Tell whether JupyterLab can have its port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR), 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return [f"Port {port} is taken: stop that program, or take another with make lab PORT={port + 1}."]
    return []
