"""The teacher's book fits the notebooks and the exercises, and its plans fit the time."""

import json
import re

import pytest

from attnlib import desk, teaching
from attnlib.cells import in_sections, source_of
from attnlib.chapters import CHAPTERS
from attnlib.exercises import all_exercises, by_chapter, check
from attnlib.exercises.kinds import FunctionExercise, NumberExercise

BOOK = (desk.course_root() / teaching.BOOK).read_text(encoding="utf-8")
PAGES = dict(re.findall(r"^## (\d\d) (.*?)(?=^## |\Z)", BOOK, re.MULTILINE | re.DOTALL))
ROW = re.compile(r"^\| (.+?) \| (\d+)–(\d+) \| (.+) \|$", re.MULTILINE)
PART = re.compile(r"(\d\d) \((\d+)(?:–(\d+))?\)")

each_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda c: c.number)


def headings(chapter):
    text = json.loads((desk.course_root() / "notebooks" / chapter.file).read_text(encoding="utf-8"))
    sources = [source_of(cell) for cell in text["cells"] if cell["cell_type"] == "markdown"]
    return re.findall(r"^## (.+)$", "\n".join(sources), re.MULTILINE)


def minutes(page):
    return {name: (int(low), int(high)) for name, low, high, _ in ROW.findall(page)}


def test_there_is_a_page_for_each_chapter_in_order():
    titles = [(number, page.split("\n")[0]) for number, page in PAGES.items()]
    assert titles == [(c.number, " ".join(c.title.split())) for c in CHAPTERS]


@each_chapter
def test_the_table_has_a_row_for_each_section_and_no_other(chapter):
    page = PAGES[chapter.number]
    assert "### Section by section\n\n| section | minutes | for the teacher |\n| --- | --- | --- |\n" in page
    assert list(minutes(page)) == headings(chapter)
    for _, low, high, advice in ROW.findall(page):
        assert 0 < int(low) <= int(high)
        assert 20 <= len(advice) <= 200  # to be read at a glance


@each_chapter
def test_the_minutes_fit_the_chapter_and_the_session(chapter):
    page = PAGES[chapter.number]
    low, high = map(sum, zip(*minutes(page).values(), strict=True))
    assert low <= chapter.minutes <= high
    session = int(re.search(r"^\*\*Session:\*\* (60|90) minutes", page, re.MULTILINE)[1])
    assert high + 5 <= session  # two minutes to open, three to close
    assert session == 60 or high + 5 > 60


@each_chapter
def test_every_page_has_its_parts_and_is_short(chapter):
    page = PAGES[chapter.number]
    parts = ("**Goal:**", "**Session:**", "**Opening, two minutes.**", "### Section by section", "**If late:**")
    parts += ("**Stop early**", "**On the board.**", "```\n", "**Questions, and the wrong answers to expect**")
    parts += ("**Answers:**", "**Closing question.**")
    places = [page.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert len(page.split()) < 1100


@each_chapter
def test_each_exercise_is_used_in_a_section_and_its_likely_mistakes_are_met(chapter):
    page = PAGES[chapter.number]
    advice = " ".join(text for _, _, _, text in ROW.findall(page))
    for name in by_chapter()[chapter.number]:
        mistakes = list(all_exercises()[name].mistakes)
        met = [mistake for mistake in mistakes if teaching.words(name, mistake)]
        assert mistakes[0] in met or len(met) > 2, name
        assert len(met) >= min(2, len(mistakes)), name
        assert f"`{name}`" in advice or chapter.number == "00", name


@each_chapter
def test_the_explorers_are_named_where_they_stand(chapter):
    text = json.loads((desk.course_root() / "notebooks" / chapter.file).read_text(encoding="utf-8"))
    there = {str(section) for section, cell in in_sections(text) if "explorers." in source_of(cell)}
    rows = ROW.findall(PAGES[chapter.number])
    assert {name.split(".")[0] for name, _, _, advice in rows if "explorer" in advice} == there


def test_every_mistake_of_the_book_is_known_and_has_one_saying():
    found = [
        (exercise, mistake, say)
        for exercise, mistakes, say in teaching.ROW.findall(BOOK)
        for mistake in re.findall(r"`([^`]+)`", mistakes)
    ]
    assert len(found) == len(teaching.sayings()) > 150
    for exercise, mistake, say in found:
        assert mistake in all_exercises()[exercise].mistakes, (exercise, mistake)
        assert PAGES[exercise[:2]].count(say) == 1, say
    assert {exercise for exercise, _, _ in found} == set(all_exercises())


def test_the_ids_of_the_book_exist():
    assert set(re.findall(r"`(\d\d-[a-z][a-z-]*)`", BOOK)) == set(all_exercises())


@each_chapter
def test_the_answers_are_right(chapter):
    line = re.search(r"^\*\*Answers:\*\* ?(.*)$", PAGES[chapter.number], re.MULTILINE)[1]
    given = dict(re.findall(r"`(\d\d-[\w-]+)` ([^·]+?)(?: ·|$)", line))
    exercises = [all_exercises()[name] for name in by_chapter()[chapter.number]]
    assert set(given) == {e.id for e in exercises if not isinstance(e, FunctionExercise)}
    for name, value in given.items():
        number = isinstance(all_exercises()[name], NumberExercise)
        assert check(name, float(value) if number else value).kind == "solved", name


@pytest.mark.parametrize("plan", ["Six weeks of 90 minutes", "One day"])
def test_the_plans_fit_the_time(plan):
    text = BOOK.split(f"### {plan}\n")[1].split("\n#")[0]
    rows = [line.split(" | ")[1] for line in text.splitlines() if PART.search(line)]
    assert len(rows) == {"Six weeks of 90 minutes": 6, "One day": 4}[plan]
    seen = []
    for row in rows:
        total = 0.0
        for number, first, last in PART.findall(row):
            spans = {name.split(".")[0]: span for name, span in minutes(PAGES[number]).items()}
            sections = range(int(first), int(last or first) + 1)
            total += sum(sum(spans[str(section)]) for section in sections) / 2
            seen += [(number, section) for section in sections]
        assert 45 <= total <= 85, row
    assert seen == sorted(set(seen))


def test_the_book_names_commands_that_exist(capsys):
    import attnlib.__main__ as program

    named = set(re.findall(r"python -m attnlib (\w+)", BOOK))
    assert {"live", "status", "group"} <= named <= {command.name for command in program.COMMANDS}


def test_no_timing_or_saying_is_in_a_notebook():
    for chapter in CHAPTERS:
        text = (desk.course_root() / "notebooks" / chapter.file).read_text(encoding="utf-8")
        assert not [say for say in teaching.sayings().values() if say in text]


def test_prose_keeps_the_house_style():
    from notebook_linter import EMOJI, FILLER

    assert not FILLER.findall(BOOK)
    assert not EMOJI.findall(BOOK)
    assert max(map(len, (line for line in BOOK.splitlines() if not line.startswith("|")))) <= 125
