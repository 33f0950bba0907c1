"""The README tells the truth: its table is the list of chapters, and its links lead somewhere."""

import re
from pathlib import Path

import proof
import pytest

from attnlib.chapters import CHAPTERS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_lists_the_chapters():
    rows = re.findall(r"^\| \[(\d\d) (.+?)\]\(notebooks/(.+?)\) \| (.+?) \| (\d+) \|$", README, re.MULTILINE)
    assert [(number, title, file, question, int(minutes)) for number, title, file, question, minutes in rows] == [
        (c.number, c.title.replace("\n", " "), c.file, c.question, c.minutes) for c in CHAPTERS
    ]


def test_the_list_of_chapters_is_the_folder():
    assert [c.file for c in CHAPTERS] == sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "TEACHING.md"])
def test_links_lead_somewhere(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert "://" in target or (ROOT / target).exists(), target


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda c: c.file)
def test_each_chapter_tells_its_time(chapter):
    text = (ROOT / "notebooks" / chapter.file).read_text(encoding="utf-8")
    assert f"**Time:** about {chapter.minutes} minutes" in text


def test_the_counts_are_up_to_date():
    assert proof.in_readme() == proof.table(), "run make proof"


def test_every_figure_is_compared_by_its_numbers():
    silent = [
        f"{chapter.file}, cell {number}"
        for chapter in CHAPTERS
        for number, text in proof.figures(ROOT / "notebooks" / chapter.file)
        if not proof.has_numbers(text)
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("text", "found"),
    [("Bars. a 0.25", True), ("from 1 to 8", True), ("<Figure d_3>", False), ("a drawing", False), ("", False)],
)
def test_what_counts_as_numbers(text, found):
    assert proof.has_numbers(text) == found
