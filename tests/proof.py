"""How far the course is proven: counts by chapter, printed after the tests and shown in the README.

Use: ``python tests/proof.py`` (`make proof`) counts anew and writes the counts into ``README.md``.
"""

import json
import re
import sys
from pathlib import Path

from library_mutants import RESULTS
from notebook_linter import NOTEBOOKS, chapters, count_ignored, load

from attnlib.exercises import all_exercises, by_chapter
from attnlib.exercises.kinds import FunctionExercise

README = NOTEBOOKS.parent / "README.md"
ANSWERS = Path(__file__).with_name("answer_mutants.json")
COLUMNS = (
    "cells re-run",
    "compared",
    "ignored",
    "figures",
    "exercises",
    "mistakes",
    "killed mutants of answers",
    "killed mutants of attnlib",
)
BEGIN, END = "<!-- counted by `make proof` -->\n", "<!-- end of the counts -->"


def figures(path):
    """List the figures of a notebook: (cell number, the text that is compared in the place of the picture)."""
    return [
        (number, output["data"].get("text/plain", ""))
        for number, cell in enumerate(load(path)["cells"], start=1)
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]


def has_numbers(text):
    """Tell whether a text names figures that nbval can compare."""
    return bool(re.search(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)", text))


def rows():
    """Give a row of counts for each chapter: {"05": [37, 37, 0, ...]}."""
    answers = json.loads(ANSWERS.read_text(encoding="utf-8"))
    library = json.loads(RESULTS.read_text(encoding="utf-8")).values()
    found = {}
    for number, name in chapters(NOTEBOOKS).items():
        path, names = NOTEBOOKS / name, by_chapter().get(number, [])
        code = [cell for cell in load(path)["cells"] if cell["cell_type"] == "code"]
        skipped = sum("nbval-skip" in cell["metadata"].get("tags", []) for cell in code)
        ignored = len(count_ignored(path))
        found[number] = [
            len(code) - skipped,
            len(code) - ignored,
            ignored,
            sum(has_numbers(text) for _, text in figures(path)),
            len(names),
            sum(len(all_exercises()[name].mistakes) for name in names),
            sum(answers.get(name, 0) for name in names),
            sum(result["claim"][:2] == number and bool(result["test"]) for result in library),
        ]
    return found


def totals(counted):
    """Add the rows up; mutants of attnlib that belong to no chapter's claim count here alone."""
    *sums, _ = (sum(column) for column in zip(*counted.values(), strict=True))
    library = json.loads(RESULTS.read_text(encoding="utf-8")).values()
    return [*sums, sum(bool(result["test"]) for result in library)]


def ignored_outputs():
    """List the outputs that nobody compares, with their reasons."""
    paths = [NOTEBOOKS / name for name in chapters(NOTEBOOKS).values()]
    return [f"{path.name}, cell {cell}: {reason}" for path in paths for cell, reason in count_ignored(path)]


def table():
    """Give the counts as Markdown."""
    counted = rows()
    lines = [f"| chapter | {' | '.join(COLUMNS)} |", "| --- |" + " ---: |" * len(COLUMNS)]
    lines += [f"| {number} | {' | '.join(map(str, row))} |" for number, row in counted.items()]
    lines.append(f"| **all** | {' | '.join(map(str, totals(counted)))} |")
    lines += ["", "The outputs that are ignored, and why:", ""]
    lines += [f"- {line}" for line in ignored_outputs()]
    return "\n".join(lines) + "\n"


def in_readme():
    """Give the table that the README holds."""
    text = README.read_text(encoding="utf-8")
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)]


def main():
    """Count the killed mutants of each answer anew, and write all counts into the README."""
    from mutants import survey

    functions = [exercise for exercise in all_exercises().values() if isinstance(exercise, FunctionExercise)]
    counts = {}
    for exercise in functions:
        changed, survivors = survey(exercise)
        counts[exercise.id] = changed - len(survivors)
    ANSWERS.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    README.write_text(before + table() + after, encoding="utf-8", newline="\n")
    print(table(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
