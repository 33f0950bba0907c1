"""What a learner waits for first: `import attnlib`, and the first cell of a chapter."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from benchmarks.notebooks import NOTEBOOKS, code_cells
from benchmarks.timing import Figure, Measured, interleave, plain, ratio


def measure(quick: bool) -> Measured:
    """Start Python anew for each: with nothing, with NumPy, with attnlib, with a chapter's first cell."""
    rounds = 1 if quick else 9
    programs = {"nothing": "pass", "numpy": "import numpy", "attnlib": "import attnlib"}
    times = interleave({name: partial(run, program) for name, program in programs.items()}, rounds)
    more = {name: [t - bare for t, bare in zip(times[name], times["nothing"], strict=True)] for name in programs}
    note = f"{1e3 * min(times['attnlib']):.0f} ms from the start of Python"
    figures = [
        ratio(
            "`import attnlib` / `import numpy`, Python's own start taken off",
            more["attnlib"],
            more["numpy"],
            note=note,
        )
    ]
    return Measured([*figures, *first_cells(quick)])


def first_cells(quick: bool) -> list[Figure]:
    """Time the first cell of every chapter, each in a Python of its own."""
    chapters = sorted(NOTEBOOKS.glob("*.ipynb"))[: 1 if quick else None]
    cells = {path.stem: partial(run, code_cells(path)[0]) for path in chapters}
    times = interleave(cells, 1 if quick else 3)
    slowest = max(times, key=lambda name: min(times[name]))
    return [
        plain(
            "first cell of a chapter, the median chapter", "s", [sorted(map(min, times.values()))[len(times) // 2]]
        ),
        plain(f"first cell of a chapter, the slowest: {slowest[:2]}", "s", times[slowest]),
    ]


def run(program: str) -> None:
    """Run a program in a new Python, in the folder of the notebooks."""
    done = subprocess.run([sys.executable, "-c", program], cwd=NOTEBOOKS, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{program.splitlines()[0]} ...: {done.stderr.strip().splitlines()[-1]}")
