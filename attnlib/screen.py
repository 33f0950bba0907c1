"""The screen: large type, pictures and slides for a room, for as long as a session lasts.

    >>> from attnlib import projector
    >>> projector()
    Projector on: type, and the pictures drawn and slides opened from here on, are large. Back: projector(False)
    >>> projector(False)
    Projector off: type, and the pictures drawn and slides opened from here on, have their usual size.

`make lab ARGS=--projector` starts JupyterLab with it switched on, the slides included.
"""

from __future__ import annotations

import html
import json

from attnlib import decks, desk, pictures

FONTS = {
    "--jp-cell-prompt-width": ("88px", "64px"),
    "--jp-code-font-size": ("20px", "13px"),
    "--jp-content-font-size1": ("21px", "14px"),
    "--jp-ui-font-size1": ("16px", "13px"),
}
"""JupyterLab's names for sizes of type, and for the room that a cell's number needs: large, and usual"""

# A style that a script sets on the page stays when the output is scrolled away, and can be taken back.
SCRIPT = """<script>(() => {{
  const root = document.documentElement, fonts = {fonts}, on = {on};
  const before = window.attnlibFonts ??= {{}};
  for (const name in fonts) {{
    const [large, usual] = fonts[name];
    if (on) before[name] ??= root.style.getPropertyValue(name);
    root.style.setProperty(name, on ? large : before[name] ?? "");
    const found = getComputedStyle(root).getPropertyValue(name).trim();
    if (!on && found === large) root.style.setProperty(name, usual);  // started with --projector
  }}
  window.dispatchEvent(new Event("resize"));
}})()</script>"""


class Projector:
    """What a call of `projector` shows in a notebook: a sentence, and a change of JupyterLab's type.

    >>> Projector(True)._repr_html_()[:12]
    '<p>Projector'
    """

    def __init__(self, on: bool, trouble: str = "") -> None:
        self.on = on
        self.trouble = trouble

    def __repr__(self) -> str:
        """Say what was done, and what could not be."""
        what = "type, and the pictures drawn and slides opened from here on,"
        large = f"Projector on: {what} are large. Back: projector(False)"
        usual = f"Projector off: {what} have their usual size."
        return " ".join([large if self.on else usual, self.trouble]).rstrip()

    def _repr_html_(self) -> str:
        script = SCRIPT.format(fonts=json.dumps(FONTS), on=json.dumps(self.on))
        return f"<p>{html.escape(repr(self))}</p>{script}"


def projector(on: bool = True) -> Projector:
    """Make type, pictures and slides large for a room, or with False as they were.

    Parameters
    ----------
    on : large, or back to the usual size

    Examples
    --------
    >>> view = projector()
    >>> pictures.scale
    1.5
    >>> view = projector(False)
    >>> pictures.scale
    1.0
    """
    if not isinstance(on, bool):
        raise TypeError(f"projector: expected True (large) or False (usual size), got {on!r}")
    pictures.scale = pictures.PROJECTOR if on else 1.0
    try:
        decks.begin_large(desk.course_root() / decks.FOLDER, on)
    except desk.DeskError as error:  # no course around attnlib, or slides that cannot be written
        return Projector(on, str(error))
    return Projector(on)
