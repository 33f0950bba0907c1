"""How long it takes to run all notebooks again, against kernels that only start and import the same packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.notebooks import NOTEBOOKS, only_imports
from benchmarks.timing import Measured, interleave, ratio


def measure(quick: bool) -> Measured:
    """Run the notebook part of `make test`, and its floor: one import cell for each chapter, in the same way."""
    chapters = sorted(NOTEBOOKS.glob("*.ipynb"))[: 1 if quick else None]
    with tempfile.TemporaryDirectory() as folder:
        for path in chapters:
            Path(folder, path.name).write_text(json.dumps(only_imports(path)), encoding="utf-8")
        times = interleave(
            {"notebooks": lambda: validate(chapters), "floor": lambda: validate(sorted(Path(folder).iterdir()))},
            rounds=1 if quick else 2,
            warm_up=False,
        )
    note = f"{min(times['notebooks']):.0f} s against {min(times['floor']):.0f} s, {len(chapters)} kernels"
    name = "notebooks of `make test` / the same kernels with imports alone"
    return Measured([ratio(name, times["notebooks"], times["floor"], "≤ 2", note)])


def validate(paths: list[Path]) -> None:
    """Run notebooks as `make test` does."""
    workers = str(max(2, min(8, os.cpu_count() or 2)))
    settings = ["-c", str(NOTEBOOKS.parent / "pyproject.toml"), "-p", "no:cacheprovider"]  # also for other folders
    command = [sys.executable, "-m", "pytest", "-q", "-n", workers, *settings, *map(str, paths)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=NOTEBOOKS.parent, env=environment, capture_output=True, text=True)
    if done.returncode:
        why = done.stdout.strip().splitlines()[-1]
        raise RuntimeError(f"a notebook fails, so that its time says nothing: {why}")
