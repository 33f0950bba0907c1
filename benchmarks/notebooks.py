"""The chapters as the benchmark sees them: their code, and only their imports."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def code_cells(path: Path) -> list[str]:
    """Give the source of each code cell."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def imports_of(cells: list[str]) -> str:
    """Give the import statements of all cells, one a line.

    >>> imports_of(["import numpy as np", "x = 1", "from math import pi"]).splitlines()
    ['import numpy as np', 'from math import pi']
    """
    statements = [node for cell in cells for node in ast.parse(cell).body]
    found = [node for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(dict.fromkeys(ast.unparse(node) for node in found))


def only_imports(path: Path) -> dict[str, Any]:
    """Give a notebook with one cell, which imports what the chapter imports and does nothing else."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = {
        "cell_type": "code",
        "execution_count": 1,
        "id": "imports",
        "metadata": {},
        "outputs": [],
        "source": imports_of(code_cells(path)),
    }
    return {**notebook, "cells": [cell]}
