"""Slides and handouts: what is shown, what is left to the speaker, and pages that need nothing else."""

import base64
import html
import io
import json
import re
import struct

import handout
import pages
import pytest
import slides
from fontTools.ttLib import TTFont

from attnlib.chapters import CHAPTERS
from attnlib.exercises import all_exercises, find
from attnlib.exercises.messages import text_of

SOFTMAX = next(chapter for chapter in CHAPTERS if chapter.number == "05")
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 800, 600)).decode()


def text(source, tag="slide"):
    return {"id": "t", "kind": "markdown", "tag": tag, "source": source, "outputs": []}


def code(source, tag="fragment", said="", png=""):
    outputs = [{"output_type": "stream", "name": "stdout", "text": said}] if said else []
    if png:
        data = {"image/png": png, "text/plain": "Bars. a < b"}
        outputs.append({"output_type": "execute_result", "data": data})
    return {"id": "c", "kind": "code", "tag": tag, "source": source, "outputs": outputs}


TITLE = text("# 05 Softmax\n\n**The question of this chapter:** how?\n\n- one goal\n\n**Time:** long.")


def deck(*cells, plan=None):
    return slides.deck(SOFTMAX, [TITLE, *cells], plan)


def shown(slide):
    return re.sub(r"<[^>]*>", "", " ".join(block.html for block in slide.blocks))


def told(slide):
    return re.sub(r"<[^>]*>", "", " ".join(slide.notes))


@pytest.fixture(scope="module")
def built():
    """All decks, as they are built without a plan."""
    return slides.build(plan=pages.ROOT / "no such file")


@pytest.fixture(scope="module")
def sheets():
    return handout.build()


# --- the cutting rule ------------------------------------------------------------------------------------------


def test_the_title_shows_the_question_and_the_goals_have_a_slide():
    title, goals = deck()
    assert (title.kind, shown(title)) == ("title", "The question of this chapter: how?")
    assert "one goal" in shown(goals)
    assert "Time" not in shown(title) + shown(goals)


def test_each_heading_begins_a_slide():
    source = "## 1. One\n\nFirst.\n\n## 2. Two\n\nSecond.\n\n### Exercise 5.1: do it\n\nAll. Of it."
    *_, one, two, exercise = deck(text(source))
    assert [one.title, two.title, exercise.title] == ["1. One", "2. Two", "Exercise 5.1: do it"]
    assert [one.section, two.section, exercise.section] == ["1. One", "2. Two", "2. Two"]
    assert (exercise.kind, shown(exercise)) == ("exercise", "All. Of it.")


def test_first_sentences_bold_words_formulas_and_lists_are_shown_and_the_rest_is_told():
    long = "The first sentence. " + "This one is a long sentence that says a good deal more. " * 5
    rest = "Plain words.\n\nWith **bold** words.\n\n$$x = 1$$\n\n- item"
    slide = deck(text(f"## 1. One\n\n{long.strip()}\n\n{rest}"))[-1]
    assert "The first sentence." in shown(slide)
    assert len(shown(slide)) < len(long)
    assert all(part in shown(slide) for part in ("With bold words.", "item", "x=1"))
    assert "Plain words." not in shown(slide)
    assert "Plain words." in told(slide)


def test_a_text_before_a_heading_closes_the_slide_before():
    after = text("So it is. **Note** it.\n\nPlain.\n\n## 2. Two\n\nB.")
    *_, one, two = deck(text("## 1. One\n\nA."), code("1", said="1"), after)
    assert (one.title, two.title) == ("1. One", "2. Two")
    assert one.blocks[-1].step
    assert "Note it." in shown(one)
    assert "Plain." in told(one)


def test_what_has_no_tag_is_not_shown(tmp_path):
    raw = {"cells": [{"id": "a", "cell_type": "markdown", "metadata": {}, "source": ["## 9. Never"]}]}
    (tmp_path / "x.ipynb").write_text(json.dumps(raw))
    (cell,) = pages.read(tmp_path / "x.ipynb")
    assert cell["tag"] == "skip"
    assert len(deck(cell)) == len(deck())


def test_an_output_is_a_step_and_stays_with_its_question():
    slide = deck(text("## 1. One\n\n**Predict:** how many?"), code("print(2)", said="2\n"))[-1]
    question, asked, answer = slide.blocks
    assert 'class="predict"' in question.html
    assert not question.step
    assert not asked.step
    assert answer.step
    assert asked.joined
    assert answer.joined


def test_a_picture_is_shown_without_its_code_and_says_what_it_shows():
    slide = deck(text("## 1. One\n\n**Predict:** which?"), code("pictures.bars()", png=PNG))[-1]
    assert "pictures.bars" not in shown(slide)
    assert 'alt="Bars. a &lt; b"' in slide.blocks[-1].html
    assert slide.blocks[-1].step
    assert slide.blocks[-1].beside


def test_long_code_is_left_out_but_not_what_it_prints():
    slide = deck(text("## 1. One"), code("\n".join(f"x{i} = {i}" for i in range(20)), said="the end"))[-1]
    assert shown(slide).strip() == "the end"


def test_a_full_slide_goes_on_and_an_answer_never_stands_alone():
    cells = [text("## 1. One\n\nA.")]
    for number in range(6):
        cells += [text(f"**Predict:** {number}?", "fragment"), code("print(1)\n" * 4, said=f"answer {number}")]
    parts = [slide for slide in deck(*cells) if slide.section]
    assert len(parts) > 1
    assert all(part.title == "1. One" and part.more for part in parts[1:])
    for part in parts:
        assert len(re.findall(r"\d\?", shown(part))) == shown(part).count("answer")


def test_cells_for_the_learner_alone_are_cleaned(tmp_path):
    source = '# from attnlib import catch_up; catch_up("05", 4)\n# nbval-ignore-output: because of this\nx = 1'
    raw = {"cells": [{"id": "a", "cell_type": "code", "metadata": {}, "source": source, "outputs": []}]}
    (tmp_path / "x.ipynb").write_text(json.dumps(raw))
    assert pages.read(tmp_path / "x.ipynb")[0]["source"] == "x = 1"


def test_a_stub_is_shown_without_its_check_and_only_if_there_is_something_to_see():
    assert pages.stub(code('my_number = ...\n\ncheck("05-by-hand", my_number)')) == ""
    assert pages.stub(code('def f(x):\n    ...\n\n\ncheck("05-softmax-rows", f)')) == "def f(x):\n    ..."


# --- the speaker's notes ---------------------------------------------------------------------------------------

PLAN = """# Teaching

## 05 Softmax

**Goal:** three scores.

### Section by section

| section | minutes | for the teacher |
| --- | --- | --- |
| 1. The `exp` | 2–3 | Say it *slowly*. |

| exercise | wrong |
| --- | --- |
| other | table |
"""


def test_a_sections_row_is_told_on_its_first_slide(tmp_path):
    (tmp_path / "TEACHING.md").write_text(PLAN, encoding="utf-8")
    plan = slides.plans(tmp_path / "TEACHING.md")
    assert set(plan) == {"05"}
    made = deck(text("## 1. The `exp`\n\nA."), text("More.", "subslide"), plan=plan["05"])
    assert "three scores" in told(made[0])
    assert told(made[2]) == "2–3 minutes. Say it slowly."
    assert made[2].notes[0].count("<em>slowly</em>") == 1
    assert told(made[3]) == ""
    assert "slowly" not in "".join(map(shown, made))


def test_a_missing_row_is_named(tmp_path):
    (tmp_path / "TEACHING.md").write_text(PLAN, encoding="utf-8")
    plan = slides.plans(tmp_path / "TEACHING.md")["05"]
    with pytest.raises(pages.PageError, match=r"chapter 05 has no row for the section '2\. Lost'"):
        deck(text("## 1. The `exp`\n\nA.\n\n## 2. Lost\n\nB."), plan=plan)
    with pytest.raises(pages.PageError, match="no table 'Section by section' for chapter 04"):
        slides.build(["04"], plan=tmp_path / "TEACHING.md")


def test_an_exercise_tells_the_speaker_its_named_mistakes_and_the_room_nothing(built):
    seen = set()
    for page in built.values():
        for section in re.findall(r"<section.*?</section>", page, re.S):
            front, _, notes = section.partition('<aside class="notes"')
            for exercise in re.findall(r"<h3>([\w-]+): wrong answers to expect", notes):
                seen.add(exercise)
                for name in find(exercise).mistakes:
                    sentence = html.escape(str(text_of(exercise, "mistakes", name)))
                    assert sentence in notes
                    assert sentence not in front
    assert seen == set(all_exercises())


def test_without_a_plan_one_sentence_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(slides, "PLAN", tmp_path / "TEACHING.md")
    monkeypatch.setattr(slides, "SLIDES", tmp_path / "slides")
    asked = []
    monkeypatch.setattr(slides, "build", lambda numbers: asked.append(numbers) or {"index.html": "page"})
    assert slides.main([]) == 0
    assert slides.main(["05"]) == 0
    assert asked == [[], ["05"]]
    said = capsys.readouterr().out
    assert "TEACHING.md is not here" in said
    assert (tmp_path / "slides" / "index.html").read_text() == "page"


# --- the pages -------------------------------------------------------------------------------------------------


def test_there_is_a_deck_and_a_handout_for_each_chapter_and_an_index(built, sheets):
    names = [chapter.file.replace(".ipynb", ".html") for chapter in CHAPTERS]
    assert [*names, "index.html"] == list(built)
    assert names == list(sheets)
    assert all(f'href="{name}"' in built["index.html"] for name in names)


def test_no_page_names_an_address_or_another_file(built, sheets):
    for name, page in [*built.items(), *sheets.items()]:
        bare = re.sub(r"base64,[A-Za-z0-9+/=]*", "", page)
        assert not pages.ADDRESS.search(bare), name
        assert set(re.findall(r"\b(?:src|href)=[\"']([^\"']*)", bare)) <= {
            "data:image/png;",
            "data:image/svg+xml;",
            *(c.file.replace(".ipynb", ".html") for c in CHAPTERS),
        }, name
        assert name.startswith("00") or "catch_up" not in page, name  # chapter 00 explains the line


@pytest.mark.parametrize("wrong", ["https://a.example.org/x", "//cdn.example.org", "ftp://a.example.org"])
def test_an_address_is_refused(wrong):
    with pytest.raises(pages.PageError, match="without a network"):
        pages.page("x", f"<p>{wrong}</p>", styles=())


def test_the_same_bytes_each_time(built, sheets):
    pages._font.cache_clear()
    name = "06-self-attention.html"
    assert slides.build(["06"], plan=pages.ROOT / "no such file")[name] == built[name]
    assert handout.build(["06"])[name] == sheets[name]


def fonts_of(page):
    """Give the characters of each font of a page: (family, weight) → set."""
    face = r'font-family: "([\w ]+)"; font-weight: (\d+); src: url\("data:font/woff;base64,([^"]+)"'
    found = re.findall(face, page)
    return {(f, int(w)): set(map(chr, TTFont(io.BytesIO(base64.b64decode(d))).getBestCmap())) for f, w, d in found}


def test_every_character_has_a_glyph_and_the_hangul_font_holds_no_more(built, sheets):
    for name, page in [*built.items(), *sheets.items()]:
        fonts = fonts_of(page)
        body = page[page.index("<body>") :]
        marks = r"<script>.*?</script>|data:[^\"]*|<math.*?</math>|<[^>]*>"
        said = set(html.unescape(re.sub(marks, "", body, flags=re.S)))
        hangul = fonts.get(("Course Hangul", 400), set())
        assert hangul == {c for c in said if pages.HANGUL.match(c)}, name
        missing = {c for c in said if c.isprintable()} - fonts["Course Sans", 400] - hangul
        assert missing == set(), name
        formulas = set(html.unescape(re.sub("<[^>]*>", "", "".join(re.findall(r"<math.*?</math>", body, re.S)))))
        assert {c for c in formulas if c.isprintable()} <= fonts.get(("Course Math", 400), set()) | {" "}, name


def test_formulas_are_mathml_that_browsers_set():
    marked = pages.formula(r"\underbrace{X}_{\text{this chapter}}", display=True)
    assert "marked munder" in marked
    assert "⏟" not in marked
    assert "xmlns" not in marked
    assert 'mathvariant="normal">d<' in pages.formula(r"\mathrm{d}Q", display=False)
    assert 'width="-0.167em"' in pages.formula(r"a\!b", display=False)
    assert 'form="prefix">−<' in pages.formula(r"(-1)", display=False).replace(">-<", ">−<")
    assert 'form="prefix"' not in pages.formula(r"a - 1", display=False)
    assert "padding-right" in pages.formula(r"\sin a", display=False)


@pytest.mark.parametrize("wrong", [r"\nosuchthing x", r"\left( x", r"\sqrt{\frac{1}{2}}"])
def test_a_formula_that_cannot_be_set_is_named(wrong):
    with pytest.raises(pages.PageError, match="the formula") as problem:
        pages.formula(wrong, display=True)
    assert repr(wrong) in str(problem.value)


def test_problems_are_told_in_a_sentence(capsys, tmp_path):
    assert slides.main(["77"]) == 1
    assert capsys.readouterr().err.startswith("There is no chapter '77': choose from 00, 01")
    assert handout.main(["77"]) == 1
    (tmp_path / "x.ipynb").write_text("{}")
    with pytest.raises(pages.PageError, match=r"x\.ipynb cannot be read as a notebook"):
        pages.read(tmp_path / "x.ipynb")
    tags = {"slideshow": {"slide_type": "big"}}
    raw = {"cells": [{"id": "a", "cell_type": "markdown", "metadata": tags, "source": []}]}
    (tmp_path / "x.ipynb").write_text(json.dumps(raw))
    with pytest.raises(pages.PageError, match=r"cell 1: the slide type is 'big'; choose one of slide"):
        pages.read(tmp_path / "x.ipynb")
    with pytest.raises(pages.PageError, match="must be the one with the title"):
        slides.deck(SOFTMAX, [text("## 1. One")], None)


# --- handouts --------------------------------------------------------------------------------------------------


def test_a_handout_has_every_exercise_with_room_and_no_answer(sheets):
    for chapter, cells in pages.chapters([]):
        page = sheets[chapter.file.replace(".ipynb", ".html")]
        work, _, keep = page.partition("<div class='keep'>")
        exercises = [pages.exercise_of(cell) for cell in cells if pages.exercise_of(cell)]
        predictions = sum(cell["source"].count("**Predict:**") for cell in cells if cell["kind"] == "markdown")
        assert work.count('class="lines"') == len(exercises) + predictions
        assert keep.count("<math") + keep.count("<img") > 0
        assert "Say it to your study group" in keep
        for exercise in exercises:
            for line in find(exercise).answer().splitlines()[2:]:
                assert len(line) < 12 or html.escape(line.strip()) not in page, exercise


def test_a_handout_has_a_picture_but_none_that_comes_after_a_question(sheets):
    assert all("<img" in page for page in sheets.values())
    question = text("## 1. One\n\n**Predict:** how many?")
    after = {**code("x"), "outputs": [{"data": {"image/png": "AAAA", "text/plain": "a picture of the answer"}}]}
    page = handout.sheet(SOFTMAX, [text("# 05 Softmax"), question, after, text("## Recap\n\n1. Say it.")])
    assert "a picture of the answer" not in page
    assert "The way of the data" in page


def test_a_handout_does_not_print_what_a_prediction_asks_for():
    cells = [
        TITLE,
        text("## 1. One\n\nContext.\n\n**Predict:** how many?"),
        code("print(42)", said="42"),
        text("It was 42.\n\n**Predict:** and now?"),
        text("## Recap\n\n1. Said."),
    ]
    page = handout.sheet(SOFTMAX, cells)
    assert "Context." in page
    assert "42" not in re.sub(r"<style>.*?</style>|base64,[\w+/=]*", "", page, flags=re.S)
