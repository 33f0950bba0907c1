"""Projector: JupyterLab really shows larger type and pictures, by a call or by the switch, and only then."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
CELLS = (
    "import attnlib\nfrom attnlib import pictures",
    "attnlib.projector({on})",
    'pictures.bars({{"weights": [0.36, 0.40, 0.24]}}, ["write", "a", "poem"])',
)
SIZES = """() => ({
  code: parseFloat(getComputedStyle(document.querySelector(".jp-CodeCell .cm-line")).fontSize),
  text: parseFloat(getComputedStyle(document.querySelector(".jp-MarkdownOutput p")).fontSize),
  picture: document.querySelector(".jp-OutputArea img").getBoundingClientRect().width,
})"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def lab(desk, *switches):
    """Start the course as a teacher does, on a desk of its own; give the address of its notebooks."""
    command = [sys.executable, "course.py", "lab", "--no-browser", f"--port={free_port()}", *switches]
    environment = {**os.environ, "ATTNLIB_DESK": str(desk)}
    environment["JUPYTERLAB_SETTINGS_DIR"] = str(desk.parent / "settings")
    server = subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    limit = threading.Timer(90, server.kill)
    limit.start()
    said, found = "", None
    try:
        while not found and (line := server.stderr.readline()):
            said += line
            found = re.search(r"(http://127\.0\.0\.1:\d+/lab/tree/)\S*\?token=(\w+)", line)
        assert found, said
        yield lambda name: f"{found[1]}{name}?token={found[2]}&reset"
    finally:
        limit.cancel()
        os.killpg(server.pid, signal.SIGINT)
        server.communicate()


def notebook(desk, name, *sources):
    cells = [nbformat.v4.new_markdown_cell("# A title\n\nA line of text.")]
    cells += [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), desk / name)


def run_all(page, address):
    page.goto(address)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.wait_for_selector('.jp-StatusBar-TextItem:has-text("| Idle")', timeout=60_000)
    page.click('.lm-MenuBar-itemLabel:text-is("Run")')
    page.click('.lm-Menu-itemLabel:text-is("Run All Cells")')
    page.wait_for_selector(".jp-OutputArea img", timeout=60_000)
    page.wait_for_timeout(300)  # the layout settles
    return page.evaluate(SIZES)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("room") / "desk"
    folder.mkdir()
    for name, on in (("on.ipynb", "True"), ("off.ipynb", "False")):
        notebook(folder, name, *(cell.format(on=on) for cell in CELLS))
    notebook(folder, "plain.ipynb", CELLS[0], CELLS[2].format())
    return folder


def test_a_call_makes_type_and_pictures_large_and_another_takes_it_back(desk, open_page, artefacts):
    with lab(desk) as address:
        page = open_page(1600, 900)
        usual = run_all(page, address("plain.ipynb"))
        page.screenshot(path=artefacts / "projector-never.png")
        large = run_all(page, address("on.ipynb"))
        page.screenshot(path=artefacts / "projector-call.png")
        back = run_all(page, address("off.ipynb"))
    assert usual == back
    assert large["code"] >= 1.4 * usual["code"]
    assert large["text"] >= 1.4 * usual["text"]
    assert large["picture"] == pytest.approx(1.5 * usual["picture"], rel=0.02)
    assert (page.outside, page.crashes) == ([], [])


def test_the_switch_holds_for_one_start(desk, open_page, artefacts):
    with lab(desk, "--projector") as address:
        page = open_page(1600, 900)
        large = run_all(page, address("plain.ipynb"))
        page.screenshot(path=artefacts / "projector-switch.png")
        back = run_all(page, address("off.ipynb"))
    with lab(desk) as address:
        usual = run_all(open_page(1600, 900), address("plain.ipynb"))
    assert large["code"] >= 1.4 * usual["code"]
    assert large["text"] >= 1.4 * usual["text"]
    assert large["picture"] == pytest.approx(1.5 * usual["picture"], rel=0.02)
    assert back == usual
