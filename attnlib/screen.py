"""The screen: large type and pictures for a room, for as long as a session lasts.

    >>> from attnlib import projector
    >>> projector()
    Projector on: type and the pictures drawn from here on are large; in the slides press p. Back: projector(False)
    >>> projector(False)
    Projector off: type and the pictures drawn from here on have their usual size.

`make lab ARGS=--projector` starts JupyterLab with it switched on, `make slides ARGS=--projector` makes slides that
begin with it.
"""

from __future__ import annotations

import json

from attnlib import pictures

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

    def __init__(self, on: bool) -> None:
        self.on = on

    def __repr__(self) -> str:
        """Say what was done."""
        if self.on:
            return (
                "Projector on: type and the pictures drawn from here on are large; in the slides press p. "
                "Back: projector(False)"
            )
        return "Projector off: type and the pictures drawn from here on have their usual size."

    def _repr_html_(self) -> str:
        script = SCRIPT.format(fonts=json.dumps(FONTS), on=json.dumps(self.on))
        return f"<p>{self!r}</p>{script}"


def projector(on: bool = True) -> Projector:
    """Make type and pictures large for a room, or with False as they were.

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
    return Projector(on)
