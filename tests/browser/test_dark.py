"""Every chapter in JupyterLab's dark theme: opened, looked at, and kept as pictures."""

import json

import lab as labs
import pytest

from attnlib.chapters import CHAPTERS


@pytest.fixture(scope="module")
def lab(tmp_path_factory, chromium):
    """Start a Lab and switch it to its dark theme, as its settings do."""
    with labs.running(tmp_path_factory.mktemp("dark")) as started:
        context = chromium.new_context()
        answer = context.request.put(
            started.address("/lab/api/settings/@jupyterlab/apputils-extension:themes"),
            data={"raw": json.dumps({"theme": "JupyterLab Dark"})},
        )
        assert answer.ok, answer.text()
        context.close()
        yield started


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.file)
def test_the_page_in_the_dark_theme(lab, open_page, artefacts, chapter):
    page = open_page(1920, 1080, "dark")
    labs.Notebook(page, lab, chapter.file)
    page.wait_for_selector('body[data-jp-theme-light="false"]', state="attached")
    page.wait_for_function(labs.ALL_IMAGES_LOADED)
    assert page.evaluate(labs.BROKEN_IMAGES) == []
    page.locator(".jp-Notebook .jp-OutputArea img").first.scroll_into_view_if_needed()
    for width, height in labs.SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.screenshot(path=artefacts / f"{chapter.file[:2]}-dark-{width}.png")
    assert (page.outside, page.missing, page.crashes) == ([], [], [])
