"""The results as a page to read: the machine, the table, the curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.blockwise import exponent
from benchmarks.timing import Figure

INTRODUCTION = """\
# What it costs, beside its peers

`make bench` (on Windows `py course.py bench`) measures all this again and writes it to `results.json` and to this
page; it takes about 15 minutes. `make images` then draws the curves anew. Nothing here is asserted: times belong
to a machine.

How to read it: everything that is compared runs in turn, in one run, round after round. Each turn begins with a
call that does not count, and is taken anew if another machine took the processor meanwhile. **best** is made of
the best round of each side and is what counts for the goal; **median** and **middle half** are those of the ratios
within a round. A figure with × is a ratio of times, unless it says otherwise. *In blocks* is `blockwise_attention`
with float32, 8 heads and d = 64; *tutorials* is the formula as tutorials write it; *torch* is its
`scaled_dot_product_attention`, on as many threads as NumPy's BLAS. Where the memory cannot hold all n × n scores,
*tutorials* and `attention` are left out.
"""


def page(machine: Mapping[str, str], figures: Sequence[Figure], curves: Mapping[str, Any]) -> str:
    """Give the whole page as Markdown."""
    parts = [INTRODUCTION, "## The machine\n", machine_table(machine), "## The figures\n", figure_table(figures)]
    if curves:
        parts += ["## How it grows\n", growth_table(curves)]
    return "\n".join(parts)


def machine_table(machine: Mapping[str, str]) -> str:
    """Give the machine's parts.

    >>> print(machine_table({"cores": "2"}))
    | part | what |
    | --- | --- |
    | cores | 2 |
    <BLANKLINE>
    """
    return rows(["part", "what"], ["---", "---"], machine.items())


def figure_table(figures: Sequence[Figure]) -> str:
    """Give one row for each figure.

    >>> print(figure_table([Figure("a / b", "×", 1.5, 1.6, 1.4, 1.75, "≤ 2", "quick")]))
    | figure | best | median | middle half | goal | reached | note |
    | --- | ---: | ---: | ---: | ---: | --- | --- |
    | a / b | 1.50 × | 1.60 × | 1.40 to 1.75 | ≤ 2 | yes | quick |
    <BLANKLINE>
    """
    said = {True: "yes", False: "**no**", None: ""}
    lines = [
        [
            figure.name,
            f"{figure.best:.2f} {figure.unit}",
            f"{figure.median:.2f} {figure.unit}",
            f"{figure.low:.2f} to {figure.high:.2f}",
            figure.goal,
            said[figure.reached],
            figure.note,
        ]
        for figure in figures
    ]
    head = ["figure", "best", "median", "middle half", "goal", "reached", "note"]
    return rows(head, ["---", "---:", "---:", "---:", "---:", "---", "---"], lines)


def growth_table(curves: Mapping[str, Any]) -> str:
    """Give the best times and the memory for each n, with the fitted exponent."""
    tables = []
    if "blockwise" in curves:
        for kind in ("full", "causal"):
            lines = in_milliseconds(curves["blockwise"][kind])
            tables.append(one_growth(f"milliseconds, {kind}", curves["blockwise"]["lengths"], lines))
    if "memory" in curves:
        lines = curves["memory"]["megabytes"]
        tables.append(one_growth("megabytes at most, beside the inputs", curves["memory"]["lengths"], lines))
    return "\n".join(tables)


def one_growth(title: str, lengths: Sequence[int], lines: Mapping[str, Sequence[float]]) -> str:
    """Give one row for each line; a line may end early.

    >>> print(one_growth("ms", [1024, 2048, 4096], {"a": [1.0, 4.0]}))
    | ms | n = 1024 | n = 2048 | n = 4096 | grows as |
    | --- | ---: | ---: | ---: | ---: |
    | a | 1.0 | 4.0 |  | n^2.0 |
    <BLANKLINE>
    """
    found = []
    for name, numbers in lines.items():
        missing = [""] * (len(lengths) - len(numbers))
        found.append(
            [name, *(f"{number:.1f}" for number in numbers), *missing, f"n^{exponent(lengths, numbers):.1f}"]
        )
    head = [title, *(f"n = {n}" for n in lengths), "grows as"]
    return rows(head, ["---", *["---:"] * (len(lengths) + 1)], found)


def in_milliseconds(lines: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Give seconds as milliseconds.

    >>> in_milliseconds({"a": [0.5]})
    {'a': [500.0]}
    """
    return {name: [1e3 * seconds for seconds in numbers] for name, numbers in lines.items()}


def rows(head: Sequence[str], under: Sequence[str], lines: Any) -> str:
    """Give a Markdown table."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, under, *lines))
