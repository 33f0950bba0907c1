"""A real browser for the tests in this folder: `make browser` runs them."""

import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Without these a browser looks for updates, news and accounts: requests that no page made.
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_browser():
    """Give the path of the browser: what ATTNLIB_CHROMIUM names, or a Chromium or Chrome that is installed."""
    return os.environ.get("ATTNLIB_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def executable():
    """Give the path of the browser, or stop the tests if there is none."""
    found = find_browser()
    if not found:
        pytest.exit(
            "There is no Chromium here: install it (Debian and Ubuntu: apt-get install chromium), or name one in "
            "the variable ATTNLIB_CHROMIUM.",
            returncode=1,
        )
    return found


def pytest_collection_modifyitems(items):
    """Keep the tests of one open chapter, and otherwise those of one file, together on one worker."""
    for item in items:
        chapter = getattr(item, "callspec", None) and item.callspec.params.get("chapter")
        together = (
            f"{item.path.stem}-{chapter.number}" if chapter and item.path.stem == "test_course" else item.path.stem
        )
        item.add_marker(pytest.mark.xdist_group(together))


@pytest.fixture(scope="session")
def chromium():
    """Start the browser once for all tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=list(SWITCHES))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def artefacts():
    """Give the folder for screenshots, which git ignores; they are there to be looked at after a run."""
    folder = Path(__file__).resolve().parents[2] / "screenshots"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def open_page(chromium):
    """Give a function that opens a page of a size and a colour scheme, and notes what goes wrong on it.

    `page.outside` collects requests that leave this machine, `page.missing` answers of 400 and above,
    `page.crashes` errors of the page's own code.
    """
    contexts = []

    def open_one(width=1280, height=800, scheme="light"):
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        watch(page)
        return page

    yield open_one
    for context in contexts:
        context.close()


def watch(page):
    """Collect on a page what should never happen."""
    page.outside, page.missing, page.crashes = [], [], []
    home = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:", "file:", "about:")
    page.on("request", lambda request: request.url.startswith(home) or page.outside.append(request.url))
    page.on("websocket", lambda socket: socket.url.startswith(home) or page.outside.append(socket.url))
    page.on(
        "response", lambda answer: answer.status >= 400 and page.missing.append(f"{answer.status} {answer.url}")
    )
    page.on("pageerror", lambda error: page.crashes.append(str(error)))
