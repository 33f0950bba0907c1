"""What the test run prints at its end: how well the exercises are proven, and which outputs are not compared."""

from drawn import NOTEBOOKS
from notebook_linter import count_ignored

from attnlib.exercises import all_exercises, by_chapter


def pytest_terminal_summary(terminalreporter):
    """Print a row for each chapter: exercises, named mistakes, mutants, survivors."""
    proven = {
        name: (mutants, survivors)
        for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
        for key, (name, mutants, survivors) in getattr(report, "user_properties", [])
        if key == "mutants"
    }
    if not proven:
        return
    terminalreporter.section("exercises")
    row = "{:9} {:>9} {:>9} {:>9} {:>9}".format
    terminalreporter.write_line(row("chapter", "exercises", "mistakes", "mutants", "survivors"))
    totals = [0, 0, 0, 0]
    for chapter, names in by_chapter().items():
        numbers = [
            len(names),
            sum(len(all_exercises()[name].mistakes) for name in names),
            *(sum(proven.get(name, (0, 0))[i] for name in names) for i in (0, 1)),
        ]
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
        terminalreporter.write_line(row(chapter, *numbers))
    terminalreporter.write_line(row("all", *totals))
    ignored = [(path.name, *entry) for path in sorted(NOTEBOOKS.glob("*.ipynb")) for entry in count_ignored(path)]
    terminalreporter.section(f"outputs that are not compared: {len(ignored)}")
    for name, cell, reason in ignored:
        terminalreporter.write_line(f"{name}, cell {cell}: {reason}")
