"""How long it takes to run all notebooks again, against kernels that only start and import the same packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.notebooks import NOTEBOOKS, code_cells, only_imports
from benchmarks.timing import Measured, interleave, ratio


def measure(quick: bool) -> Measured:
    """Run the notebook part of `make test`, and its floor: one import cell for each chapter, in the same way."""
    chapters = sorted(NOTEBOOKS.glob("*.ipynb"))[: 1 if quick else None]
    with tempfile.TemporaryDirectory() as folder:
        for path in chapters:
            Path(folder, path.name).write_text(json.dumps(only_imports(path)), encoding="utf-8")
        cells = sum(len(code_cells(path)) for path in chapters)
        calls = {
            "notebooks": lambda: validate(chapters, cells),
            "floor": lambda: validate([Path(folder)], len(chapters)),
        }
        times = interleave(calls, rounds=1 if quick else 3, warm_up=False)
    note = f"{min(times['notebooks']):.0f} s against {min(times['floor']):.0f} s, {len(chapters)} kernels"
    name = "notebooks of `make test` / the same kernels with imports alone"
    return Measured([ratio(name, times["notebooks"], times["floor"], "≤ 2", note)])


def validate(paths: list[Path], cells: int) -> None:
    """Run notebooks as `make test` does, and see that all their cells were run."""
    workers = str(max(2, min(8, os.cpu_count() or 2)))
    settings = ["-c", str(NOTEBOOKS.parent / "pyproject.toml"), "-p", "no:cacheprovider"]  # also for other folders
    command = [sys.executable, "-m", "pytest", "-q", "-n", workers, *settings, *map(str, paths)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=NOTEBOOKS.parent, env=environment, capture_output=True, text=True)
    last = done.stdout.strip().splitlines()[-1]
    if done.returncode or not last.startswith(f"{cells} passed"):
        raise RuntimeError(f"the notebooks have {cells} cells, and pytest says: {last}; the time says nothing")
