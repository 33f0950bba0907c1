"""Any input at all, for pictures: each is drawn, with all its numbers in its words, or refused in our own."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_fuzz import FINITE, MODERATE, NUMBERS, ODD, attempt, floats

from attnlib import pictures

FEWER = settings.default.max_examples // 10  # eight pictures take longer than a sum
LETTERS = st.characters(codec="latin-1", categories=["L", "N", "P", "S", "Zs"]) | st.sampled_from("배가고파서$$√")
TEXT = st.one_of(
    st.text(LETTERS, max_size=4), st.text(LETTERS, max_size=60), st.sampled_from(["$a$", r"$\frac$", "", "^_"])
)
NAMES = st.one_of(st.lists(TEXT, min_size=2, max_size=2), st.lists(TEXT, min_size=1, max_size=4))
KIND = st.sampled_from(list(pictures.COLOURS))
MATRIX = st.one_of(floats((2, 2)), floats(st.sampled_from([(2, 2), (3, 2), (2, 3), (1, 1)])), NUMBERS)
ROW = st.one_of(floats((2,), st.floats(0, 1)), floats(st.sampled_from([(1,), (2,), (3,)])), NUMBERS)
POINT = st.one_of(floats((2,)), floats((2,), FINITE))
COUNT = st.integers(-1, 4)


def titled(part, most=3):
    return st.dictionaries(TEXT, part, max_size=most)


CALLS = {
    "heat_map": {
        "matrices": titled(MATRIX),
        "tokens": NAMES,
        "keys": st.one_of(st.none(), NAMES),
        "kind": KIND,
        "digits": COUNT,
        "sides": st.tuples(TEXT, TEXT),
    },
    "bars": {
        "groups": titled(ROW),
        "labels": NAMES,
        "colours": st.one_of(st.none(), st.lists(KIND, max_size=3)),
        "digits": COUNT,
        "ylabel": TEXT,
    },
    "curves": {
        "x": ROW,
        "lines": titled(ROW),
        "xlabel": TEXT,
        "ylabel": TEXT,
        "title": TEXT,
        "colours": st.one_of(st.none(), st.lists(KIND, max_size=3)),
        "log": st.sampled_from(["", "", "x", "y", "xy", "z"]),
        "marks": st.booleans(),
    },
    "plane": {
        "vectors": st.dictionaries(st.sampled_from("abc"), POINT, max_size=3),
        "kinds": st.one_of(st.none(), st.dictionaries(st.sampled_from("abc"), KIND, min_size=1)),
        "moves": st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=2),
        "outline": st.lists(st.sampled_from("abc"), max_size=3),
        "origin": st.booleans(),
        "angle": st.one_of(st.none(), st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))),
        "xlabel": TEXT,
        "ylabel": TEXT,
        "title": TEXT,
    },
    "stripes": {"matrix": MATRIX, "xlabel": TEXT, "ylabel": TEXT, "title": TEXT},
    "circles": {"matrix": MATRIX, "tokens": NAMES, "title": TEXT},
    "matrix_product": {
        "left": MATRIX,
        "right": MATRIX,
        "names": st.tuples(TEXT, TEXT, TEXT),
        "tokens": NAMES,
        "columns": NAMES,
        "kinds": st.tuples(KIND, KIND, KIND),
        "row": COUNT,
        "column": st.one_of(st.none(), COUNT),
        "size": st.one_of(st.none(), st.tuples(st.floats(0.5, 12), st.floats(0.5, 12))),
    },
    "arcs": {"weights": ROW, "tokens": NAMES, "query": COUNT, "title": TEXT},
}


# A letter that neither font has is drawn as a box, and Matplotlib says which one it is: that may be said.
@pytest.mark.filterwarnings(r"ignore:Glyph \d+ .* missing from font:UserWarning")
@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=5 * FEWER)
@given(data=st.data())
def test_anything(name, data):
    likely = CALLS[name]
    strange = data.draw(st.sampled_from([None, None, *likely]))
    arguments = {
        parameter: data.draw(ODD if parameter == strange else strategy, label=parameter)
        for parameter, strategy in likely.items()
    }
    picture = attempt(name, getattr(pictures, name), **arguments)
    if picture is not None:
        assert picture._repr_png_()[1:4] == b"PNG"  # drawn, without a warning


@st.composite
def shaped(draw, *sides):
    return draw(floats(sides, MODERATE)), [draw(st.lists(TEXT, min_size=n, max_size=n)) for n in sides]


@settings(max_examples=FEWER)
@given(st.data())
def test_what_fits_is_drawn_and_said(data):
    n, m = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    matrix, (rows, columns) = data.draw(shaped(n, m))
    title, kind = data.draw(TEXT), data.draw(KIND)
    drawn = {
        "heat_map": pictures.heat_map({title: matrix}, rows, keys=columns, kind=kind),
        "bars": pictures.bars({title: matrix[0]}, columns, colours=[kind]),
        "curves": pictures.curves(range(m), {title: matrix[0]}, xlabel=title, ylabel=title),
        "plane": pictures.plane({"a": [matrix[0, 0], 1.0]}, title=title),
        "stripes": pictures.stripes(matrix, xlabel=title, ylabel=title),
        "circles": pictures.circles(matrix[:1, :1], rows[:1], title=title),
        "matrix_product": pictures.matrix_product(
            matrix, matrix.T, names=(title, "b", "c"), tokens=rows, columns=rows, row=n - 1
        ),
        "arcs": pictures.arcs(np.abs(matrix[0]) / 8, columns, m - 1, title=title),
    }
    assert drawn.keys() == CALLS.keys()
    for name, picture in drawn.items():
        assert picture._repr_png_()[1:4] == b"PNG", name
    for name, numbers in (("heat_map", matrix), ("bars", matrix[0])):
        said = re.findall(r"-?\d+\.\d\d(?!\d)", drawn[name].description)
        assert {abs(float(word)) for word in said} >= {abs(round(x, 2)) for x in numbers.ravel().tolist()}, name
