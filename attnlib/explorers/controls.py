"""What can be moved: sliders, choices, texts and cells to click, each with its label and its start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import ipywidgets
import traitlets

WIDE = {"description_width": "13em"}
ROOM = {"width": "36em", "max_width": "100%"}
PAGE = 5
"""how many steps the keys Page Up and Page Down move a slider"""


def beside(values: Sequence[Any], value: Any) -> list[Any]:
    """Give the other values, the nearest first and of two the next one, or none if the value is not among them.

    >>> beside([1, 4, 16, 64], 4), beside([1, 4, 16], 16), beside([1, 4], 3)
    ([16, 1, 64], [4, 1], [])
    """
    if value not in values:
        return []
    place = values.index(value)
    order = sorted(range(len(values)), key=lambda other: (abs(other - place), other < place))
    return [values[other] for other in order[1:]]


class Control(Protocol):
    """One thing to move: its start, and the widget that moves it."""

    @property
    def label(self) -> str:
        """What it is called on the page."""

    @property
    def start(self) -> Any:
        """The value before anybody moves it."""

    def widget(self) -> ipywidgets.DOMWidget:
        """Make the widget; its trait `value` holds what the pure function gets."""

    def others(self, value: Any) -> list[Any]:
        """Give the values that a hand can move it to from here, the likely ones first, as far as known."""


@dataclass(frozen=True)
class Slider:
    """A number between two ends; whole numbers if the step is whole.

    >>> Slider("angle", 0, 180, 60).widget().value
    60
    """

    label: str
    low: float
    high: float
    start: float
    step: float = 1

    def widget(self) -> ipywidgets.DOMWidget:
        """Make the slider."""
        kind = ipywidgets.IntSlider if isinstance(self.step, int) else ipywidgets.FloatSlider
        return kind(
            self.start,
            min=self.low,
            max=self.high,
            step=self.step,
            description=self.label,
            tooltip=self.label,
            style=WIDE,
            layout=ROOM,
        )

    def others(self, value: float) -> list[float]:
        """Give what a key leads to, by a step, a page or to an end, then the rest, for a click, the nearest first.

        >>> Slider("angle", 0, 9, 8).others(9), Slider("length", 0, 0.7, 0.4, 0.1).others(0.4)
        ([8, 4, 0, 7, 6, 5, 3, 2, 1], [0.5, 0.3, 0.7, 0.0, 0.6, 0.2, 0.1])
        """
        count = round((self.high - self.low) / self.step)
        values = [round(self.low + place * self.step, 9) for place in range(count + 1)]
        near = beside(values, value)
        place = values.index(value) if near else 0
        keys = [min(count, max(0, place + steps)) for steps in (1, -1, PAGE, -PAGE, count, -count)]
        return list(dict.fromkeys([values[key] for key in keys if near and key != place] + near))


@dataclass(frozen=True)
class Stops:
    """One of a few numbers in order, on a slider.

    >>> Stops("d_k", (1, 4, 16), 4).widget().value
    4
    """

    label: str
    values: Sequence[Any]
    start: Any

    def widget(self) -> ipywidgets.DOMWidget:
        """Make the slider."""
        options = [(f"{value:g}", value) for value in self.values]
        return ipywidgets.SelectionSlider(
            options=options,
            value=self.start,
            description=self.label,
            tooltip=self.label,
            style=WIDE,
            layout=ROOM,
        )

    def others(self, value: Any) -> list[Any]:
        """Give the other values, the nearest first.

        >>> Stops("d_k", (1, 4, 16), 4).others(1)
        [4, 16]
        """
        return beside(self.values, value)


@dataclass(frozen=True)
class Choice:
    """One of a few words.

    >>> Choice("token", ("write", "a", "poem"), "write").widget().value
    'write'
    """

    label: str
    options: Sequence[str]
    start: str

    def widget(self) -> ipywidgets.DOMWidget:
        """Make the list to choose from."""
        return ipywidgets.Dropdown(
            options=list(self.options),
            value=self.start,
            description=self.label,
            tooltip=self.label,
            style=WIDE,
            layout=ROOM,
        )

    def others(self, value: str) -> list[str]:
        """Give the other words, the nearest first.

        >>> Choice("token", ("write", "a", "poem"), "write").others("a")
        ['poem', 'write']
        """
        return beside(self.options, value)


@dataclass(frozen=True)
class Text:
    """A text to type; it counts when Enter is pressed or the field is left.

    >>> Text("sentence", "the cat").widget().value
    'the cat'
    """

    label: str
    start: str

    def widget(self) -> ipywidgets.DOMWidget:
        """Make the field."""
        return ipywidgets.Text(
            self.start,
            description=self.label,
            tooltip=self.label,
            continuous_update=False,
            style=WIDE,
            layout={**ROOM, "width": "48em"},
        )

    def others(self, value: Any) -> list[Any]:
        """Give nothing: what comes next cannot be known.

        >>> Text("sentence", "the cat").others("the cat")
        []
        """
        return []


@dataclass(frozen=True)
class Switch:
    """Yes or no.

    >>> Switch("causal", False).widget().value
    False
    """

    label: str
    start: bool

    def widget(self) -> ipywidgets.DOMWidget:
        """Make the box to tick."""
        return ipywidgets.Checkbox(
            self.start, description=self.label, tooltip=self.label, indent=False, layout={"margin": "0 0 0 13.5em"}
        )

    def others(self, value: bool) -> list[bool]:
        """Give the other one.

        >>> Switch("causal", False).others(True)
        [False]
        """
        return [not value]


class CellGrid(ipywidgets.GridBox):  # type: ignore[misc]
    """Buttons in rows and columns, each pressed or not; `value` holds rows of True and False.

    >>> grid = CellGrid(["a", "b"], ["x", "y"], ((True, True), (True, True)))
    >>> grid.buttons[0][1].value = False
    >>> grid.value
    ((True, False), (True, True))
    >>> grid.value = ((False, False), (True, True))
    >>> grid.buttons[0][0].value, grid.buttons[0][0].description
    (False, 'hidden')
    """

    value = traitlets.Tuple()

    def __init__(self, rows: Sequence[str], columns: Sequence[str], value: Sequence[Sequence[bool]]) -> None:
        self.buttons = [
            [
                ipywidgets.ToggleButton(
                    on, description=sign(on), tooltip=f"{row} may see {column}", layout={"width": "6.4em"}
                )
                for column, on in zip(columns, line, strict=True)
            ]
            for row, line in zip(rows, value, strict=True)
        ]
        head = [
            ipywidgets.Label("by hand: query (row)"),
            *(ipywidgets.Label(f"key {column}") for column in columns),
        ]
        lines = [[ipywidgets.Label(row), *line] for row, line in zip(rows, self.buttons, strict=True)]
        super().__init__(
            [widget for line in [head, *lines] for widget in line],
            value=self._pressed(),
            layout={"grid_template_columns": f"13.5em repeat({len(columns)}, 6.8em)", "grid_gap": "2px"},
        )
        self._moving = False
        for line in self.buttons:
            for button in line:
                button.observe(self._press, "value")
        self.observe(self._move, "value")

    def _pressed(self) -> tuple[tuple[bool, ...], ...]:
        return tuple(tuple(bool(button.value) for button in line) for line in self.buttons)

    def _press(self, change: Any) -> None:
        change["owner"].description = sign(change["new"])
        if not self._moving:
            self.value = self._pressed()

    def _move(self, change: Any) -> None:
        self._moving = True  # one change of the value, however many buttons follow it
        for line, states in zip(self.buttons, change["new"], strict=True):
            for button, state in zip(line, states, strict=True):
                button.value = bool(state)
        self._moving = False


def sign(on: bool) -> str:
    """Give the word on a cell's button: colour alone would not do.

    >>> sign(True), sign(False)
    ('allowed', 'hidden')
    """
    return "allowed" if on else "hidden"


@dataclass(frozen=True)
class Cells:
    """A matrix of cells to click.

    >>> Cells("mask", ("a",), ("x", "y"), ((True, False),)).widget().value
    ((True, False),)
    """

    label: str
    rows: Sequence[str]
    columns: Sequence[str]
    start: Sequence[Sequence[bool]]

    def widget(self) -> CellGrid:
        """Make the buttons."""
        return CellGrid(self.rows, self.columns, self.start)

    def others(self, value: Any) -> list[Any]:
        """Give nothing: what comes next cannot be known.

        >>> Cells("mask", ("a",), ("x",), ((True,),)).others(((True,),))
        []
        """
        return []
