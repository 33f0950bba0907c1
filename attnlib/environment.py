"""Is this machine ready for the course? One line to read, or to paste when asking for help."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

OLDEST_PYTHON = (3, 11)
SHOWN = ("numpy", "matplotlib", "jupyterlab", "ipywidgets", "nbval")
MEND = "run pip install -r requirements.txt in the course's folder"


def problems() -> list[str]:
    """Give a sentence for each thing that is wrong, with what to do; nothing if all is well.

    >>> problems()
    []
    """
    found = []
    if sys.version_info[:2] < OLDEST_PYTHON:
        found.append(
            f"Python is {platform.python_version()}, but the course needs {'.'.join(map(str, OLDEST_PYTHON))} or "
            "newer: install one and run make lab again"
        )
    for name, wanted, version in requirements():
        if version is None:
            found.append(f"the package {name} is missing: {MEND}")
        elif not wanted.contains(version, prereleases=True):
            found.append(f"{name} is {version}, but the course needs {name}{wanted}: {MEND}")
    return found


def requirements() -> list[tuple[str, SpecifierSet, str | None]]:
    """Give each package that the course needs, the versions it may have, and the one that is installed.

    >>> sorted(name for name, _, _ in requirements())[:2]
    ['ipywidgets', 'jupyterlab']
    """
    from packaging.requirements import Requirement

    found = []
    for line in metadata.requires("attnlib") or []:
        needed = Requirement(line)
        if needed.marker is None or needed.marker.evaluate({"extra": "course"}):
            found.append((needed.name, needed.specifier, installed(needed.name)))
    return found


def installed(name: str) -> str | None:
    """Give the version of an installed package, or None.

    >>> installed("no-such-package") is None
    True
    """
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def report() -> str:
    """Say in one line whether all is well, with the versions that matter.

    >>> report().startswith("All is well: attnlib")
    True
    """
    versions = [f"{name} {installed(name) or 'missing'}" for name in SHOWN]
    here = f"attnlib {installed('attnlib')}, Python {platform.python_version()}, {', '.join(versions)}"
    here += f", {platform.system()} {platform.machine()}"
    wrong = problems()
    return f"Not ready: {'; '.join(wrong)} ({here})" if wrong else f"All is well: {here}"
