"""Live coding: a copy of a chapter whose code cells wait to be typed, beside a complete one to glance at.

What teaches nothing by being typed stays: imports, data, pictures and exercises. Every other statement becomes a
comment that begins it: ``# weights = ...``. Comments stay, so that the shapes can be said while one types.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from pathlib import Path

from attnlib import desk
from attnlib.cells import answers, chapter_file, in_sections, root, source_of

SHOWN = ("pictures", "explorers", "explorer", "display", "IntProgress")
"""what only shows what the numbers already say"""
HEADING = re.compile(r"^#+ .*", re.MULTILINE)
DATA = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)


def lay(chapter: str, where: Path, course: Path) -> list[str]:
    """Lay a chapter for live coding on a desk, and give the sentences to say; what lay there before is kept.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     lay("05", Path(folder), desk.course_root())[-1][:64]
    'Type in 05-softmax.live.ipynb; 05-softmax.complete.ipynb lies be'
    """
    path = chapter_file(chapter)
    complete = path.read_bytes()
    said = desk.lay_out(where, course)
    names = f"{path.stem}.live.ipynb", f"{path.stem}.complete.ipynb"
    kept = desk.lay_aside(where, dict(zip(names, (emptied(complete), complete), strict=True)))
    old = f" What lay there before is kept: {', '.join(kept)}." if kept else ""
    return [*said, f"Type in {names[0]}; {names[1]} lies beside it, in {where / desk.NOTEBOOKS}.{old}"]


def emptied(notebook: bytes) -> bytes:
    """Give a notebook with the code cells of its sections emptied, and without any outputs.

    >>> text = {"cell_type": "markdown", "source": "## 1. One"}
    >>> code = {"cell_type": "code", "source": "a = f(1)", "outputs": [5], "execution_count": 3}
    >>> json.loads(emptied(json.dumps({"cells": [text, code]}).encode()))["cells"][1]["source"]
    '# a = ...'
    """
    data = json.loads(notebook)
    asked = False  # between the heading of an exercise and its check: what stands there belongs to the question
    for section, cell in in_sections(data):
        source = source_of(cell)
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
            if section and not asked:  # what is imported stands before the first section
                cell["source"] = prompts(source)
            asked = asked and not answers(ast.parse(source))
        elif titles := HEADING.findall(source):
            asked = titles[-1].startswith("### Exercise")
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def prompts(source: str) -> str:
    """Give the code of a cell with each statement that is to be typed turned into a comment.

    >>> print(prompts("Q = X @ W_Q  # (3, 2)"))
    # Q = ...  # (3, 2)
    """
    tree = ast.parse(source)
    if answers(tree):
        return source
    lines = source.split("\n")
    comments = _comments(source)
    written: list[str] = []
    done = 0
    for step in tree.body:
        first, last = step.lineno - 1, step.end_lineno or step.lineno
        written += [row for row in lines[done:first] if row.strip()]
        said = [comments.get(row) for row in range(first, last)]
        written += lines[first:last] if _stays(step) else _begun(_beginning(step, lines[first]), said)
        done = last
    return "\n".join(written + [row for row in lines[done:] if row.strip()])


def _comments(source: str) -> dict[int, str]:
    """Give the comments of a cell by their lines, from 0."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0] - 1: token.string for token in tokens if token.type == tokenize.COMMENT}


def _stays(step: ast.stmt) -> bool:
    if isinstance(step, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(step, ast.Expr):
        return root(step.value) in SHOWN
    return isinstance(step, ast.Assign) and (_is_data(step.value) or root(step.value) in SHOWN)


def _is_data(value: ast.expr) -> bool:
    """Tell whether an expression is only numbers and words, perhaps as an array."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "np.array":
        return all(map(_is_data, value.args))
    return all(isinstance(node, DATA) for node in ast.walk(value))


def _begun(beginning: str, comments: list[str | None]) -> list[str]:
    """Give the comments that stand for a statement: how it begins, and what its own comments say."""
    found = [text for text in comments if text]
    if len(comments) == 1 and found:
        return [f"# {beginning}  {found[0]}"]
    return [f"# {beginning}", *(f"#     {text.lstrip('# ')}" for text in found)]


def _beginning(step: ast.stmt, line: str) -> str:
    if isinstance(step, ast.Assign):
        return " = ".join([*map(_names, step.targets), "..."])
    if isinstance(step, ast.FunctionDef):
        return f"def {step.name}({ast.unparse(step.args)}): ..."
    if isinstance(step, ast.For) and not line.endswith(":"):
        return f"for {_names(step.target)} in ...:"
    if isinstance(step, ast.Expr) and isinstance(step.value, ast.Call):
        words = [given.value for given in step.value.args[:1] if isinstance(given, ast.Constant)]
        label = [json.dumps(word, ensure_ascii=False) for word in words]
        return f"{ast.unparse(step.value.func)}({', '.join([*label, '...'])})"
    return line.partition("#")[0].rstrip()


def _names(target: ast.expr) -> str:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return ", ".join(map(ast.unparse, parts))
