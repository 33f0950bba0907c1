"""Run the measurements and store what they found: ``python -m benchmarks [--quick] [--only NAME ...]``."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import machine, peers, table
from benchmarks.timing import Figure

FOLDER = Path(__file__).resolve().parent
# The modules, in this order. A new one has `measure(quick)`, which gives a `Measured`, and its name here.
MEASUREMENTS = ("blockwise", "memory", "calls", "training", "minilm", "imports", "explorers", "validation")


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Measure, say each figure as it comes, and write results.json and README.md."""
    parser = argparse.ArgumentParser(prog="make bench", description="Measure the course's code beside its peers.")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs; stores nothing")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=MEASUREMENTS, help="only these; stores nothing"
    )
    options = parser.parse_args(arguments)
    this = machine.describe()
    print("; ".join(f"{part}: {what}" for part, what in this.items()))
    if not peers.torch():
        print(peers.NO_TORCH)
    figures: list[Figure] = []
    curves: dict[str, Any] = {}
    for name in options.only or MEASUREMENTS:
        start = time.perf_counter()
        try:
            measured = import_module(f"benchmarks.{name}").measure(options.quick)
        except (MemoryError, RuntimeError, ValueError) as error:
            print(f"== {name} is left out: {error}")
            continue
        print(f"== {name} ({time.perf_counter() - start:.0f} s)")
        print(table.figure_table(measured.figures), flush=True)
        figures += measured.figures
        if measured.curves:
            curves[name] = measured.curves
    if options.quick or options.only:
        print("Nothing is stored: a whole run does that.")
        return 0
    results = {"machine": this, "figures": [asdict(figure) for figure in figures], "curves": curves}
    text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    (folder / "results.json").write_text(text, encoding="utf-8", newline="\n")
    (folder / "README.md").write_text(table.page(this, figures, curves), encoding="utf-8", newline="\n")
    print("Written: benchmarks/results.json and benchmarks/README.md. `make images` draws the curves anew.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
