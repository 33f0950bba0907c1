"""The explorers: what each says and draws, that moving a control shows it, and that nothing piles up."""

import asyncio
import gc
import html
import itertools
import re
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import clashes, texts

from attnlib import attention, bae, explorers, minilm, pictures, write_a_poem
from attnlib.explorers import (
    chapter01,
    chapter02,
    chapter03,
    chapter04,
    chapter05,
    chapter06,
    chapter07,
    chapter08,
    chapter09,
    chapter11,
    shell,
)
from attnlib.explorers.controls import CellGrid, Slider, Text
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import Picture

WIDGETS = "application/vnd.jupyter.widget-view+json"
OPEN = np.ones((4, 4), bool)
CLOSED = np.zeros((4, 4), bool)

# For each explorer: the settings at which its picture is looked at, beside its start.
SETTINGS = {
    "positions": [{"p": p, "r": r} for p, r in ((0, 0), (40, 40), (0, 40), (40, 0), (12, 13))],
    "soft_lookup": [{"stretch": stretch} for stretch in (0, 0.2, 0.5, 2, 5, 10, 30, 100)],
    "two_vectors": [
        {"angle": angle, "length": length}
        for angle, length in itertools.product((0, 1, 45, 90, 135, 179, 180), (0.2, 1.0, 2.5, 4.0))
    ],
    "spread": [{"d_k": d_k} for d_k in chapter04.SIZES],
    "temperature": [
        {"T": T, "a": a, "b": b, "c": c}
        for T, (a, b, c) in itertools.product((0.01, 1, 100), ((3, 3, 3), (-3, 3, 0), (-3, -3, -3), (0, 0, 0.05)))
    ],
    "steps": [{"token": token, "step": step} for token in write_a_poem.tokens for step in range(5)],
    "heads": [{"sentence": s, "head": h} for s in chapter07.SENTENCES for h in chapter07.HEADS],
    "masks": [
        {"causal": causal, "real": real, "cells": cells}
        for causal, real, cells in itertools.product(
            (True, False), (0, 2, 4), (OPEN, CLOSED, np.eye(4, dtype=bool))
        )
    ],
    "training": [{"step": step} for step in (1, 10, 17, 20, 25, 50, 100)],
    "window": [{"width": w, "layers": n} for w, n in itertools.product((1, 2, 5, 8), (1, 2, 4))],
    "real_model": [
        {"layer": 0, "head": 11},
        {"layer": 5, "head": 0, "word": "[CLS]"},
        {"text": "hi", "word": "HI"},
        {"text": "a " * 22, "word": "a"},
    ],
}


@pytest.fixture(scope="module")
def model():
    return minilm.load()


@pytest.fixture(params=explorers.ALL, ids=lambda one: one.__name__)
def explorer(request, model):
    return request.param(model) if request.param is explorers.real_model else request.param()


def name_of(explorer):
    return next(one.__name__ for one in explorers.ALL if explorer.view.__module__ == one.__module__)


def test_every_explorer_has_settings_to_look_at():
    assert set(SETTINGS) == {one.__name__ for one in explorers.ALL}


def test_every_setting_can_be_drawn_read_and_said(explorer):
    shown = [explorer.view(**{**explorer.start, **s}) for s in ({}, *SETTINGS[name_of(explorer)])]
    for view in shown:
        assert clashes(view.picture) == [], view.sentence
        assert view.sentence.endswith(".")
        assert not re.search(r"nan|inf\b|np\.|-0\.00", view.sentence + view.picture.description), view.sentence
    assert len({tuple(view.picture.get_size_inches()) for view in shown}) == 1  # else the page would jump
    assert len({view.picture.frame() for view in shown}) > 1


def test_nothing_clashes_on_a_projector(explorer, monkeypatch):
    monkeypatch.setattr(pictures, "scale", pictures.PROJECTOR)
    for setting in ({}, *SETTINGS[name_of(explorer)][:8]):
        view = explorer.view(**{**explorer.start, **setting})
        assert clashes(view.picture) == [], view.sentence


def test_an_explorer_is_a_pure_function_of_its_controls(explorer):
    for setting in SETTINGS[name_of(explorer)][:3]:
        one, other = (explorer.view(**{**explorer.start, **setting}) for _ in range(2))
        assert one.sentence == other.sentence
        assert one.picture.frame() == other.picture.frame()


def test_moving_a_control_shows_what_the_function_says(explorer):
    now = dict(explorer.start)
    for setting in SETTINGS[name_of(explorer)][:4]:
        now.update(setting)
        for name, value in setting.items():
            explorer.widgets[name].value = value if name != "cells" else tuple(map(tuple, value.tolist()))
        expected = explorer.view(**now)
        assert explorer.sentence == expected.sentence
        assert explorer._image.value == expected.picture.frame()
        assert html.escape(expected.picture.description) in explorer._words.value
        assert 'role="status"' in explorer._words.value


def test_every_control_has_a_label_and_takes_part(explorer):
    for name, widget in explorer.widgets.items():
        assert explorer.controls[name].label
        if not isinstance(widget, CellGrid):
            assert widget.description == explorer.controls[name].label
    moved = {name for setting in SETTINGS[name_of(explorer)] for name in setting}
    assert moved == set(explorer.widgets)


def test_without_a_kernel_there_is_a_picture_and_its_words(explorer):
    bundle = explorer._repr_mimebundle_()
    assert set(bundle) == {WIDGETS, "image/png", "text/plain"}
    assert bundle["image/png"][1:4] == b"PNG"
    assert bundle["text/plain"] == f"{explorer.description}\n{explorer.sentence}"


# --- the numbers, computed here in another way --------------------------------------------------------


def drawn_numbers(picture):
    """Give the numbers among the texts of a picture, as they are written."""
    return [text.get_text() for text, _ in texts(picture) if re.fullmatch(r"-?\d+\.\d\d", text.get_text())]


def test_positions_draws_hands_that_turn_with_the_position():
    picture, sentence = chapter01.view(5, 2)
    hands = [line for line in picture.axes[0].lines if len(line.get_xdata()) == 2]
    for hand, (first, second) in enumerate(zip(hands[::2], hands[1::2], strict=True)):
        for line, position in ((first, 5), (second, 2)):
            (x0, x1), (y0, y1) = line.get_data()
            angle = position / 10000 ** (2 * hand / 8)
            np.testing.assert_allclose([x1 - x0, y1 - y0], [np.cos(angle), np.sin(angle)])
    product = sum(np.cos(3 / 10000 ** (2 * hand / 8)) for hand in range(4))
    assert f"dot product is {product:.2f} of" in sentence
    (x,), (y,) = picture.axes[1].lines[1].get_data()
    assert (x, y) == (3, pytest.approx(product))


@pytest.mark.parametrize("stretch", [0, 1, 30])
def test_soft_lookup_mixes_the_values(stretch):
    picture, sentence = chapter02.view(stretch)
    raised = np.exp(stretch * np.array([2.12, 1.96, -1.5]))
    weights = raised / raised.sum()
    np.testing.assert_allclose([bar.get_height() for bar in picture.axes[0].containers[0]], weights)
    assert f"output is {weights @ [10, 20, 70]:.2f}" in sentence


def test_two_vectors_lets_dot_product_and_cosine_choose():
    for angle, length in itertools.product((0, 30, 59, 90, 150), (0.5, 1.2, 4.0)):
        picture, sentence = chapter03.view(angle, length)
        dot, cosine = np.sqrt(5) * length * np.cos(np.radians(angle)), np.cos(np.radians(angle))
        by_dot = "yours" if dot > 2.8 else "alike"
        by_cosine = "yours" if cosine > 2.8 / np.sqrt(5 * (0.36 + 1.21)) else "alike"
        assert f"product is {dot + 0.0:.2f} against 2.80: {by_dot} wins" in sentence.replace("-0.00", "0.00")
        assert f"{by_cosine} wins. Dot" in sentence
        assert ("disagree" in sentence) == (by_dot != by_cosine)
        heights = [bar.get_height() for axes in picture.axes[1:] for bar in axes.containers[0]]
        np.testing.assert_allclose(heights[1::2], [dot, cosine], atol=1e-12)
        filled = [bar.get_facecolor()[:3] != (1, 1, 1) for axes in picture.axes[1:] for bar in axes.containers[0]]
        assert filled == [by_dot == "alike", by_dot == "yours", by_cosine == "alike", by_cosine == "yours"]


def test_spread_marks_what_chapter_04_measures():
    picture, sentence = chapter04.view(64)
    assert "entropy is 0.5 bits" in sentence
    assert "entropy is 3.4 bits" in sentence
    marks = [line.get_data() for line in picture.axes[1].lines if line.get_marker() == "o"]
    assert [float(x[0]) for x, _ in marks] == [64, 64]
    np.testing.assert_allclose([y[0] for _, y in marks], chapter04.measured(64).bits)
    for row in chapter04.measured(1024).row:
        assert row.sum() == pytest.approx(1)
        assert (np.diff(row) <= 0).all()


def test_temperature_draws_the_shares():
    for T in (0.5, 1, 20):
        picture, sentence = chapter05.view(T, 1.0, -1.0, 0.5)
        raised = np.exp(np.array([1.0, -1.0, 0.5]) / T)
        expected = [f"{w:.2f}" for w in raised / raised.sum()]
        assert drawn_numbers(picture) == ["1.00", "-1.00", "0.50", *expected]
        assert f"T = {T:g}: the weights are {', '.join(expected)}." in sentence
    assert "saturated" in chapter05.view(0.01, 1.0, -1.0, 0.5).sentence
    assert "T is so large" in chapter05.view(100, 1.0, -1.0, 0.5).sentence
    assert "All are equal" in chapter05.view(1, 2.0, 2.0, 2.0).sentence


def test_steps_lights_the_row_of_the_token():
    poem = write_a_poem
    result = attention(poem.X @ poem.W_Q, poem.X @ poem.W_K, poem.X @ poem.W_V)
    matrices = (poem.X @ poem.W_Q, result.scores, result.scaled, result.weights, result.output)
    for row, token in enumerate(poem.tokens):
        for step, matrix in enumerate(matrices):
            picture, sentence = chapter06.view(token, step)
            last = picture.axes[-1]
            np.testing.assert_allclose(
                [float(text.get_text()) for text in last.texts], matrix.ravel(), atol=0.0051
            )
            framed = {(patch.get_x() + 0.5, patch.get_y() + 0.5) for patch in last.patches}
            assert framed == {(column, row) for column in range(matrix.shape[1])}
            assert sentence.startswith(f"Step {step}, ")
            assert token in sentence


def test_heads_keep_apart_what_one_head_blurs():
    both = {s: chapter07.view(s, "one head: who and whom") for s in chapter07.SENTENCES}
    outputs = [drawn_numbers(view.picture)[-2:] for view in both.values()]
    assert outputs[0] == outputs[1] == ["0.50", "0.50"]
    who = [drawn_numbers(chapter07.view(s, "head 1: who?").picture)[-2:] for s in chapter07.SENTENCES]
    assert who == [["1.00", "0.00"], ["0.00", "1.00"]]
    whom = [drawn_numbers(chapter07.view(s, "head 2: whom?").picture)[-2:] for s in chapter07.SENTENCES]
    assert whom == who[::-1]


def test_masks_hide_what_they_should_and_say_what_leaks():
    picture, sentence = chapter08.view(True, 4, OPEN)
    assert "Hidden: 6 of 16 cells. No query sees a later token" in sentence
    weights = picture.axes[1]
    assert len(weights.texts) == 10  # a hidden cell holds no number
    assert len(weights.collections[0].get_paths()) == 6
    rows = [float(text.get_text()) for text in weights.texts]
    assert rows[0] == 1.0
    assert sum(rows[1:3]) == pytest.approx(1, abs=0.011)
    one_leak = np.tri(4, dtype=bool)
    one_leak[0, 3] = True
    assert (
        '1 cell shows a later token ("the" sees "down"): the future' in chapter08.view(False, 4, one_leak).sentence
    )
    assert "6 cells show a later token" in chapter08.view(False, 4, OPEN).sentence
    assert "Nobody may see anything" in chapter08.view(False, 0, OPEN).sentence
    blind = OPEN.copy()
    blind[1] = False
    assert '"cat" may see nothing: its weights are 0' in chapter08.view(False, 4, blind).sentence
    blind[2:] = False
    assert '"cat", "sat" and "down" may see nothing: their' in chapter08.view(False, 4, blind).sentence
    blind[3] = True
    assert '"cat" and "sat" may see nothing' in chapter08.view(False, 4, blind).sentence


def test_training_goes_from_equal_shares_to_the_deciding_word():
    before, after = chapter09.view(0), chapter09.view(100)
    np.testing.assert_allclose(chapter09.history().weights.sum(axis=1), 1)
    assert "Before training: 배 gives 고파서 0.13" in before.sentence
    assert "belly with probability 1.00" in after.sentence
    assert [label.get_text() for label in after.picture.axes[0].get_xticklabels()] == list(bae.tokens)
    heights = [bar.get_height() for bar in after.picture.axes[0].containers[0]]
    assert np.argmax(heights) == 4
    assert chapter09.history().losses[0] > 1 > 0.01 > chapter09.history().losses[-1]


def test_window_counts_the_layers_that_a_word_needs():
    for width, layers in itertools.product((1, 3, 8), (1, 3)):
        picture, sentence = chapter11.view(width, layers)
        needed = {
            (i, j): max(1, -(-(i - j) // (width - 1))) if width > 1 else 1
            for i in range(8)
            for j in range(8)
            if 0 <= i - j <= layers * (width - 1)
        }
        drawn = {
            (text.get_position()[1], text.get_position()[0]): int(text.get_text())
            for text in picture.axes[0].texts
        }
        assert drawn == needed
        assert f"heard of {min(8, 1 + layers * (width - 1))} of the 8 tokens" in sentence


def test_the_real_model_shows_the_head_of_chapter_12(model):
    explorer = explorers.real_model(model)
    result = model.forward("The animal did not cross the street because it was too tired")
    row = result.weights[3, 1, result.tokens.index("it")]
    assert drawn_numbers(explorer.view(**explorer.start).picture) == [f"{w:.2f}" for w in row]
    assert explorer.sentence == 'Layer 3, head 1: "it" attends most to "animal", 0.65. "[CLS]" gets 0.12.'


# --- the shell ----------------------------------------------------------------------------------------


def test_an_error_is_said_in_words_and_the_last_picture_stays(model):
    explorer = explorers.real_model(model)
    picture = explorer._image.value
    explorer.widgets["word"].value = "<b>snow</b>"
    assert explorer.sentence.startswith("<b>snow</b> is none of the tokens; choose one of: [CLS] the animal")
    assert "&lt;b&gt;snow" in explorer._words.value
    assert 'role="alert"' in explorer._words.value
    assert explorer._image.value == picture
    explorer.widgets["text"].value = "word " * 40
    assert explorer.sentence.startswith(
        "The sentence has more than 24 tokens, which the picture cannot hold: shorten"
    )
    explorer.widgets["text"].value = "the snow fell"
    explorer.widgets["word"].value = "snow"
    assert explorer.sentence.startswith('Layer 3, head 1: "snow" attends most to ')
    assert explorer._image.value != picture
    explorer.widgets["word"].value = " "
    assert explorer.sentence.startswith("An empty word is none of the tokens")


def test_an_unforeseen_error_does_not_kill_the_widget():
    def view(n):
        return View(Picture(1, 1, "one"), f"{1 / (n - 3):.1f}.")

    explorer = Explorer(view, {"n": Slider("number", 0, 9, 1)})
    explorer.widgets["n"].value = 3
    assert explorer.sentence == "division by zero (The picture still shows the last setting that worked.)"
    explorer.widgets["n"].value = 4
    assert explorer.sentence == "1.0."


def test_an_explorer_that_cannot_even_start_says_so_at_once():
    with pytest.raises(ZeroDivisionError):
        Explorer(lambda n: View(Picture(1, 1, "one"), str(1 / n)), {"n": Slider("number", 0, 9, 0)})


def test_a_table_needs_names_of_controls():
    with pytest.raises(ValueError, match="table: there is no control 'angel'; choose from angle, length"):
        explorers.two_vectors().table(angel=[1])


def test_a_typed_text_counts_when_it_is_finished():
    assert Text("sentence", "").widget().continuous_update is False


def test_a_cell_pressed_and_a_value_set_are_the_same():
    changes = []
    grid = CellGrid(["a", "b"], ["x", "y"], ((True, True), (True, True)))
    grid.observe(lambda change: changes.append(change["new"]), "value")
    grid.buttons[1][0].value = False
    grid.value = ((False, False), (True, True))
    assert changes == [((True, True), (False, True)), ((False, False), (True, True))]  # one change each
    assert [button.description for line in grid.buttons for button in line] == [
        "hidden",
        "hidden",
        "allowed",
        "allowed",
    ]


def test_five_hundred_moves_leave_nothing_behind():
    explorer = explorers.soft_lookup()
    slider = explorer.widgets["stretch"]

    def move(times):
        for value in itertools.islice(itertools.cycle((0, 2, 30, 0.5)), times):
            slider.value = value
        gc.collect()
        return sum(isinstance(thing, Picture) for thing in gc.get_objects())

    tracemalloc.start()
    kept = move(250)
    before, _ = tracemalloc.get_traced_memory()
    assert move(250) == kept
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 100_000  # bytes; one kept picture alone has more than that
    assert plt.get_fignums() == []


def counting(calls):
    """Give an explorer whose function notes each call, and cannot draw 7."""

    def view(n):
        calls.append(n)
        if n == 7:
            raise ValueError("7 cannot be drawn.")
        return View(Picture(1, 1, "one"), f"This is {n}.")

    return Explorer(view, {"n": Slider("number", 0, 99, 4)})


def test_the_next_steps_are_drawn_while_nobody_waits(monkeypatch):
    monkeypatch.setattr(shell, "QUIET", 0)
    calls = []
    explorer = counting(calls)

    async def by_hand():
        explorer.widgets["n"].value = 6
        while len(explorer._drawn) < 99:  # all but the one that cannot be drawn
            await asyncio.sleep(0)
        assert calls[:8] == [4, 6, 7, 5, 11, 1, 99, 0]  # one step, a page, the ends
        assert calls[8:13] == [8, 9, 3, 10, 2]  # then what a click can lead to, the nearest first; 4 is there
        assert sorted(calls) == list(range(100))
        explorer.widgets["n"].value = 5
        explorer.widgets["n"].value = 50
        assert len(calls) == 100  # they were there
        assert explorer.sentence == "This is 50."
        explorer.widgets["n"].value = 7
        assert explorer.sentence.startswith("7 cannot be drawn.")

    asyncio.run(by_hand())


def test_a_move_puts_off_what_nobody_waits_for(monkeypatch):
    monkeypatch.setattr(shell, "QUIET", 0)
    calls = []
    explorer = counting(calls)

    async def by_hand():
        explorer.widgets["n"].value = 20
        explorer.widgets["n"].value = 30
        while len(calls) < 8:
            await asyncio.sleep(0)
        assert calls[:8] == [4, 20, 30, 31, 29, 35, 25, 99]  # around 30, nothing around 20

    asyncio.run(by_hand())


def test_two_threads_draw_one_after_the_other():
    """JupyterLab may move an explorer in one thread while its next steps are drawn in another."""
    explorer = explorers.two_vectors()
    angles = list(range(5, 180, 5))
    alone = {angle: explorer.view(**{**explorer.start, "angle": angle}).picture.frame() for angle in angles}
    drawn = {}

    def draw(some):
        for angle in some:
            drawn[angle] = explorer._frame({**explorer.start, "angle": angle}).image

    with ThreadPoolExecutor(2) as pool:
        for task in [pool.submit(draw, angles[::2]), pool.submit(draw, angles[1::2])]:
            task.result()
    assert drawn == alone


def test_while_a_cell_draws_an_explorer_waits():
    with pictures.look(), ThreadPoolExecutor(1) as pool:
        assert not pool.submit(pictures.drawing.acquire, blocking=False).result()


def test_only_so_many_drawings_are_kept(monkeypatch):
    monkeypatch.setattr(shell, "MOST_DRAWN", 40)
    explorer = counting([])
    for n in range(8, 90):
        explorer.widgets["n"].value = n
    assert len(explorer._drawn) == 40


def test_a_whole_slider_is_kept_as_drawn(explorer):
    for control in explorer.controls.values():
        assert len(control.others(control.start)) < shell.MOST_DRAWN


def test_a_picture_drawn_over_another_is_the_same_to_the_byte(explorer):
    shown = [{**explorer.start, **setting} for setting in SETTINGS[name_of(explorer)]]
    fresh = [explorer.view(**setting) for setting in shown]
    images = [view.picture.frame() for view in fresh]
    old = None
    for place in (*range(len(shown)), *range(0, len(shown), 2), *range(1, len(shown), 2)):
        with pictures.drawn_over(old):
            view = explorer.view(**shown[place])
        assert view.picture.frame() == images[place]
        assert (view.sentence, repr(view.picture)) == (fresh[place].sentence, repr(fresh[place].picture))
        old = view.picture
    assert explorer._sheet is not old  # the explorer has its own


def test_a_size_for_a_room_is_not_drawn_over_the_usual_one(monkeypatch):
    explorer = explorers.temperature()
    usual = explorer._image.value
    monkeypatch.setattr(pictures, "scale", pictures.PROJECTOR)
    explorer.widgets["a"].value = 1.0
    assert explorer._image.value == explorer.view(**explorer.values).picture.frame()
    assert len(explorer._image.value) > len(usual)


def test_what_was_drawn_in_the_usual_size_is_drawn_anew_for_a_room(monkeypatch):
    explorer = explorers.soft_lookup()
    explorer.widgets["stretch"].value = 5
    monkeypatch.setattr(pictures, "scale", pictures.PROJECTOR)
    explorer.widgets["stretch"].value = 1  # where it began
    assert explorer._image.value == explorer.view(stretch=1).picture.frame()


def test_a_number_that_a_page_sends_is_rounded():
    explorer = explorers.two_vectors()
    explorer.widgets["length"].value = 0.1 + 0.2
    assert explorer.values == {"angle": 59, "length": 0.3}


def test_what_comes_next_is_drawn_also_from_a_number_that_a_page_sends(monkeypatch):
    monkeypatch.setattr(shell, "QUIET", 0)
    calls = []

    def view(x):
        calls.append(x)
        return View(Picture(1, 1, "one"), f"This is {x}.")

    explorer = Explorer(view, {"x": Slider("number", 0.0, 0.5, 0.1, 0.1)})

    async def by_hand():
        explorer.widgets["x"].value = 0.1 + 0.2
        while len(calls) < 6:
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(by_hand(), 60))
    assert calls == [0.1, 0.3, 0.4, 0.2, 0.5, 0.0]


# --- the pictures they are made of --------------------------------------------------------------------


def test_a_product_frames_the_row_and_the_column_that_meet():
    left, right = np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(2, 4)
    picture = pictures.matrix_product(
        left, right, names=("A", "B", "C"), tokens=list("abc"), columns=list("wxyz"), row=1, column=2
    )
    framed = [{(p.get_x() + 0.5, p.get_y() + 0.5) for p in axes.patches} for axes in picture.axes]
    assert framed == [{(0, 1), (1, 1)}, {(2, 0), (2, 1)}, {(2, 1)}]
    for axes, matrix in zip(picture.axes, (left, right, left @ right), strict=True):
        assert [float(text.get_text()) for text in axes.texts] == matrix.ravel().tolist()
    assert clashes(picture) == []


def test_pale_cells_can_be_read():
    numbers = np.linspace(0, 1, 24).reshape(4, 6)
    for kind in pictures.COLOURS:
        picture = Picture(6, 4, "pale")
        axes = picture.add_subplot()
        lit = np.zeros(numbers.shape, bool)
        lit[:2] = True
        pictures.draw_matrix(axes, numbers, list("abcd"), list("uvwxyz"), kind=kind, lit=lit)
        image = axes.get_images()[0]
        papers = image.cmap(image.norm(image.get_array())).reshape(-1, 4)
        for text, paper in zip(axes.texts, papers, strict=True):
            assert pictures.contrast(text.get_color(), paper[:3]) >= 4.5


def test_arcs_are_as_broad_as_the_weights_and_end_at_their_tokens():
    weights = [0.1, 0.6, 0.3, 0.0]
    picture = pictures.arcs(weights, ["a", "b", "c", "d"], query=2)
    arcs = picture.axes[0].patches
    assert len(arcs) == 3  # none for the weight of 0
    np.testing.assert_allclose([(arc.get_linewidth() - 0.6) / 9 for arc in arcs], weights[:3])
    ends = [{arc.center[0] - arc.width / 2, arc.center[0] + arc.width / 2} for arc in arcs[:2]]
    assert ends == [{0, 2}, {1, 2}]
    assert clashes(picture) == []


@pytest.mark.parametrize(
    ("key", "degrees"), [([3.0, 0.0], 45), ([-1.0, 1.0], 90), ([-2.0, -2.0], 180), ([0.0, -1.0], 135)]
)
def test_the_angle_and_the_shadow_are_where_they_should_be(key, degrees):
    axes = Picture(4, 4, "an angle").add_subplot()
    pictures.draw_angle(axes, [1.0, 1.0], key)
    assert axes.texts[0].get_text() == f"{degrees}°"
    arc = axes.patches[0]
    assert abs(arc.theta2 - arc.theta1) == pytest.approx(degrees)
    dropped, shadow = axes.lines
    foot = np.array([dropped.get_xdata()[1], dropped.get_ydata()[1]])
    assert (foot - key) @ [1.0, 1.0] == pytest.approx(0, abs=1e-12)  # at a right angle to the query
    np.testing.assert_allclose([shadow.get_xdata()[1], shadow.get_ydata()[1]], foot)
