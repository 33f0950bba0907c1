"""Catching up: what the sections before made, for a learner who did not run them."""

from __future__ import annotations

import ast
import json
import sys
from typing import Any

from attnlib.cells import answers, chapter_file, in_sections, names_of, source_of, talks
from attnlib.desk import DeskError
from attnlib.exercises.running import is_stub


class CatchUpError(ValueError):
    """There is no such section; a notebook shows the sentence and nothing else.

    >>> raise CatchUpError("There is no section 40.")
    Traceback (most recent call last):
    ...
    attnlib.catching_up.CatchUpError: There is no section 40.
    """

    def _render_traceback_(self) -> list[str]:  # IPython asks for it
        return [str(self)]


def line(chapter: str, section: int) -> str:
    """Give the line with which a section's first code cell begins; a late learner removes its first two signs.

    >>> line("05", 4)
    '# from attnlib import catch_up; catch_up("05", 4)'
    """
    return f'# from attnlib import catch_up; catch_up("{chapter}", {section})'


def catch_up(chapter: str | int, section: int) -> None:
    """Make what the earlier sections of a chapter make, without their output, and say what it is.

    The course's own cells run, in the notebook that calls this. Exercises are left alone: an answer that you have
    written stays as it is, no check runs, and nothing is recorded.

    Parameters
    ----------
    chapter : its number, as "05"
    section : the number of the section to go on with, as in its heading

    Examples
    --------
    >>> import numpy as np
    >>> with np.printoptions():  # the chapter's first cell changes them
    ...     catch_up("05", 2)
    Loaded for section 2 of chapter 05: what the chapter imports; tokens, scaled, row.
    >>> row.shape
    (3,)
    """
    load(chapter, section, sys._getframe(1).f_globals)


def load(chapter: str | int, section: int, names: dict[str, Any]) -> None:
    """Do what `catch_up` does, in a namespace of your choice.

    >>> import numpy as np
    >>> with np.printoptions():
    ...     load("05", 1, {})
    Loaded for section 1 of chapter 05: what the chapter imports.
    """
    file, trees, later = _find(chapter, section)
    asked = sorted({name for tree in trees for name in answers(tree)})
    own = [name for name in asked if not is_stub(names.get(name, ...))]
    made = list(dict.fromkeys(name for tree in trees for step in _steps(tree) for name in names_of(step)))
    used = {node.id for tree in later for node in ast.walk(tree) if isinstance(node, ast.Name)}
    anew = [name for name in made if name in used and name in names]
    if any(_trains(tree) for tree in trees):
        print("A model is trained on the way: this takes some seconds.", flush=True)
    _run(file, trees, names)
    loaded = ", ".join(name for name in made if name in used)
    said = [f"Loaded for section {section} of chapter {file[:2]}: what the chapter imports"]
    said[0] += f"; {loaded}." if loaded else "."
    if anew:
        said.append(f"As in the course again: {', '.join(anew)}.")
    if own:
        said.append(f"Your own {' and '.join(own)} {'was' if len(own) == 1 else 'were'} kept.")
    print(" ".join(said))


def _find(chapter: str | int, section: int) -> tuple[str, list[ast.Module], list[ast.Module]]:
    """Give the file's name, its code before a section, and its code from there on."""
    try:
        path = chapter_file(chapter)
    except DeskError as error:
        raise CatchUpError(f"catch_up: {error}") from None
    found = list(in_sections(json.loads(path.read_bytes())))
    numbers = sorted({number for number, _ in found} - {0})
    if type(section) is not int or section not in numbers:
        choice = f"choose one from 1 to {numbers[-1]}" if numbers else "its sections have no numbers"
        raise CatchUpError(f"catch_up: chapter {path.name[:2]} has no section {section!r}: {choice}.")
    code = [(number, ast.parse(source_of(cell))) for number, cell in found if cell["cell_type"] == "code"]
    earlier = [tree for number, tree in code if number < section]
    return path.name, earlier, [tree for number, tree in code if number >= section]


def _steps(tree: ast.Module) -> list[ast.stmt]:
    """Give what a cell does apart from its exercise."""
    mine = answers(tree)
    return [step for step in tree.body if not talks(step) and not (mine & set(names_of(step)))]


def _trains(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "train" for node in ast.walk(tree))


def _run(file: str, trees: list[ast.Module], names: dict[str, Any]) -> None:
    from IPython.utils.capture import capture_output

    for number, tree in enumerate(trees, start=1):
        code = compile(ast.Module(_steps(tree), []), f"<{file}, code cell {number}>", "exec")
        with capture_output():
            exec(code, names)
