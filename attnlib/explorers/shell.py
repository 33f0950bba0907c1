"""The shell around an explorer's pure function: widgets, an image and a sentence."""

from __future__ import annotations

import asyncio
import contextlib
import html
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import ipywidgets

from attnlib import pictures
from attnlib.explorers.controls import Control
from attnlib.pictures import Picture, drawing, drawn_over

UNSEEN = (
    "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap"
)
"""the style of a text that only a screen reader reads: an Image widget cannot carry its own words"""


TYPE = "var(--jp-content-font-size1, 14px)"
"""the size of the sentence: that of the chapter's text"""
MOST_DRAWN = 240
"""how many settings are kept as drawn, about 30 kB each: a whole slider and some more"""
QUIET = 0.12
"""seconds without a move after which the settings that the same control can lead to are drawn"""
BREATH = 0.002
"""seconds between two of them, in which a move can come first"""


class View(NamedTuple):
    """What an explorer shows at one setting of its controls.

    >>> View(Picture(1, 1, "an empty page"), "Nothing is here.").sentence
    'Nothing is here.'
    """

    picture: Picture
    sentence: str


class Frame(NamedTuple):
    """One setting, drawn.

    >>> Frame(b"", "an empty page", "Nothing is here.").sentence
    'Nothing is here.'
    """

    image: bytes
    """PNG"""
    description: str
    sentence: str


class Explorer:
    """A picture, a sentence, and controls that change them.

    Parameters
    ----------
    view : the pure function; it takes the values of the controls by name
    controls : name → what can be moved

    Examples
    --------
    >>> from attnlib.explorers.controls import Slider
    >>> def view(n):
    ...     return View(Picture(1, 1, f"a page with {n}"), f"There are {n}.")
    >>> explorer = Explorer(view, {"n": Slider("number", 0, 9, 3)})
    >>> explorer
    a page with 3
    There are 3.
    >>> explorer.widgets["n"].value = 5
    >>> explorer.sentence
    'There are 5.'
    """

    def __init__(self, view: Callable[..., View], controls: Mapping[str, Control]) -> None:
        self.view = view
        self.controls = controls
        self.start = {name: control.start for name, control in controls.items()}
        self.widgets = {name: control.widget() for name, control in controls.items()}
        self._drawn: dict[tuple[Any, ...], Frame] = {}
        self._sheet: Picture | None = None  # the last picture, which the next one is drawn over
        self._moves = 0
        self._image = ipywidgets.Image(format="png", layout={"max_width": "100%"})
        self._words = ipywidgets.HTML()
        self._show(self._frame(self.start))
        for name, widget in self.widgets.items():
            widget.observe(partial(self._moved, name), "value")
        everything = [*self.widgets.values(), self._image, self._words]
        self._box = ipywidgets.VBox(
            everything, layout={"align_items": "flex-start"}
        )  # else the image is stretched

    @property
    def values(self) -> dict[str, Any]:
        """What the controls are set to; a page may send 0.30000000000000004 for 0.3."""
        values = {name: widget.value for name, widget in self.widgets.items()}
        return {name: round(value, 9) if isinstance(value, float) else value for name, value in values.items()}

    def _moved(self, name: str, change: Any) -> None:
        self._moves += 1
        try:
            self._show(self._frame(self.values))
        except Exception as error:  # whatever it is: say it in words, and keep the last picture
            self._say(f"{error} (The picture still shows the last setting that worked.)", "alert")
        else:
            values = self.values
            others = ({**values, name: value} for value in self.controls[name].others(values[name]))
            self._draw_later([one for one in others if key_of(one) not in self._drawn], QUIET, self._moves)

    def _frame(self, values: Mapping[str, Any]) -> Frame:
        """Draw a setting, or find it among those drawn before; that needs no waiting for another thread."""
        key = key_of(values)
        frame = self._drawn.get(key)
        if frame:
            return frame
        with drawing:
            with drawn_over(self._sheet):
                view = self.view(**values)
            self._sheet = view.picture
            frame = Frame(view.picture.frame(), view.picture.description, view.sentence)
            self._drawn[key] = frame
            if len(self._drawn) > MOST_DRAWN:
                del self._drawn[next(iter(self._drawn))]
        return frame

    def _draw_later(self, settings: list[dict[str, Any]], wait: float, moves: int) -> None:
        """Draw what the next step would show, while nobody waits."""
        with contextlib.suppress(RuntimeError):  # no loop is running, so no kernel: nobody moves a control by hand
            if settings:
                asyncio.get_running_loop().call_later(wait, self._draw_one, settings, moves)

    def _draw_one(self, settings: list[dict[str, Any]], moves: int) -> None:
        if moves == self._moves:  # or there was a move in the meantime, perhaps in another thread
            with contextlib.suppress(Exception):  # if it cannot be drawn, the move itself will say why
                self._frame(settings[0])
            self._draw_later(settings[1:], BREATH, moves)

    def _show(self, frame: Frame) -> None:
        self._image.value = frame.image  # all the work is done: the page changes at once
        self.description = frame.description
        self._say(frame.sentence, "status")

    def _say(self, sentence: str, role: str) -> None:
        self.sentence = sentence
        self._words.value = (
            f'<p role="{role}" aria-live="polite" style="max-width: 48em; line-height: 1.5; font-size: {TYPE}">'
            f"{html.escape(sentence)}</p>"
            f'<p style="{UNSEEN}">Picture: {html.escape(self.description)}</p>'
        )

    def table(self, **values: Iterable[Any]) -> Table:
        """Give the sentences at these settings, other controls at their start: for readers without a kernel.

        >>> from attnlib.explorers.controls import Slider
        >>> empty = Picture(1, 1, "an empty page")
        >>> explorer = Explorer(lambda n: View(empty, f"There are {n}."), {"n": Slider("number", 0, 9, 3)})
        >>> explorer.table(n=[0, 9])
        number = 0: There are 0.
        number = 9: There are 9.
        """
        unknown = sorted(set(values) - set(self.start))
        if unknown:
            raise ValueError(f"table: there is no control {unknown[0]!r}; choose from {', '.join(self.start)}")
        settings = [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]
        return Table(
            [
                (
                    ", ".join(f"{self.controls[name].label} = {value}" for name, value in setting.items()),
                    self.view(**{**self.start, **setting}).sentence,
                )
                for setting in settings
            ]
        )

    def __repr__(self) -> str:
        """Say what the picture shows, and the sentence."""
        return f"{self.description}\n{self.sentence}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Give the live widgets, and for pages without a kernel the picture and the words."""
        live = self._box._repr_mimebundle_(**kwargs)
        return {**live, "image/png": self.view(**self.values).picture._repr_png_(), "text/plain": repr(self)}


def key_of(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Give what a drawn setting is found by: its values, and the size in which pictures are drawn now.

    >>> key_of({"n": 3})
    (1.0, 3)
    """
    return (pictures.scale, *values.values())


class Table:
    """Settings and what is said at each, as a table.

    >>> Table([("n = 1", "One & only.")])._repr_html_().count("<tr>")
    2
    """

    def __init__(self, rows: list[tuple[str, str]]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        """Write a line for each setting."""
        return "\n".join(f"{setting}: {sentence}" for setting, sentence in self.rows)

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><td style="text-align: left; white-space: nowrap">{html.escape(setting)}</td>'
            f'<td style="text-align: left">{html.escape(sentence)}</td></tr>'
            for setting, sentence in self.rows
        )
        head = '<tr><th style="text-align: left">setting</th><th style="text-align: left">what it shows</th></tr>'
        return f"<table>{head}{cells}</table>"
