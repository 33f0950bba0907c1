"""JupyterLab as `make lab` starts it, and a notebook in it as a learner uses it."""

import base64
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import TimeoutError  # noqa: A004 - the one that a page raises

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)(\S*)\?token=([0-9a-f]+)")
PATIENCE = 60_000  # milliseconds; a busy machine is slow, and every wait ends as soon as it can
EXECUTED = r"""() => {
    const prompts = [...document.querySelectorAll('.jp-Notebook .jp-CodeCell .jp-InputPrompt')];
    return prompts.length > 0 && prompts.every(prompt => /\[\d+\]/.test(prompt.textContent));
}"""
CLEARED = r"""() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell .jp-InputPrompt')]
    .every(prompt => /\[ \]/.test(prompt.textContent))"""
SIZES = ((1280, 800), (1920, 1080))
BROKEN_IMAGES = """() => [...document.querySelectorAll('.jp-Notebook img')]
    .filter(image => image.complete && image.naturalWidth === 0).map(image => image.src.slice(0, 200))"""
ALL_IMAGES_LOADED = """() => [...document.querySelectorAll('.jp-Notebook img')].every(image => image.complete)"""
EXPLORER = ".jp-OutputArea-output .widget-vbox:has(> .widget-image)"


@dataclass
class Lab:
    """A running JupyterLab: its address, its token and the desk that it serves."""

    port: int
    start: str
    """the page that `make lab` opens"""
    token: str
    desk: Path

    looked_at: set = field(default_factory=set)
    """the notebooks that are open in a page"""

    def end_kernels(self, request):
        """End the kernels of all notebooks that are open in no page."""
        for session in request.get(self.address("/api/sessions")).json():
            if Path(session["path"]).name not in self.looked_at:
                request.delete(self.address(f"/api/sessions/{session['id']}"))

    def address(self, path):
        """Give the address of a page of this Lab, with the token."""
        return f"http://127.0.0.1:{self.port}{path}?token={self.token}"


@contextlib.contextmanager
def running(folder, *switches):
    """Start the course's own command on an empty desk, wait until it names its address; stop it at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = dict(
        os.environ,
        ATTNLIB_DESK=str(folder / "desk"),
        JUPYTERLAB_SETTINGS_DIR=str(folder / "settings"),
        JUPYTERLAB_WORKSPACES_DIR=str(folder / "workspaces"),
        OPENBLAS_NUM_THREADS="1",
    )
    command = [sys.executable, "course.py", "lab", "--no-browser", "--port", str(port), *switches]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # so that a Ctrl-C reaches all of it, as in a terminal
    )
    said = []
    reader = threading.Thread(target=process.stdout.read, daemon=True)  # or the pipe would fill up
    try:
        for line in process.stdout:
            said.append(line)
            if found := ADDRESS.search(line):
                break
        else:
            raise RuntimeError("course.py lab stopped before it named its address:\n" + "".join(said))
        reader.start()
        while not listens(int(found[1])):  # it may say its address a moment before it listens
            if process.poll() is not None:
                raise RuntimeError("course.py lab stopped before it listened:\n" + "".join(said))
        yield Lab(int(found[1]), found[2], found[3], folder / "desk")
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if reader.is_alive():
            reader.join()
        process.stdout.close()


def listens(port):
    """Tell whether somebody answers at a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Notebook:
    """One notebook, open in a page of a browser."""

    def __init__(self, page, lab, file):
        self.page, self.lab, self.file = page, lab, file
        page.set_default_timeout(PATIENCE)
        try:
            self.open()
        except TimeoutError:  # a kernel that did not come up: a learner would close it and open the chapter again
            self.open()

    def open(self):
        """Open the notebook with a new kernel, and end the kernels of notebooks that nobody looks at any more."""
        self.lab.looked_at.discard(self.file)
        self.lab.end_kernels(self.page.request)
        self.lab.looked_at.add(self.file)
        self.page.goto(self.lab.address(f"/lab/tree/notebooks/{self.file}") + "&reset")
        self.wait_until_idle()

    def wait_until_idle(self):
        """Wait until the notebook is shown and its kernel has nothing to do."""
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell .jp-InputPrompt", state="attached")
        self.page.wait_for_selector('.jp-StatusBar-TextItem:has-text("| Idle")')

    def menu(self, name, item):
        """Choose from the menu."""
        self.page.locator(f'#jp-MainMenu .lm-MenuBar-itemLabel:text-is("{name}")').click()
        self.page.locator(f'.lm-Menu-itemLabel:text-is("{item}")').click()

    def run_all(self):
        """Run all cells and wait for the last one."""
        self.menu("Run", "Run All Cells")
        self.page.wait_for_function(EXECUTED)
        self.wait_until_idle()

    def restart(self):
        """Restart the kernel and clear all outputs, and wait until it is there again."""
        self.menu("Kernel", "Restart Kernel and Clear Outputs of All Cells…")
        self.page.locator(".jp-Dialog .jp-mod-accept").click()
        self.page.wait_for_function(CLEARED)
        self.wait_until_idle()

    def cell(self, text):
        """Give the first code cell whose source holds a text, and keep to it when its source changes."""
        sources = self.page.locator(".jp-Notebook .jp-CodeCell .jp-InputArea-editor").all_text_contents()
        place = next(i for i, source in enumerate(sources) if text in source)
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(place)

    def write(self, text, source):
        """Put other code into the cell that holds a text, run it, and give the words that come out."""
        cell = self.cell(text)
        editor = cell.locator(".cm-content")
        editor.click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)
        before = cell.locator(".jp-InputPrompt").inner_text()
        self.page.keyboard.press("Shift+Enter")
        cell.locator(
            ".jp-InputPrompt", has_text=re.compile(rf"\[(?!{re.escape(before.strip('[]: '))}\])\d+\]")
        ).wait_for()
        self.wait_until_idle()
        return cell.locator(".jp-OutputArea").inner_text()

    def save(self):
        """Save, and wait until the tab no longer says that something is unsaved."""
        self.page.keyboard.press("Escape")
        self.menu("File", "Save Notebook")
        self.page.locator(".lm-TabBar-tab.jp-mod-current:not(.jp-mod-dirty)").wait_for()


class Explored:
    """The explorer of an open notebook."""

    def __init__(self, page):
        self.page = page
        self.box = page.locator(EXPLORER)
        self.box.wait_for()
        self.box.scroll_into_view_if_needed()

    def wait_for(self, sentence):
        """Wait until it says this."""
        self.box.locator("p[role]", has_text=re.compile(rf"^\s*{re.escape(sentence)}\s*$")).wait_for()

    def wait_for_picture(self, image):
        """Wait until the page shows this picture, byte by byte; it may come a moment after the sentence."""
        self.page.wait_for_function(
            """async ([image, expected]) => {
                if (!image.complete || !image.naturalWidth) return false;
                const answer = await fetch(image.src).catch(() => null);  // the picture may just be changing
                const bytes = new Uint8Array(answer ? await answer.arrayBuffer() : 0);
                let text = '';
                for (const byte of bytes) { text += String.fromCharCode(byte); }
                return btoa(text) === expected;
            }""",
            arg=[self.box.locator("img").element_handle(), base64.b64encode(image).decode()],
        )

    def cut_off(self):
        """Give the labels and buttons whose words do not fit."""
        return self.box.evaluate(
            """box => [...box.querySelectorAll('.widget-label, .widget-toggle-button')]
                .filter(part => part.scrollWidth > part.clientWidth + 1).map(part => part.textContent)"""
        )

    def press(self, place, key):
        """Move a slider by the keyboard alone."""
        self.box.locator(".noUi-handle").nth(place).focus()
        self.page.keyboard.press(key)

    def drag_to_end(self, place):
        """Drag a slider to its right end with the mouse."""
        handle, track = self.box.locator(".noUi-handle").nth(place), self.box.locator(".noUi-target").nth(place)
        handle.hover()
        self.page.mouse.down()
        size = track.bounding_box()
        self.page.mouse.move(size["x"] + size["width"] + 40, size["y"] + size["height"] / 2, steps=5)
        self.page.mouse.up()

    def choose(self, place, name):
        """Choose from a list."""
        self.box.locator("select").nth(place).select_option(name)

    def fill(self, place, text):
        """Type a text and press Enter."""
        field = self.box.locator("input[type=text]").nth(place)
        field.fill(text)
        field.press("Enter")
