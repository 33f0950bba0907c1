"""A live copy waits to be typed: nothing of the learner's is touched, and it opens and runs like any notebook."""

import ast
import json
import re

import nbformat
import pytest

from attnlib import catching_up, desk, live
from attnlib.cells import answers, in_sections, source_of
from attnlib.chapters import CHAPTERS

COURSE = desk.course_root()


def pairs(chapter):
    """Give the code cells of a chapter beside those of its live copy, each with its section."""
    whole = (COURSE / "notebooks" / chapter.file).read_bytes()
    before, after = json.loads(whole), json.loads(live.emptied(whole))
    return [
        (section, one, two)
        for (section, one), (_, two) in zip(in_sections(before), in_sections(after), strict=True)
        if one["cell_type"] == "code"
    ]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda c: c.number)
def test_a_live_copy_is_a_notebook_like_its_chapter(chapter):
    whole = (COURSE / "notebooks" / chapter.file).read_bytes()
    before, after = json.loads(whole), json.loads(live.emptied(whole))
    nbformat.validate(after)
    assert after["metadata"] == before["metadata"]
    assert [cell["id"] for cell in after["cells"]] == [cell["id"] for cell in before["cells"]]
    for one, two in zip(before["cells"], after["cells"], strict=True):
        if one["cell_type"] == "markdown":
            assert two == one
        else:
            assert (two["outputs"], two["execution_count"]) == ([], None)


@pytest.mark.parametrize("chapter", CHAPTERS[1:], ids=lambda c: c.number)
def test_code_is_emptied_to_comments_and_first_names(chapter):
    typed = 0
    for section, one, two in pairs(chapter):
        before, after = source_of(one), source_of(two)
        if section == 0 or answers(ast.parse(before)) or "suspect = " in before:
            assert after == before  # imports, and exercises in their place, with the code that they ask about
            continue
        left = [step for step in ast.parse(after).body if not isinstance(step, (ast.Import, ast.ImportFrom))]
        for step in left:
            assert ast.unparse(step) in [ast.unparse(other) for other in ast.parse(before).body]
            assert not isinstance(step, (ast.For, ast.FunctionDef, ast.With, ast.AugAssign))
        typed += len(ast.parse(before).body) - len(ast.parse(after).body)
        for comment in re.findall(r"#[^\n\"']*$", before, re.MULTILINE):
            assert comment.lstrip("# ") in after
        assert len(after.splitlines()) <= len(before.splitlines()) + 1
        assert after.strip()
    assert typed > 25


@pytest.mark.parametrize("chapter", CHAPTERS[1:], ids=lambda c: c.number)
def test_the_catch_up_lines_are_there_too(chapter):
    lines = [source_of(two).splitlines()[0] for _, _, two in pairs(chapter) if "catch_up" in source_of(two)]
    sections = sorted({section for section, _, _ in pairs(chapter)} - {0})
    assert lines == [catching_up.line(chapter.number, section) for section in sections]


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("weights = softmax(scores)  # (3, 3)", "# weights = ...  # (3, 3)"),
        ("Q, K = X @ A, X @ B", "# Q, K = ..."),
        ("a = b = f(1)", "# a = b = ..."),
        (
            "def f(x, y=1):\n    # the sum\n    return x + y  # (n,)",
            "# def f(x, y=1): ...\n#     the sum\n#     (n,)",
        ),
        ("for i in range(3):\n    print(i)", "# for i in range(3):"),
        ("for i, x in (\n    (1, 2),\n):\n    print(i)", "# for i, x in ...:"),
        ('print("sums:", x.sum())', '# print("sums:", ...)'),
        ("print(x)", "# print(...)"),
        (
            "with np.errstate(over='ignore'):  # we know\n    f()",
            "# with np.errstate(over='ignore'):\n#     we know",
        ),
        ("x[0] += 1.0  # one", "# x[0] += 1.0  # one"),
        ("x", "# x"),
        ("# what it is\ny = f(x)\n# the end", "# what it is\n# y = ...\n# the end"),
        ("table = np.array([[0.0, -1.5]])  # data", "table = np.array([[0.0, -1.5]])  # data"),
        ("words = ['a', 'b']", "words = ['a', 'b']"),
        ("x = np.array(y)", "# x = ..."),
        ("import time\n\nt = time.time()", "import time\n# t = ..."),
        ("bar = IntProgress(max=3)\ndisplay(bar)", "bar = IntProgress(max=3)\ndisplay(bar)"),
        ("w = f(x)\npictures.bars(\n    {'w': w},\n)", "# w = ...\npictures.bars(\n    {'w': w},\n)"),
        ("a = ...\n\ncheck('05-hunt', a)", "a = ...\n\ncheck('05-hunt', a)"),
    ],
)
def test_prompts(source, left):
    assert live.prompts(source) == left


def test_it_is_laid_beside_a_complete_copy_and_said(tmp_path):
    where = tmp_path / "desk"
    ready, said = live.lay("5", where, COURSE)
    assert ready.startswith("Your desk is ready")
    folder = where / "notebooks"
    assert said == f"Type in 05-softmax.live.ipynb; 05-softmax.complete.ipynb lies beside it, in {folder}."
    original = (COURSE / "notebooks" / "05-softmax.ipynb").read_bytes()
    assert (folder / "05-softmax.complete.ipynb").read_bytes() == original
    assert (folder / "05-softmax.ipynb").read_bytes() == original
    assert json.loads((folder / "05-softmax.live.ipynb").read_bytes())["cells"]
    assert live.lay("5", where, COURSE) == [said]
    assert not list((where / "backups").iterdir())


def test_what_was_typed_is_kept(tmp_path):
    live.lay("05", tmp_path, COURSE)
    typed = tmp_path / "notebooks" / "05-softmax.live.ipynb"
    typed.write_bytes(b"what I typed")
    (said,) = live.lay("05", tmp_path, COURSE)
    (kept,) = (tmp_path / "backups").iterdir()
    assert kept.read_bytes() == b"what I typed"
    assert said.endswith(f" What lay there before is kept: backups/{kept.name}.")
    assert typed.read_bytes() != b"what I typed"


def test_the_desk_leaves_live_copies_alone(tmp_path):
    live.lay("05", tmp_path, COURSE)
    typed = tmp_path / "notebooks" / "05-softmax.live.ipynb"
    typed.write_bytes(b"what I typed")
    assert desk.lay_out(tmp_path, COURSE) == []
    desk.reset("05", tmp_path, COURSE)
    assert typed.read_bytes() == b"what I typed"
    assert desk.find_desk(typed.parent) == tmp_path.resolve()


def test_images_and_links_of_the_copies_lead_somewhere(tmp_path):
    for number in ("00", "05"):
        live.lay(number, tmp_path, COURSE)
    for path in (tmp_path / "notebooks").glob("*.live.ipynb"):
        targets = re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8"))
        assert targets
        assert all((path.parent / target).is_file() for target in targets)


def test_a_full_desk_says_so(tmp_path):
    live.lay("05", tmp_path, COURSE)
    path = tmp_path / "notebooks" / "05-softmax.live.ipynb"
    path.unlink()
    path.mkdir()
    with pytest.raises(desk.DeskError, match=r"^The notebook could not be laid out: a file lies where a folder"):
        live.lay("05", tmp_path, COURSE)


def test_an_unknown_chapter_is_one_sentence(tmp_path):
    with pytest.raises(desk.DeskError, match="There is no chapter '40': choose one of 00-start-here"):
        live.lay("40", tmp_path / "desk", COURSE)
    assert not (tmp_path / "desk").exists()
