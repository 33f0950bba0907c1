"""The course in JupyterLab, in a real browser, as a learner meets it."""

import json
import re

import lab as labs
import pytest
from conftest import watch

from attnlib import explorers, minilm
from attnlib.chapters import CHAPTERS

MATH = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
OUTPUT_OF_ERROR = '.jp-OutputArea-output:is([data-mime-type$=".stderr"], [data-mime-type$=".error"])'
RAW_DOLLARS = """() => [...document.querySelectorAll('.jp-Notebook .jp-RenderedMarkdown')].map(text => {
    const copy = text.cloneNode(true);
    copy.querySelectorAll('code, mjx-container').forEach(part => part.remove());
    return copy.textContent;
}).filter(text => text.includes('$'))"""

# For each explorer, what a hand does (a key, a click, a choice, a text) and the settings it leads to.
MOVES = {
    "positions": [("press", 0, "ArrowRight", {"p": 6}), ("drag_to_end", 1, {"r": 40})],
    "soft_lookup": [("press", 0, "ArrowLeft", {"stretch": 0.5}), ("drag_to_end", 0, {"stretch": 100})],
    "two_vectors": [("press", 0, "ArrowRight", {"angle": 60}), ("drag_to_end", 0, {"angle": 180})],
    "spread": [("press", 0, "ArrowRight", {"d_k": 128}), ("drag_to_end", 0, {"d_k": 1024})],
    "temperature": [("press", 0, "ArrowLeft", {"T": 0.5}), ("drag_to_end", 3, {"c": 3.0})],
    "steps": [("press", 0, "ArrowRight", {"step": 1}), ("choose", 0, "poem", {"token": "poem"})],
    "heads": [("choose", 1, "head 2: whom?", {"head": "head 2: whom?"})],
    "masks": [("press", 0, "ArrowLeft", {"real": 3}), ("tick", {"causal": True}), ("cell", {})],
    "training": [("press", 0, "ArrowRight", {"step": 1}), ("drag_to_end", 0, {"step": 100})],
    "window": [("press", 1, "ArrowRight", {"layers": 2}), ("drag_to_end", 0, {"width": 8})],
    "real_model": [
        ("press", 1, "ArrowRight", {"head": 2}),
        ("fill", 0, "the cat sat because it was tired", {"text": "the cat sat because it was tired"}),
    ],
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with labs.running(tmp_path_factory.mktemp("lab")) as started:
        yield started


@pytest.fixture(scope="module", params=CHAPTERS, ids=lambda chapter: chapter.file)
def chapter(request, chromium, lab):
    """Open a chapter, run all its cells, and leave it open for the tests that look at it."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    watch(page)
    notebook = labs.Notebook(page, lab, request.param.file)
    notebook.run_all()
    yield notebook
    notebook.save()
    context.close()
    lab.looked_at.discard(notebook.file)


def cells_of(notebook):
    return json.loads((notebook.lab.desk / "notebooks" / notebook.file).read_text(encoding="utf-8"))["cells"]


def test_the_course_opens_where_it_should(lab, open_page):
    page = open_page()
    page.goto(lab.address(lab.start))
    page.wait_for_selector('.jp-RenderedMarkdown h1:has-text("00 Start here")')
    assert (page.outside, page.missing, page.crashes) == ([], [], [])


def test_no_cell_stops_with_an_error(chapter):
    assert chapter.page.locator(OUTPUT_OF_ERROR).all_inner_texts() == []


def test_every_formula_is_set(chapter):
    texts = ["".join(cell["source"]) for cell in cells_of(chapter) if cell["cell_type"] == "markdown"]
    formulas = sum(len(MATH.findall(CODE.sub("", text))) for text in texts)
    chapter.page.wait_for_function(
        "count => document.querySelectorAll('.jp-Notebook mjx-container').length >= count", arg=formulas
    )
    assert chapter.page.locator(".jp-Notebook mjx-container").count() == formulas
    assert chapter.page.locator(".jp-Notebook mjx-merror").count() == 0
    assert chapter.page.evaluate(RAW_DOLLARS) == []


def test_every_image_is_shown(chapter):
    chapter.page.wait_for_function(labs.ALL_IMAGES_LOADED)
    assert chapter.page.evaluate(labs.BROKEN_IMAGES) == []
    shown = sum(
        "image/png" in output.get("data", {}) for cell in cells_of(chapter) for output in cell.get("outputs", [])
    )
    assert chapter.page.locator(".jp-Notebook .jp-OutputArea img").count() == shown


def test_nothing_is_missing_and_nothing_is_asked_of_the_network(chapter):
    assert (chapter.page.outside, chapter.page.missing, chapter.page.crashes) == ([], [], [])


def test_the_explorer_moves_by_keyboard_and_mouse(chapter, artefacts):
    number = chapter.file[:2]
    maker = next((one for one in explorers.ALL if one.__module__.endswith(f"chapter{number}")), None)
    if maker is None:
        assert chapter.page.locator(labs.EXPLORER).count() == 0
        return
    known = maker(minilm.load()) if maker is explorers.real_model else maker()
    explored = labs.Explored(chapter.page)
    explored.wait_for(known.sentence)  # sensible at once, before anybody moves anything
    assert explored.cut_off() == []
    explored.wait_for_picture(known.view(**known.start).picture.frame())
    now = dict(known.start)
    for action, *arguments, change in MOVES[maker.__name__]:
        now.update(change)
        if action == "tick":
            explored.box.locator("input[type=checkbox]").focus()
            chapter.page.keyboard.press("Space")
        elif action == "cell":
            explored.box.locator("button", has_text="allowed").first.click()
            now["cells"] = ((False, True, True, True), *now["cells"][1:])
        else:
            getattr(explored, action)(*arguments)
        expected = known.view(**now)
        explored.wait_for(expected.sentence)
        explored.wait_for_picture(expected.picture.frame())
    explored.box.screenshot(path=artefacts / f"explorer-{number}-{maker.__name__}.png")


@pytest.mark.parametrize("size", labs.SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_page_in_the_light_theme(chapter, artefacts, size):
    page = chapter.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.locator(".jp-Notebook .jp-MarkdownCell").first.scroll_into_view_if_needed()
    page.screenshot(path=artefacts / f"{chapter.file[:2]}-light-{size[0]}.png")
    page.set_viewport_size({"width": 1280, "height": 800})


def test_a_wrong_answer_is_named_and_a_right_one_is_kept(lab, open_page):
    notebook = labs.Notebook(open_page(), lab, "05-softmax.ipynb")
    notebook.run_all()
    stub = 'check("05-softmax-rows"'
    wrong = (
        "def softmax_rows(scores):\n    e = np.exp(scores - scores.max(axis=0))\n"
        '    return e / e.sum(axis=0)\n\n\ncheck("05-softmax-rows", softmax_rows)'
    )
    assert "Your columns sum to 1: you normalised over the queries" in notebook.write(stub, wrong)
    assert solved(lab) == set()
    right = wrong.replace("axis=0", "axis=-1, keepdims=True")
    assert "Right. This function turns any matrix of scores into weights" in notebook.write(stub, right)
    assert solved(lab) == {"05-softmax-rows"}
    notebook.restart()
    said = notebook.write("import numpy as np", "import attnlib\n\nattnlib.progress()")
    assert re.search(r"05 Softmax\s+\[#-+\] 1 of \d", said)


def solved(lab):
    """Give what the progress file of the desk calls solved."""
    exercises = json.loads((lab.desk / "progress.json").read_text(encoding="utf-8"))["exercises"]
    return {name for name, entry in exercises.items() if entry["solved"]}
