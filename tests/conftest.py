"""What the test run prints at its end: how far the course is proven, and by what."""

from collections import Counter
from datetime import timedelta

import proof
from hypothesis import settings

PATIENCE = timedelta(seconds=60)  # for one input: no measure of speed, only the difference to a call without end
settings.register_profile("default", deadline=PATIENCE)
settings.register_profile("fuzz", deadline=PATIENCE, max_examples=600)
settings.load_profile("default")


def pytest_terminal_summary(terminalreporter):
    """Print the counts by chapter, the outputs that are not compared, and the agreement with onnx's own cases."""
    kept = [
        pair
        for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
        for pair in getattr(report, "user_properties", [])
    ]
    if any(key == "mutants" for key, _ in kept):
        print_counts(terminalreporter)
    cases = Counter(tuple(value) for key, value in kept if key == "onnx")
    if cases:
        terminalreporter.section("test cases of the onnx package")
        for (operator, outcome), count in sorted(cases.items()):
            terminalreporter.write_line(f"{operator:20} {count:4}  {outcome}")
        failed = sum("test_onnx_cases.py" in report.nodeid for report in terminalreporter.getreports("failed"))
        terminalreporter.write_line(f"{'all':20} {sum(cases.values()):4}  failed: {failed or 'none'}")


def print_counts(terminalreporter):
    """Print the table that the README shows."""
    terminalreporter.section("proof")
    widths = [max(len(word) for word in column.split()) for column in proof.COLUMNS]
    words = [column.split() for column in proof.COLUMNS]
    for line in range(max(map(len, words))):
        parts = [
            (word[line] if line < len(word) else "").rjust(width)
            for word, width in zip(words, widths, strict=True)
        ]
        terminalreporter.write_line("  ".join(["chapter" if line == 0 else " " * 7, *parts]))
    counted = proof.rows()
    for name, row in [*counted.items(), ("all", proof.totals(counted))]:
        numbers = [str(count).rjust(width) for count, width in zip(row, widths, strict=True)]
        terminalreporter.write_line("  ".join([f"{name:7}", *numbers]))
    ignored = proof.ignored_outputs()
    terminalreporter.section(f"outputs that are not compared: {len(ignored)}")
    for line in ignored:
        terminalreporter.write_line(line)
