"""How long an explorer takes from a key or a click to the new picture, beside `interact` and `plt.show()`.

Both stand in one notebook of a real JupyterLab, draw the same figure, and are moved in turn by the same key.
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
USUAL = """
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
"""
WATCH = """([cell, event]) => {
    const box = document.querySelectorAll('.jp-Notebook .jp-CodeCell')[cell];
    const before = box.querySelector('img').src;
    let start = 0;
    box.addEventListener(event, () => { start = performance.now(); }, {capture: true, once: true});
    window.moved = new Promise(done => {
      const look = () => {
        const image = box.querySelector('img');
        if (image && image.src !== before && image.complete && image.naturalWidth) {
            requestAnimationFrame(() => done(performance.now() - start));
        } else {
            setTimeout(look, 1);
        }
      };
      look();
    });
}"""
BOTH_THERE = """() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')].slice(1).every(cell => {
    const image = cell.querySelector('img');
    return image && image.complete && image.naturalWidth && cell.querySelector('.noUi-handle');
})"""


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
            (notebooks / f"{name}.ipynb").write_text(json.dumps(notebook(name, control)), encoding="utf-8")
        with labs.running(Path(folder)) as lab:
            page = playwright.chromium.launch(executable_path=browser, args=list(SWITCHES)).new_page()
            figures = []
            for name, (place, _, key, room) in moved.items():
                labs.Notebook(page, lab, f"{name}.ipynb").run_all()
                page.wait_for_function(BOTH_THERE)
                steps = 3 if not room else 2 if quick else 12
                figures += figures_of(f"{name}, one step", move(page, place, [key] * steps))
                if room:
                    figures += figures_of(f"{name}, a page", move(page, place, ["PageUp"] * (2 if quick else 5)))
                    clicks = [0.03, 0.97, 0.2, 0.8, 0.35, 0.65][: 2 if quick else 6]
                    figures += figures_of(f"{name}, a click far away", move(page, place, clicks), goal="")
    return Measured(figures)


def notebook(name: str, control: str) -> dict[str, Any]:
    """Give a notebook that shows an explorer, and the same figure in the usual way."""
    sources = [
        f"from attnlib import explorers\n\nexplorer = explorers.{name}()",
        "explorer",
        USUAL.format(name=control, start=0),
    ]
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


def move(page: Any, place: int, moves: Sequence[str | float]) -> dict[str, list[float]]:
    """Move both in turn, each time to where they were never before, and give the milliseconds of each move.

    A move is a key, or a click at a share of the slider's width.
    """
    times: dict[str, list[float]] = {"explorer": [], "usual": []}
    for step in moves:
        for kind, cell, slider in (("explorer", 1, place), ("usual", 2, 0)):
            page.wait_for_timeout(BREATH)
            box = page.locator(".jp-Notebook .jp-CodeCell").nth(cell)
            if isinstance(step, str):
                handle = box.locator(".noUi-handle").nth(slider)
                handle.focus()
                page.evaluate(WATCH, [cell, "keydown"])
                handle.press(step)
            else:
                base = box.locator(".noUi-base").nth(slider)
                base.scroll_into_view_if_needed()
                found = base.bounding_box()
                page.evaluate(WATCH, [cell, "pointerdown"])
                page.mouse.click(found["x"] + step * found["width"], found["y"] + found["height"] / 2)
            times[kind].append(page.evaluate("window.moved"))
    return {kind: numbers[1:] for kind, numbers in times.items()}  # the first move warms up


def figures_of(name: str, times: dict[str, list[float]], goal: str = "≤ 0.5") -> list[Figure]:
    """Make the two lines of one kind of move."""
    usual = statistics.median(times["usual"])
    return [
        plain(
            f"explorer {name}: move to picture", "ms", times["explorer"], "≤ 100", f"the usual way: {usual:.0f} ms"
        ),
        ratio(f"explorer {name} / `interact` and `plt.show()`", times["explorer"], times["usual"], goal),
    ]
