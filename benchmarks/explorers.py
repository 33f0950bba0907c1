"""How long an explorer takes from a key or a click to the new picture, beside `interact` and `plt.show()`.

Each stands in a notebook of its own in a real JupyterLab, so that what an explorer draws ahead does not keep the
other waiting. Both draw the same figure and are moved by the same keys and clicks, one after the other.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.timing import Figure, Measured, plain, ratio

ROOT = Path(__file__).resolve().parents[1]
# An explorer, the slider that is moved (place and name), the key of one step, and whether there is room to jump.
MOVED = {
    "positions": (0, "p", "ArrowRight", True),
    "two_vectors": (0, "angle", "ArrowRight", True),
    "temperature": (1, "a", "ArrowRight", True),
    "training": (0, "step", "ArrowRight", True),
    "steps": (0, "step", "ArrowRight", False),
    "masks": (0, "real", "ArrowLeft", False),
    "window": (1, "layers", "ArrowRight", False),
}
BREATH = 500  # milliseconds between two moves, as a hand makes them: time to draw what a key can lead to
SHOWN = {
    "explorer": "explorer",
    "usual": """
import matplotlib.pyplot as plt
from ipywidgets import interact

def usual({name}={start}):
    plt.figure(explorer.view(**{{**explorer.start, "{name}": {name}}}).picture)
    plt.show()

interact(usual, {name}=explorer.widgets["{name}"].__class__(
    explorer.start["{name}"], min=explorer.widgets["{name}"].min, max=explorer.widgets["{name}"].max,
    step=explorer.widgets["{name}"].step)
)
None
""",
}
WATCH = """event => {
    const LOST = 5000;  // milliseconds after which a move has gone astray: pages under load move under the pointer
    const box = document.querySelectorAll('.jp-Notebook .jp-CodeCell')[1];
    const before = box.querySelector('img').src;
    let start = 0;
    setTimeout(() => { start ||= performance.now(); }, LOST);  // a click that missed, too
    box.addEventListener(event, () => { start = performance.now(); }, {capture: true, once: true});
    window.moved = new Promise(done => {
      const look = () => {
        const image = box.querySelector('img');
        if (image && image.src !== before && image.complete && image.naturalWidth) {
            requestAnimationFrame(() => done(performance.now() - start));
        } else if (start && performance.now() > start + LOST) {
            done(null);
        } else {
            setTimeout(look, 1);
        }
      };
      look();
    });
}"""
THERE = """() => {
    const cell = document.querySelectorAll('.jp-Notebook .jp-CodeCell')[1];
    const image = cell.querySelector('img');
    return image && image.complete && image.naturalWidth && cell.querySelector('.noUi-handle');
}"""


def measure(quick: bool) -> Measured:
    """Move each explorer and its usual form in turn, and compare the milliseconds."""
    sys.path.insert(0, str(ROOT / "tests" / "browser"))
    try:
        import lab as labs
        from conftest import SWITCHES, find_browser
        from playwright.sync_api import sync_playwright
    finally:
        sys.path.remove(str(ROOT / "tests" / "browser"))
    browser = find_browser()
    if not browser:
        raise RuntimeError("there is no Chromium here (Debian and Ubuntu: apt-get install chromium)")
    moved = dict(list(MOVED.items())[: 1 if quick else None])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        notebooks = Path(folder, "desk", "notebooks")
        notebooks.mkdir(parents=True)
        for name, (_, control, _, _) in moved.items():
            for kind, shown in SHOWN.items():
                text = json.dumps(notebook(name, shown.format(name=control, start=0)))
                (notebooks / f"{name}-{kind}.ipynb").write_text(text, encoding="utf-8")
        with labs.running(Path(folder)) as lab:
            page = playwright.chromium.launch(executable_path=browser, args=list(SWITCHES)).new_page()
            figures = []
            for name, (place, _, key, room) in moved.items():
                steps = 3 if not room else 2 if quick else 12
                moves: dict[str, list[str | float]] = {"one step": [key] * steps}
                if room:
                    moves["a page"] = ["PageUp"] * (2 if quick else 5)
                    moves["a click far away"] = [0.03, 0.97, 0.2, 0.8, 0.35, 0.65][: 2 if quick else 6]
                times: dict[str, dict[str, list[float | None]]] = {}
                for kind, slider in (("explorer", place), ("usual", 0)):
                    shown = labs.Notebook(page, lab, f"{name}-{kind}.ipynb")
                    shown.run_all()
                    page.wait_for_function(THERE)
                    times[kind] = {what: move(page, slider, steps) for what, steps in moves.items()}
                    lab.looked_at.discard(shown.file)  # its kernel ends before the next one is moved
                for what in moves:
                    figures += figures_of(f"{name}, {what}", times["explorer"][what], times["usual"][what])
    return Measured(figures)


def notebook(name: str, shown: str) -> dict[str, Any]:
    """Give a notebook that makes an explorer, and shows what the second cell says."""
    sources = [f"from attnlib import explorers\n\nexplorer = explorers.{name}()", shown]
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"c{i}",
            "metadata": {},
            "outputs": [],
            "source": source,
        }
        for i, source in enumerate(sources)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def move(page: Any, place: int, moves: Sequence[str | float]) -> list[float | None]:
    """Move a slider, and give the milliseconds from each move to the new picture in the page.

    A move is a key, or a click at a share of the slider's width. One that went astray has no time.
    """
    times = []
    for step in moves:
        page.wait_for_timeout(BREATH)
        box = page.locator(".jp-Notebook .jp-CodeCell").nth(1)
        handle = box.locator(".noUi-handle").nth(place)
        base = box.locator(".noUi-target").nth(place)
        base.scroll_into_view_if_needed()
        if isinstance(step, str):
            handle.focus()
            page.evaluate(WATCH, "keydown")
            page.keyboard.press(step)
        else:
            found = base.bounding_box()
            page.evaluate(WATCH, "pointerdown")
            page.mouse.click(found["x"] + step * found["width"], found["y"] + found["height"] / 2)
        times.append(page.evaluate("window.moved"))
    return times


def figures_of(name: str, ours: list[float | None], usual: list[float | None]) -> list[Figure]:
    """Make the two lines of one kind of move; the first move warms up."""
    pairs = [(mine, other) for mine, other in zip(ours[1:], usual[1:], strict=True) if mine and other]
    explorer, interact = ([pair[side] for pair in pairs] for side in (0, 1))
    note = f"the usual way: {statistics.median(interact):.0f} ms"
    return [
        plain(f"explorer {name}: move to picture", "ms", explorer, "≤ 100", note),
        ratio(f"explorer {name} / `interact` and `plt.show()`", explorer, interact, "≤ 0.5"),
    ]
