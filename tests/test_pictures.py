"""What the pictures draw: numbers, labels, order, contrast; and nothing clipped, clashing or missing."""

import io
import os
import re
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from drawn import NOTEBOOKS, cells, clashes, pictures_in, texts

from attnlib import bae, pictures, projector, write_a_poem
from attnlib.chapters import CHAPTERS
from attnlib.pictures import Picture

# Parts of titles and labels that hold digits but are no figures of the drawing.
NAMES = re.compile(
    r"sums to 1|layer \d(, head \d)?|head \d|step \d+|(value|output) \d|position \d+:|\[?[QKV]\]? minus"
)


def numbers_in(text):
    """Give the numbers of a description, but not those that are part of a name, such as the 3 of d_3."""
    found = re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])", NAMES.sub("", text))
    return [float(number) for number in found]


def test_a_heat_map_draws_the_matrix_first_row_on_top():
    matrix = [[0.1, 0.2, 0.7], [1.0, 0.0, 0.0]]
    picture = pictures.heat_map({"weights": matrix}, ["it", "sat"], keys=["a", "b", "c"])
    (axes,) = picture.axes
    drawn = cells(axes)
    assert [text for text, *_ in drawn] == ["0.10", "0.20", "0.70", "1.00", "0.00", "0.00"]
    assert [number for _, number, *_ in drawn] == [0.1, 0.2, 0.7, 1.0, 0.0, 0.0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["it", "sat"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    bottom, top = axes.get_ylim()
    assert bottom > top  # the y axis points down: row 0 is on top
    assert [text.get_position() for text in axes.texts[:4]] == [(0, 0), (1, 0), (2, 0), (0, 1)]
    assert axes.get_ylabel() == "query (row)"
    assert axes.get_xlabel() == "attends to key (column)"


@pytest.mark.parametrize("kind", pictures.COLOURS)
def test_every_number_in_a_cell_can_be_read(kind):
    matrix = np.linspace(-1 if kind == "scores" else 0, 1, 60).reshape(6, 10)
    picture = pictures.heat_map({kind: matrix}, list("abcdef"), keys=list("0123456789"), kind=kind)
    for _, _, ink, paper in cells(picture.axes[0]):
        assert pictures.contrast(ink, paper) >= 4.5


def test_the_ideas_colours_can_be_read_on_white_and_differ():
    for colour in pictures.COLOURS.values():
        assert pictures.contrast(colour, "white") >= 4.5
    assert len(set(pictures.COLOURS.values())) == len(pictures.COLOURS)


def test_score_cells_show_their_sign():
    picture = pictures.heat_map({"scores": [[-1.0, 0.0, 1.0]]}, ["q"], keys=["a", "b", "c"], kind="scores")
    papers = [paper for *_, paper in cells(picture.axes[0])]
    assert papers[1] == "#ffffff"
    assert len(set(papers)) == 3


def test_bars_draw_the_numbers():
    picture = pictures.bars({"scores": [1.5, -0.5], "weights": [0.88, 0.12]}, ["a", "b"])
    for axes, expected in zip(picture.axes, ([1.5, -0.5], [0.88, 0.12]), strict=True):
        assert [bar.get_height() for bar in axes.containers[0]] == expected
        assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]
        assert [text.get_text() for text in axes.texts] == [f"{number:.2f}" for number in expected]


def test_curves_draw_the_numbers_and_can_be_told_apart_without_colour():
    lines = {"scaled": [1.0, 2.0], "not scaled": [3.0, 4.0]}
    picture = pictures.curves([1, 10], lines, xlabel="d_k", ylabel="variance", log="xy", marks=True)
    (axes,) = picture.axes
    assert [list(line.get_ydata()) for line in axes.lines] == list(lines.values())
    assert len({line.get_linestyle() for line in axes.lines}) == 2
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(lines)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "10"]
    assert clashes(picture) == []


def test_the_pipeline_names_every_step():
    shown = " ".join(text.get_text() for text, _ in texts(pictures.pipeline()))
    for step in (
        "text",
        "tokens",
        "X",
        "Q = X W_Q",
        "K = X W_K",
        "V = X W_V",
        "scores",
        "scaled",
        "weights",
        "output",
    ):
        assert step in shown


def test_the_map_shows_the_chapters_in_order():
    chapters = [(f"{number:02}", f"Chapter\n{number}") for number in range(13)]
    picture = pictures.course_map(chapters)
    assert [text.get_text() for text, _ in texts(picture)] == [f"{number}\n{title}" for number, title in chapters]
    assert clashes(picture) == []


def test_hangul_is_drawn_not_boxed():
    weights = np.full((8, 8), 0.125)
    picture = pictures.heat_map({"배가 고파서": weights}, bae.tokens)
    assert clashes(picture) == []  # draws it; a missing glyph would warn, and a warning is an error here
    picture._repr_png_()


def test_a_missing_font_package_is_named(monkeypatch):
    pictures.hangul_font.cache_clear()
    monkeypatch.setattr(pictures, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="koreanize-matplotlib, which carries the Hangul font, is not installed"):
        pictures.hangul_font()
    monkeypatch.undo()
    assert pictures.hangul_font() == "NanumGothic"


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_picture_has_the_same_bytes(kind):
    def content():
        with io.BytesIO() as file:
            pictures.heat_map({"weights": [[0.5, 0.5]]}, ["a"], keys=["b", "c"]).save(file, kind)
            return file.getvalue()

    assert content() == content()


def test_a_clash_would_be_noticed():
    picture = pictures.bars({"a": [1.0, 2.0]}, ["x", "y"])
    picture.axes[0].text(0.5, 1.0, "first text")
    picture.axes[0].text(0.5, 1.0, "second text")
    picture.text(0.99, 0.5, "far too long for the page")
    found = clashes(picture)
    assert "'first text' overlaps 'second text'" in found
    assert "'far too long for the page' leaves the page" in found


def test_the_images_are_what_the_code_draws():
    script = NOTEBOOKS.parent / "tools" / "images.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.file)
def test_every_figure_of_every_chapter(chapter):
    shown = pictures_in(NOTEBOOKS / chapter.file)
    assert shown
    for number, picture in shown:
        where = f"{chapter.file}, cell {number}"
        assert clashes(picture) == [], where
        spoken, drawn = numbers_in(picture.description), list(figures_in(picture))
        assert len(spoken) == len(drawn) > 0, where
        for number, value in zip(spoken, drawn, strict=True):
            assert number == pytest.approx(value, rel=6e-4, abs=0.0051), where


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.file)
def test_every_figure_of_every_chapter_on_a_projector(chapter):
    try:
        projector()
        for number, picture in pictures_in(NOTEBOOKS / chapter.file):
            assert picture.dpi == 165
            assert clashes(picture) == [], f"{chapter.file}, cell {number}"
    finally:
        projector(False)


@pytest.mark.parametrize("last", [0.31, 0.45, 0.9, 2.8, 9.9, 31, 300])
def test_the_numbers_of_a_logarithmic_axis_keep_apart(last):
    try:
        projector()
        times = np.geomspace(0.3, last, 4)
        picture = pictures.curves(
            [256, 512, 1024, 2048], {"time": times}, xlabel="n", ylabel="ms", log="xy", marks=True
        )
        assert clashes(picture) == []
        low, high = picture.axes[0].get_ylim()
        assert any(low <= float(place) <= high for place in picture.axes[0].get_yticks())
    finally:
        projector(False)


def test_the_projector_makes_letters_larger_and_can_be_switched_off():
    def size():
        with pictures.look():
            return Picture(2, 1, "x").dpi, mpl.rcParams["font.size"]

    usual = size()
    assert repr(projector()).startswith("Projector on")
    large = size()
    assert repr(projector(False)).startswith("Projector off")
    assert size() == usual == (110, 12.0)
    assert large == (165, pytest.approx(13.2))


@pytest.mark.parametrize(("value", "scale"), [("1", 1.5), ("", 1.0), ("0", 1.0)])
def test_the_projectors_variable_is_for_the_whole_session(value, scale):
    code = "from attnlib import pictures; print(pictures.scale)"
    environment = {**os.environ, "ATTNLIB_PROJECTOR": value}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert float(said.stdout) == scale


def figures_in(picture):
    """Read back out of the drawing the numbers that the description names, in the same order."""
    kind = picture.description.split()[0].rstrip(".,")
    for axes in picture.axes:
        if kind == "Heat":
            for text, value, *_ in cells(axes):
                assert float(text) == pytest.approx(value, abs=0.0051)
                yield value
        elif kind == "Bars":
            for text, bar in zip(axes.texts, axes.containers[0], strict=True):
                assert float(text.get_text()) == pytest.approx(bar.get_height(), abs=0.051)
                yield bar.get_height()
        elif kind == "Curves":
            xs = axes.lines[0].get_xdata()
            yield from (xs[0], xs[-1])
            for line in axes.lines:
                yield from (line.get_ydata()[0], line.get_ydata()[-1])
        elif kind == "Vectors":
            for line in axes.lines:
                if line.get_marker() == "o":
                    yield from (line.get_xdata()[0], line.get_ydata()[0])
        elif kind == "Product":
            yield from (float(text.get_text()) for text in axes.texts)
        elif kind == "Arcs":
            yield from (float(text.get_text()) for text in axes.texts[1::2])
        elif kind == "Circles":
            largest = max(circle.get_radius() for circle in axes.patches)
            top = max(abs(float(text.get_text())) for text in axes.texts)
            for circle, text in zip(axes.patches, axes.texts, strict=True):
                size = top * (circle.get_radius() / largest) ** 2  # the area is the score
                yield -size if circle.get_linestyle() == "--" else size
                assert abs(float(text.get_text())) == pytest.approx(size, abs=0.051)
        elif kind == "Matrix" and axes.get_images():
            image = axes.get_images()[0].get_array()
            yield from (*image.shape, image.min(), image.max())


def test_the_figures_of_chapter_05_show_this_chapters_numbers():
    shown = {
        picture.description.split(".")[0]: picture for _, picture in pictures_in(NOTEBOOKS / "05-softmax.ipynb")
    }
    first = next(p for _, p in pictures_in(NOTEBOOKS / "05-softmax.ipynb") if p.description.startswith("Bars"))
    weights = [bar.get_height() for bar in first.axes[2].containers[0]]
    np.testing.assert_allclose(np.round(weights, 2), write_a_poem.printed["weights_write"])
    size = next(p for name, p in shown.items() if name.startswith("Curves of size"))
    (line,) = size.axes[0].lines
    assert line.get_ydata()[0] > 0.4  # moderate scores: softmax answers to a push
    assert line.get_ydata()[-1] < 1e-9  # saturated: it does not
    temperature = next(p for name, p in shown.items() if name.startswith("Curves of weight"))
    lines = [line.get_ydata() for line in temperature.axes[0].lines]
    np.testing.assert_allclose(np.sum(lines, axis=0), 1)


@pytest.mark.parametrize("spread", [0.0, 1e-320, 1e-17, 1e-5])
@pytest.mark.parametrize("middle", [0.0, 1e-320, 5.0])
def test_points_that_lie_close_together_can_be_drawn(middle, spread):
    points = {"a": [middle, middle], "b": [middle, middle + spread]}
    assert pictures.plane(points, origin=False)._repr_png_()[1:4] == b"PNG"  # with no warning


def test_a_dollar_sign_begins_no_formula_and_a_long_name_is_cut_only_where_it_is_drawn():
    name = "$x$ and $y$ for the price of one"
    picture = pictures.heat_map({"$\\frac$": [[1.0]]}, [name])
    assert name in picture.description
    assert picture._repr_png_()[1:4] == b"PNG"  # as a formula, "$\frac$" stops Matplotlib
    (label,) = picture.axes[0].get_xticklabels()
    assert label.get_text().replace("\\$", "$") == "$x$ and $y$ for the pri…"
    assert pictures.bars({"a": [1.0]}, ["\x7f\x00b"])._repr_png_()[1:4] == b"PNG"  # control signs have no glyph
