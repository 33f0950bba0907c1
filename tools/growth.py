"""The picture of how time and memory grow with n, from what `make bench` stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnlib.pictures import COLOURS, LINES, Picture, look

NAMES = {
    "tutorials": "as tutorials write it",
    "attention": "attention",
    "in blocks": "blockwise_attention",
    "torch": "torch",
}
KINDS = dict(zip(NAMES, ("key", "weights", "output", "query"), strict=True))  # their colours


def draw(curves: Mapping[str, Any]) -> Picture:
    """Draw time and memory against n, both axes logarithmic, with the fitted exponents."""
    time, memory = curves["blockwise"], curves["memory"]
    milliseconds = {name: [1e3 * seconds for seconds in line] for name, line in time["full"].items()}
    panels = [
        ("time", "milliseconds", time["lengths"], milliseconds, time["exponents"]["full"]),
        ("memory", "megabytes", memory["lengths"], memory["megabytes"], memory["exponents"]),
    ]
    said = "; ".join(f"{title}: {spoken(lines, powers)}" for title, _, _, lines, powers in panels)
    with look():
        picture = Picture(9.6, 4.4, f"Growth of attention with n, 8 heads, d = 64, float32. {said}")
        for place, (title, unit, lengths, lines, powers) in enumerate(panels, start=1):
            axes = picture.add_subplot(1, 2, place)
            for name in [name for name in NAMES if name in lines]:
                numbers = lines[name]
                axes.plot(
                    lengths[: len(numbers)],
                    numbers,
                    color=COLOURS[KINDS[name]],
                    linestyle=LINES[list(NAMES).index(name) % len(LINES)],
                    marker="o",
                    label=f"{NAMES[name]}: n^{powers[name]:.1f}",
                )
            axes.set(xscale="log", yscale="log", xlabel="n, number of tokens", ylabel=unit, title=title)
            axes.set_xticks(lengths, [str(n) for n in lengths])
            axes.set_xticks([], minor=True)
            axes.grid(color="#dddddd", linewidth=0.8)
            axes.legend(frameon=False, loc="upper left", handlelength=3.2, fontsize="small")
            axes.margins(y=0.12)
            low, high = axes.get_ylim()
            axes.set_ylim(low, high * (high / low) ** 0.35)  # room for the legend above the lines
    return picture


def spoken(lines: Mapping[str, Sequence[float]], powers: Mapping[str, float]) -> str:
    """Say the lines in words."""
    return ", ".join(
        f"{NAMES[name]} {lines[name][0]:.3g} to {lines[name][-1]:.3g} (as n to the {powers[name]:.1f})"
        for name in NAMES
        if name in lines
    )
