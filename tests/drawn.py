"""What is really drawn: read the numbers and texts back out of a figure, and find texts that clash."""

import ast
import itertools
import json
from pathlib import Path

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.text import Text

from attnlib.pictures import Picture

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def texts(picture):
    """Give every text that shows, with its box in pixels."""
    picture.canvas.draw()
    hidden = {label for axes in picture.axes for axis in (axes.xaxis, axes.yaxis) for label in out_of_range(axis)}
    found = [text for text in picture.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text, text.get_window_extent()) for text in found if text not in hidden]


def out_of_range(axis):
    """Give the labels of ticks beyond the axis's ends, which Matplotlib keeps but does not draw."""
    low, high = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if not low - 1e-9 * abs(low) <= tick.get_loc() <= high + 1e-9 * abs(high):
            yield from (tick.label1, tick.label2)


def clashes(picture):
    """Name every text that leaves the page and every two that overlap."""
    shown = [(text, box) for text, box in texts(picture) if box.width > 0]
    page = picture.bbox
    wrong = [
        f"{text.get_text()!r} leaves the page"
        for text, box in shown
        if box.x0 < page.x0 - 1 or box.y0 < page.y0 - 1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1
    ]
    for (one, a), (other, b) in itertools.combinations(shown, 2):
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1:
            wrong.append(f"{one.get_text()!r} overlaps {other.get_text()!r}")
    return wrong


def cells(axes):
    """Give a matrix's cells in reading order: (text, number, colour of the text, colour of the cell)."""
    image = axes.get_images()[0]
    numbers = image.get_array()
    width = numbers.shape[1]
    return [
        (text.get_text(), float(numbers[divmod(place, width)]), text.get_color(), to_hex(colour))
        for place, (text, colour) in enumerate(
            zip(axes.texts, image.cmap(image.norm(numbers)).reshape(-1, 4), strict=True)
        )
    ]


def pictures_in(notebook):
    """Run a notebook's code here, and give every picture that it shows: [(cell number, picture)]."""
    cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    with np.printoptions():  # notebooks set their own
        return list(shown_by(cells))


def shown_by(cells):
    """Run code cells one after the other, and yield every picture that one of them ends in."""
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells, start=1):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
            if isinstance(value, Picture):
                yield number, value
