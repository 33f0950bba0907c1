"""Run notebooks in a fresh kernel and store clean outputs: the same bytes when nothing changed.

Use: ``python tools/refresh.py [--check] [--ignored] [notebook ...]`` (default: all of ``notebooks/``).
Cell numbers in messages count all cells of the notebook, from 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_METADATA = ("tags", "slideshow", "course")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class RefreshError(Exception):
    """A notebook could not be refreshed; the message says where and why."""


def load(text: str) -> NotebookNode:
    """Read a notebook and give each cell without an id of its own a new one.

    Parameters
    ----------
    text : str
        The notebook file's JSON text.

    Returns
    -------
    NotebookNode
        The notebook, in format 4.5. A new id is made from the cell's place, not at random.
    """
    raw = json.loads(text)
    if not isinstance(raw, dict) or raw.get("nbformat") != 4:
        raise RefreshError("not a notebook of format 4; open it in JupyterLab and save it again")
    taken = {cell.get("id") for cell in raw["cells"]}
    seen: set[str] = set()
    for number, cell in enumerate(raw["cells"], start=1):
        if not cell.get("id") or cell["id"] in seen:
            new = f"cell-{number}"
            while new in taken:
                new += "-new"
            cell["id"] = new
            taken.add(new)
        seen.add(cell["id"])
    raw["nbformat_minor"] = 5
    return nbformat.reads(json.dumps(raw), as_version=4)


def execute(nb: NotebookNode, folder: Path, timeout: float = 120) -> None:
    """Run all code cells in place, in a new kernel of this very Python.

    Parameters
    ----------
    nb : NotebookNode
        The notebook; its old outputs are thrown away first.
    folder : Path
        The kernel's working directory.
    timeout : float
        The most seconds that one cell may take.
    """
    started: list[int] = []
    for cell in nb.cells:
        cell.source = cell.source.replace("\r\n", "\n")
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        nb,
        timeout=timeout,
        startup_timeout=60,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
        on_cell_start=lambda cell, cell_index: started.append(cell_index),
    )
    # With no folder to look in, "python3" can only be the Python that runs this file,
    # whatever kernels the user has installed under that name.
    client.create_kernel_manager().kernel_spec_manager = KernelSpecManager(kernel_dirs=[])
    # A MPLBACKEND from outside would switch off the inline figures, a projector would make them large.
    outside = ("MPLBACKEND", "ATTNLIB_PROJECTOR")
    env = {name: value for name, value in os.environ.items() if name not in outside}
    try:
        client.execute(env=env, stderr=subprocess.DEVNULL)
    except Exception as error:  # whatever it is, the other notebooks still get their turn
        if not started:
            raise RefreshError(f"the kernel did not start: {error}") from error
        if isinstance(error, CellExecutionError):
            reason = f"{error.ename}: {error.evalue}"
        else:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
        first_lines = "\n".join(f"    {line}" for line in nb.cells[started[-1]].source.splitlines()[:3])
        raise RefreshError(f"cell {started[-1] + 1}: {reason}\n{first_lines}") from error


def clean(nb: NotebookNode) -> None:
    """Drop in place all that changes from run to run or from machine to machine.

    Parameters
    ----------
    nb : NotebookNode
        An executed notebook.
    """
    nb.metadata = nbformat.from_dict(METADATA)
    count = 0
    for cell in nb.cells:
        cell.metadata = NotebookNode({k: v for k, v in cell.metadata.items() if k in CELL_METADATA})
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        cell.outputs = [out for out in map(clean_output, merge_streams(cell.outputs)) if out]
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count


def keep_ignored(old: NotebookNode, new: NotebookNode) -> None:
    """Keep the stored outputs of cells that no test compares: they differ at each run, and mean nothing new.

    Parameters
    ----------
    old, new : NotebookNode
        The notebook as it was stored and as it was run. A cell that had no output gets its new one.
    """
    for before, after in zip(old.cells, new.cells, strict=True):
        ignored = "nbval-ignore-output" in after.metadata.get("tags", [])
        if ignored and before.get("outputs"):
            after.outputs = [out for out in map(clean_output, before.outputs) if out]
            for output in after.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = after.execution_count


def merge_streams(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Join neighbouring stream outputs of one name: how a print is cut into messages is chance.

    Parameters
    ----------
    outputs : sequence of NotebookNode
        The outputs of one cell.

    Returns
    -------
    list of NotebookNode
        The outputs, never with two streams of one name next to each other.
    """
    merged: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream" and merged and merged[-1].get("name") == output.name:
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged


def clean_output(output: NotebookNode) -> NotebookNode | None:
    """Make one output the same in each run.

    Parameters
    ----------
    output : NotebookNode
        An output as the kernel sent it.

    Returns
    -------
    NotebookNode or None
        The clean output; None when nothing is left of it.
    """
    if output.output_type == "error":
        # A traceback shows paths of this machine; nbval compares only the name and the message.
        output.traceback = [f"{output.ename}: {output.evalue}"]
    elif "data" in output and WIDGET_VIEW in output.data:
        # A stored view is dead: it names a model, by a random id, that ended with the kernel, and shows
        # as an error. Without it, viewers show what else is there: a PNG, or at least the text/plain.
        del output.data[WIDGET_VIEW]
        output.metadata.pop(WIDGET_VIEW, None)
        return output if output.data else None
    return output


def dump(nb: NotebookNode) -> bytes:
    """Return the bytes of the notebook's file.

    Parameters
    ----------
    nb : NotebookNode
        A valid notebook.

    Returns
    -------
    bytes
        UTF-8 with LF line ends on every system, and one at the end.
    """
    nbformat.validate(nb)
    return (nbformat.writes(nb, indent=1, ensure_ascii=False).rstrip("\n") + "\n").encode()


def refresh(path: Path, timeout: float = 120, *, ignored: bool = False) -> tuple[bytes, list[str]]:
    """Run a notebook, without a change to its file.

    Parameters
    ----------
    path : Path
        The notebook.
    timeout : float
        The most seconds that one cell may take.
    ignored : bool
        Take new outputs also for cells that no test compares.

    Returns
    -------
    tuple of bytes and list of str
        The file's new content, and what differs from the old one (empty: nothing).
    """
    content = path.read_bytes()
    try:
        old, nb = load(content.decode()), load(content.decode())
    except (KeyError, ValueError) as error:
        raise RefreshError(f"not a notebook: {error}") from error
    execute(nb, path.parent.resolve(), timeout)
    clean(nb)
    if not ignored:
        keep_ignored(old, nb)
    new = dump(nb)
    if new == content:
        return new, []
    pairs = enumerate(zip(old.cells, nb.cells, strict=True), start=1)
    found = [f"cell {n}: {', '.join(kinds)}" for n, cells in pairs if (kinds := differences(*cells))]
    return new, found or ["file: metadata, cell ids or layout"]


def differences(old: NotebookNode, new: NotebookNode) -> list[str]:
    """Name what differs between two versions of a cell.

    Parameters
    ----------
    old, new : NotebookNode
        The cell as it was stored and as it would be.

    Returns
    -------
    list of str
        For example ``["stdout", "image/png"]``.
    """

    def parts(cell: NotebookNode) -> dict[str, Any]:
        found: dict[str, Any] = {key: cell.get(key) for key in ("source", "metadata", "execution_count")}
        for output in cell.get("outputs", []):
            text = {output.get("name", "error"): output.get("text", output.get("evalue"))}
            for key, value in output.get("data", text).items():
                found.setdefault(key, []).append(value)
            found.setdefault("output metadata", []).append((output.output_type, output.get("metadata")))
        return found

    before, after = parts(old), parts(new)
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]


def write(path: Path, content: bytes) -> None:
    """Replace a file in one step, so that a crash never leaves half of it.

    Parameters
    ----------
    path : Path
        The file.
    content : bytes
        Its new content.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Refresh or check the notebooks named on the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line; default ``sys.argv[1:]``.

    Returns
    -------
    int
        1 when a notebook failed or, with ``--check``, differs; else 0.
    """
    parser = argparse.ArgumentParser(description="Run notebooks and store clean outputs.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file would change")
    parser.add_argument("--ignored", action="store_true", help="store also outputs that no test compares")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of notebooks/")
    options = parser.parse_args(arguments)
    status = 0
    for path in options.notebooks or sorted(NOTEBOOKS.glob("*.ipynb")):
        try:
            content, changes = refresh(path, ignored=options.ignored)
            if changes and not options.check:
                write(path, content)
        except (RefreshError, OSError, nbformat.ValidationError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            status = 1
            continue
        print(f"{path}: {'unchanged' if not changes else 'would change' if options.check else 'refreshed'}")
        for change in changes:
            print(f"  {change}")
        status = max(status, int(options.check and bool(changes)))
    return status


if __name__ == "__main__":
    sys.exit(main())
