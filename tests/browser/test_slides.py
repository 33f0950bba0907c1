"""Every slide of every deck in a real browser: nothing overflows, every formula is set, the keys work."""

import re

import handout
import pages
import pytest
import slides

from attnlib.decks import begin_large

PLAN = pages.ROOT / "TEACHING.md"
WIDTH, HEIGHT = 1280, 720
SMALLEST = 16  # pixels of the smallest type in a slide's body

# What is wrong on the slide that shows: boxes beyond the stage, hidden parts, small type, raw marks.
LOOK = """() => {
  const slide = document.querySelector(".slide.now"), stage = slide.getBoundingClientRect(), wrong = [];
  const foot = slide.querySelector("footer").getBoundingClientRect();
  const inside = (box) => box.left >= stage.left && box.right <= stage.right - 20 && box.top >= stage.top;
  for (const part of slide.querySelectorAll("h1, h2, .body, .body *")) {
    const box = part.getBoundingClientRect(), name = `${part.tagName} ${part.textContent.slice(0, 30)}`;
    if (!inside(box)) wrong.push(`${name} leaves the slide`);
    if (!part.closest("math") && box.bottom > foot.top + 4) wrong.push(`${name} runs into the footer`);
    if (getComputedStyle(part).visibility !== "visible") wrong.push(`${name} is not shown`);
    if (part.tagName === "IMG" && !(part.complete && part.naturalWidth)) wrong.push("an image is not loaded");
    if (part.tagName === "IMG" && part.height < 250) wrong.push(`an image is only ${part.height} pixels tall`);
    if (part.tagName === "math" && !(box.width > 4 && box.height > 4)) wrong.push(`${name} is not set`);
    const type = parseFloat(getComputedStyle(part).fontSize);
    if (!part.closest("math") && type < SMALLEST) wrong.push(`${name} is small`);
  }
  for (const box of slide.querySelectorAll(".body, .column, .block, pre, pre > code")) {
    if (box.scrollWidth > box.clientWidth + 1) wrong.push(`${box.textContent.slice(0, 30)} is too wide`);
  }
  const words = [...slide.querySelectorAll("h1, h2, p, li, td, th")].filter((part) => !part.closest(".notes"));
  for (const part of words) {
    const copy = part.cloneNode(true);
    copy.querySelectorAll("code").forEach((code) => code.remove());
    if (/[$\\\\]/.test(copy.textContent)) wrong.push(`raw marks: ${copy.textContent.slice(0, 40)}`);
  }
  if (!slide.querySelector(".body").textContent.trim() && !slide.querySelector("img")) wrong.push("nothing on it");
  return wrong;
}""".replace("SMALLEST", str(SMALLEST))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Build everything once, with the real plan if it is there."""
    place = tmp_path_factory.mktemp("pages")
    for name, made in (("slides", slides.build(plan=PLAN)), ("handout", handout.build())):
        (place / name).mkdir()
        for file, content in made.items():
            (place / name / file).write_text(content, encoding="utf-8")
    return place


def opened(open_page, path, width=WIDTH, height=HEIGHT):
    page = open_page(width, height)
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready]")
    return page


def decks():
    return [chapter.file.replace(".ipynb", ".html") for chapter, _ in pages.chapters([])]


TYPE = """() => slides.map((slide) => [slide.dataset.of, parseFloat(getComputedStyle(slide).fontSize)])"""


@pytest.mark.parametrize("deck", decks())
def test_a_room_sees_larger_type_on_more_slides(deck, folder, open_page, artefacts):
    page = opened(open_page, folder / "slides" / deck)
    middle = page.evaluate("slides.length >> 1")
    page.evaluate(f"show({middle}, 0)")
    usual = dict(page.evaluate(TYPE))
    page.keyboard.press("p")
    assert page.evaluate("slides[now].dataset.of") == str(middle)
    large = page.evaluate(TYPE)
    assert [of for of, _ in large] == sorted((of for of, _ in large), key=int)
    assert {of for of, _ in large} == set(usual)
    parted = page.evaluate("slides.filter((slide) => slide.matches('.exercise')).map((slide) => slide.dataset.of)")
    assert len(parted) == len(set(parted))  # an exercise stays whole
    gains = sorted(size / usual[of] for of, size in large)
    assert gains[0] >= 0.9  # a slide that cannot be parted, with a title that is larger, too
    assert gains[1] >= 0.96
    assert gains[len(gains) // 2] >= 1.2
    assert look_at_all(page, artefacts, f"{deck[:2]}-room") == {}
    words = "slides.map((slide) => slide.querySelector('.body').textContent).join('').replace(/\\s/g, '')"
    spoken = page.evaluate(words)
    page.keyboard.press("p")
    assert dict(page.evaluate(TYPE)) == usual
    assert page.evaluate(words) == spoken


def test_a_deck_for_a_projector_begins_in_large_type(tmp_path, open_page, artefacts):
    (deck,) = slides.build(["05"], plan=PLAN).values()
    (tmp_path / "05.html").write_text(deck, encoding="utf-8")
    assert begin_large(tmp_path, True) == 1
    page = opened(open_page, tmp_path / "05.html")
    assert page.evaluate("slides.length > usual.length")
    assert page.evaluate("parseFloat(getComputedStyle(slides[1]).fontSize)") > 38
    page.evaluate("show(7, 99)")
    page.screenshot(path=artefacts / "slides-projector.png")
    page.keyboard.press("p")
    assert page.evaluate("slides.length === usual.length")
    assert (page.outside, page.crashes) == ([], [])


@pytest.mark.parametrize("deck", decks())
def test_every_slide_fits(deck, folder, open_page, artefacts):
    page = opened(open_page, folder / "slides" / deck)
    assert look_at_all(page, artefacts, deck[:2]) == {}
    assert page.evaluate("document.querySelectorAll('main math').length") > 0
    assert (page.outside, page.missing, page.crashes) == ([], [], [])


def look_at_all(page, artefacts, name):
    """Go through a deck by key, and give what is wrong: the slide's number → sentences."""
    total = page.evaluate("slides.length")
    assert total > 5
    wrong = {}
    for number in range(1, total + 1):
        steps = page.evaluate(f"(show({number - 1}, 0), stepsOf(slides[now]).length)")
        for _ in range(steps):
            page.keyboard.press("ArrowRight")
        assert page.evaluate("now") == number - 1
        if found := page.evaluate(LOOK):
            wrong[number] = found
            page.screenshot(path=artefacts / f"{name}-{number:02}.png")
    return wrong


def test_a_slide_that_is_too_full_would_be_noticed(folder, open_page):
    page = opened(open_page, folder / "slides" / decks()[5])
    page.evaluate("show(2, 99)")
    assert page.evaluate(LOOK) == []
    page.evaluate("document.querySelector('.now .body').insertAdjacentHTML('beforeend', '<p>$x$</p>'.repeat(40))")
    found = " ".join(page.evaluate(LOOK))
    assert "footer" in found
    assert "raw marks" in found


def test_keys_go_on_step_by_step_and_back(folder, open_page):
    page = opened(open_page, folder / "slides" / decks()[5])
    first = page.evaluate("slides.findIndex((slide) => stepsOf(slide).length)")
    page.evaluate(f"show({first}, 0)")
    hidden = page.locator(".now [data-step]").first
    assert hidden.evaluate("part => getComputedStyle(part).visibility") == "hidden"
    page.keyboard.press("Space")
    assert hidden.evaluate("part => getComputedStyle(part).visibility") == "visible"
    assert page.url.endswith(f"#{first + 1}.1")
    page.keyboard.press("PageUp")
    assert page.url.endswith(f"#{first + 1}")
    page.keyboard.press("End")
    last = page.evaluate("now")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("now") == last == page.evaluate("slides.length") - 1
    page.keyboard.press("Home")
    page.keyboard.press("o")
    page.locator("#list a").nth(4).click()
    page.wait_for_function("now === 4")
    assert page.evaluate("document.activeElement.id") == "s5"  # so that a screen reader reads the new slide
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.evaluate("now") == 4


def test_the_speakers_window_has_notes_the_next_slide_and_a_clock(folder, open_page, artefacts):
    page = opened(open_page, folder / "slides" / decks()[5])
    exercise = page.evaluate("slides.findIndex((slide) => slide.matches('.exercise'))")
    page.evaluate(f"show({exercise - 1}, 99)")
    with page.expect_popup() as opening:
        page.keyboard.press("n")
    window = opening.value
    window.wait_for_selector("#clock")
    assert "Exercise" in window.locator(".preview h2").inner_text()
    window.keyboard.press("ArrowRight")  # keys work in both windows
    assert page.evaluate("now") == exercise
    notes = window.locator("#notes").inner_text()
    assert "wrong answers to expect" in notes
    assert "wrong answers to expect" not in page.locator(".slide.now").inner_text()
    assert re.fullmatch(r"\d\d:\d\d", window.locator("#clock").inner_text())
    assert re.fullmatch(r"\d\d:\d\d gone", window.locator("#since").inner_text())
    assert f"slide {exercise + 1} of" in window.locator("#where").inner_text()
    window.screenshot(path=artefacts / "slides-notes.png")
    page.keyboard.press("End")
    assert "last slide" in window.locator("#next").inner_text()
    assert (page.outside, page.crashes) == ([], [])


def test_slides_fill_windows_of_other_shapes(folder, open_page):
    for width, height in ((1920, 1080), (1024, 768), (800, 900)):
        page = opened(open_page, folder / "slides" / decks()[1], width, height)
        box = page.locator(".slide.now").bounding_box()
        assert box["width"] <= width + 1
        assert box["height"] <= height + 1
        assert min(width - box["width"], height - box["height"]) < 1


def test_the_index_leads_to_every_deck(folder, open_page, artefacts):
    page = open_page(WIDTH, HEIGHT)
    page.goto((folder / "slides" / "index.html").as_uri())
    assert page.locator("a").count() == len(decks())
    page.screenshot(path=artefacts / "slides-index.png")
    page.locator("a").nth(3).click()
    page.wait_for_selector("body[data-ready]")
    assert "03" in page.title()


def test_printed_slides_have_a_page_each_with_all_steps_and_no_notes(folder, open_page, tmp_path):
    page = opened(open_page, folder / "slides" / decks()[4])
    content = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", content)) == page.evaluate("slides.length")
    page.emulate_media(media="print")
    assert page.locator("[data-step]:visible").count() == page.locator("[data-step]").count()
    assert page.locator(".notes:visible").count() == 0


@pytest.mark.parametrize("sheet", decks())
def test_a_handout_prints_on_few_pages_and_nothing_is_cut(sheet, folder, open_page):
    page = open_page(665, 1000)  # an A4 page without its margins
    page.goto((folder / "handout" / sheet).as_uri())
    page.emulate_media(media="print")
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0
    assert page.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")
    boxes = "[...document.querySelectorAll('pre, .item')]"
    assert page.evaluate(f"{boxes}.filter((box) => box.scrollWidth > box.clientWidth + 1).length") == 0
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) <= 9
    assert (page.outside, page.missing, page.crashes) == ([], [], [])
