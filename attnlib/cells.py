"""What the cells of a chapter's notebook are: their section, and what in them belongs to an exercise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attnlib import desk

SECTION = re.compile(r"^## (\d+)\. ", re.MULTILINE)
TALK = ("check", "hint", "answer", "progress")
"""the calls that speak with the learner and make nothing that a later cell needs"""


def chapter_file(chapter: object) -> Path:
    """Give the course's own notebook of a chapter.

    >>> chapter_file("5").name
    '05-softmax.ipynb'
    """
    folder = desk.course_root() / desk.NOTEBOOKS
    return folder / desk.find_chapter(str(chapter), [path.name for path in desk.chapter_files(folder)])


def source_of(cell: Mapping[str, Any]) -> str:
    r"""Give a cell's text, which a file may hold in one piece or in lines.

    >>> source_of({"source": ["a = 1\n", "b = 2"]})
    'a = 1\nb = 2'
    """
    return "".join(cell["source"])


def in_sections(notebook: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each cell with the number of the section in which it ends; 0 stands for what comes before section 1.

    >>> text = {"cell_type": "markdown", "source": "The end of it. ## 1. One"}
    >>> [number for number, _ in in_sections({"cells": [text, {**text, "source": "## 2. Two"}]})]
    [0, 2]
    """
    section = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            section = max([section, *map(int, SECTION.findall(source_of(cell)))])
        yield section, cell


def talks(statement: ast.stmt) -> bool:
    """Tell whether a statement only speaks with the learner, as a check does.

    >>> talks(ast.parse('check("05-hunt", my_choice)').body[0]), talks(ast.parse("print(1)").body[0])
    (True, False)
    """
    return isinstance(statement, ast.Expr) and root(statement.value) in TALK


def root(expression: ast.expr) -> str:
    """Give the name with which an expression begins, or "".

    >>> root(ast.parse("pictures.bars({})", mode="eval").body)
    'pictures'
    """
    while isinstance(expression, (ast.Call, ast.Attribute)):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def answers(tree: ast.Module) -> set[str]:
    """Give the names that a cell hands to its check: what the learner writes.

    >>> answers(ast.parse('my_choice = ...; check("05-hunt", my_choice)'))
    {'my_choice'}
    """
    calls = [line.value for line in tree.body if isinstance(line, ast.Expr) and isinstance(line.value, ast.Call)]
    return {
        given.id
        for call in calls
        if root(call) == "check"
        for given in call.args[1:]
        if isinstance(given, ast.Name)
    }


def names_of(statement: ast.stmt) -> list[str]:
    """Give the names that a statement makes: assigned or defined, in their order, without those of a loop.

    >>> names_of(ast.parse("Q, K = 1, 2").body[0]), names_of(ast.parse("def head(X): ...").body[0])
    (['Q', 'K'], ['head'])
    """
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    found = [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return [name.id for name in found if isinstance(name.ctx, ast.Store) and name.id != "_"]
