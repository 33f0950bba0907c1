"""Compile the ranges of pyproject.toml to the exact versions of the two requirements files.

Use it as ``make requirements`` or ``python course.py requirements``.  Versions already in the files are
kept as long as they fit the ranges, so a second run changes nothing.  ``--upgrade`` takes the newest
versions that fit.  ``--check`` writes nothing, shows what would change, and fails if anything would.
"""

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HEADER = """\
# {what}
# Made from pyproject.toml by `make requirements`: do not edit by hand.
# Install from the course's top folder: pip install -r {name}
-e .
"""

# The larger set comes first: the smaller one takes its versions from it, so that both agree.
FILES = {
    "requirements-test.txt": ("What the course and its tests need, in exact versions.", ("course", "test")),
    "requirements.txt": ("What the course needs, in exact versions.", ("course",)),
}


def pins_of(text: str) -> str:
    """Keep only the pinned lines of a requirements file.

    Parameters
    ----------
    text : str
        The contents of a requirements file.

    Returns
    -------
    str
        Its ``name==version`` lines, without the header and the ``-e .`` line.
    """
    return "".join(line for line in text.splitlines(keepends=True) if re.match(r"[\w.-]+==", line))


def compile_pins(
    folder: Path, extras: Sequence[str], pyproject: str, known: str, limits: str, upgrade: bool
) -> str:
    """Compile one set of extras for every system and every supported Python.

    Parameters
    ----------
    folder : Path
        An empty folder to work in, so that no path of this computer gets into the result.
    extras : sequence of str
        The names of the extras to include.
    pyproject : str
        The contents of pyproject.toml.
    known : str
        Pinned lines to keep as long as they fit.
    limits : str
        Pinned lines that must be kept.
    upgrade : bool
        Whether to forget `known` and take the newest versions that fit.

    Returns
    -------
    str
        The pinned lines, each with its marker and with the packages that asked for it.
    """
    (folder / "pyproject.toml").write_text(pyproject, encoding="utf-8")
    (folder / "limits.txt").write_text(limits, encoding="utf-8")
    (folder / "pins.txt").write_text(known, encoding="utf-8")
    oldest = tomllib.loads(pyproject)["project"]["requires-python"].removeprefix(">=")
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--no-header"]
    command += ["--python-version", oldest, "--annotation-style", "line", "--constraint", "limits.txt"]
    command += [part for extra in extras for part in ("--extra", extra)]
    command += ["--upgrade"] if upgrade else []
    command += ["--output-file", "pins.txt", "pyproject.toml"]
    subprocess.run(command, cwd=folder, check=True)
    compiled = pins_of((folder / "pins.txt").read_text(encoding="utf-8"))
    # Every note would name the limits, which tells the reader nothing.
    for noise in (", -c limits.txt", "-c limits.txt, ", " (pyproject.toml)"):
        compiled = compiled.replace(noise, "")
    return compiled


def compile_files(root: Path, upgrade: bool = False) -> dict[str, str]:
    """Compile both requirements files.

    Parameters
    ----------
    root : Path
        The folder of pyproject.toml and of the present requirements files.
    upgrade : bool, optional
        Whether to take the newest versions that fit.

    Returns
    -------
    dict
        The new contents of each file, by its name.
    """
    pyproject = (root / "pyproject.toml").read_text(encoding="utf-8")
    compiled = {}
    limits = ""
    for name, (what, extras) in FILES.items():
        present = root / name
        known = pins_of(present.read_text(encoding="utf-8")) if present.exists() else ""
        with tempfile.TemporaryDirectory() as folder:
            pins = compile_pins(Path(folder), extras, pyproject, known, limits, upgrade)
        compiled[name] = HEADER.format(what=what, name=name) + pins
        limits = limits or pins
    return compiled


def main(arguments: Sequence[str] | None = None) -> int:
    """Write both requirements files, or only compare them.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line; the real one if left out.

    Returns
    -------
    int
        The exit code: 1 if a comparison found a difference or the compiling failed, else 0.
    """
    parser = argparse.ArgumentParser(description="Compile pyproject.toml to the requirements files.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions that fit")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if anything would change")
    options = parser.parse_args(arguments)
    try:
        compiled = compile_files(ROOT, options.upgrade)
    except subprocess.CalledProcessError:
        print("The requirements files are as they were: uv says above why it failed.", file=sys.stderr)
        return 1
    changed = False
    for name, text in compiled.items():
        path = ROOT / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = [part.splitlines(keepends=True) for part in (old, text)]
        difference = "".join(difflib.unified_diff(*lines, name, f"{name} (compiled)", n=0))
        changed = changed or bool(difference)
        print(difference or f"{name} agrees with pyproject.toml.\n", end="")
        if not options.check:
            path.write_text(text, encoding="utf-8", newline="\n")
    return int(changed and options.check)


if __name__ == "__main__":
    sys.exit(main())
