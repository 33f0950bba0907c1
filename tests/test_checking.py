"""The engine behind the exercises: what it says, in which order, and that nothing a learner writes can hurt it."""

import time
import unicodedata
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import attnlib
from attnlib import desk, exercises, softmax, solved
from attnlib.exercises import kinds, messages, running
from attnlib.exercises.verdicts import Note, as_note

ROWS = "05-softmax-rows"


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(running, "TIME_LIMIT", 0.3)


def text(given, exercise=ROWS):
    return exercises.find(exercise).judge(given).text


def reason(given, exercise=ROWS):
    return exercises.find(exercise).judge(given).reason


# --- the order of the complaints ----------------------------------------------------------------------


def test_not_callable():
    assert text(softmax(np.eye(3))) == (
        "Not yet. The check needs your function itself, without brackets; it got an array of shape (3, 3)."
    )


def test_raises_with_the_learners_own_line():
    def answer(scores):
        first = scores[0]
        return first.shape[7]

    assert text(answer).startswith(
        "Not yet. Your code stopped with IndexError: tuple index out of range, in line "
    )
    assert text(answer).endswith("of your code: return first.shape[7]")
    assert "File" not in text(answer)
    assert "Traceback" not in text(answer)


def test_raises_inside_a_library_still_shows_the_learners_line():
    def answer(scores):
        return np.linalg.inv(scores)

    assert text(answer).endswith("of your code: return np.linalg.inv(scores)")


def test_wrong_number_of_arguments():
    assert "takes 0 positional arguments but 1 was given, when your function was called" in text(lambda: 1)


def test_a_builtin_that_raises_has_no_line():
    assert text(int).endswith("when your function was called")


def test_nothing_returned():
    def answer(scores):
        scores.sum()

    assert text(answer) == "Not yet. Your function returned nothing: is there a return in its last line?"


@pytest.mark.parametrize("value", ["text", {"a": 1}, [[1, 2], [3]], object(), [object()], np.array(["a"])])
def test_wrong_type(value):
    assert reason(lambda scores: value) == "type"


def test_wrong_shape():
    assert (
        text(lambda scores: scores[0]) == "Not yet. The shape is (7,); expected (4, 7) (the inputs were (4, 7))."
    )


@pytest.mark.parametrize("dtype", [complex, bool])
def test_wrong_dtype(dtype):
    assert reason(lambda scores: np.ones_like(scores, dtype)) == "dtype"


def test_nan():
    assert text(lambda scores: np.full_like(scores, np.nan)) == (
        "Not yet. There is nan at (0, 0), where an ordinary number should be."
    )


def test_a_changed_input_is_noticed():
    def answer(scores):
        scores -= scores.max(axis=-1, keepdims=True)
        return softmax(scores)

    assert text(answer).startswith("Not yet. Your code changes its input number 1.")


def test_properties_come_before_values():
    assert reason(lambda scores: softmax(scores) * 2) == "rows-sum-to-one"

    def negative(scores):
        weights = np.zeros_like(scores)
        weights[:, 0], weights[:, 1] = -1, 2
        return weights

    assert reason(negative) == "no-negative"


def test_values_show_where_and_how_far():
    def answer(scores):
        weights = softmax(scores)
        weights[1, 2] += 0.5
        weights[1, 3] -= 0.25
        weights[1, 4] -= 0.25
        return np.abs(weights) / np.abs(weights).sum(axis=-1, keepdims=True)

    said = text(answer)
    assert said.startswith("Not yet. The shape is right, some numbers are not. The largest difference is ")
    assert ", at (1, 2): expected " in said
    lines = said.splitlines()
    assert lines[1].split() == ["expected", "got"]
    assert [line.split()[:2] for line in lines[2:]] == [["row", str(i)] for i in range(4)]
    assert len({line.index("      ") for line in lines[2:]}) == 1  # aligned
    assert all(line.count("...") == 2 for line in lines[2:])  # six of seven columns are shown


def test_large_and_deep_results_are_cut_around_the_fault():
    expected = np.zeros((2, 9, 11))
    got = expected.copy()
    got[1, 7, 8] = 5
    shown = kinds.side_by_side(expected, got, (1, 7, 8)).splitlines()
    assert len(shown) <= 7
    assert "5.000" in "".join(shown)
    assert shown[1].startswith("row 4  ...")
    assert kinds.side_by_side(np.array([1.0, 5.0]), np.array([2.0, 5.0]), (0,)).splitlines()[1].split() == (
        ["row", "0", "1.000", "5.000", "2.000", "5.000"]
    )


def test_single_numbers_are_compared_as_such():
    assert text(lambda a, b: a * b, "03-cosine") == "Not yet. Expected one number; got an array of shape (4,)."
    assert text(lambda a, b: 0.5, "03-cosine").startswith("Not yet. Expected ")
    assert text(lambda a, b: 0.5, "03-cosine").endswith(", got 0.5.")


def test_a_shape_without_array_inputs():
    assert text(lambda n, d: np.ones(n), "01-positions") == "Not yet. The shape is (7,); expected (7, 4)."


def test_a_product_that_does_not_fit_is_said_plainly():
    def answer(Q, K, V):
        return V @ Q

    assert text(answer, "06-attention").startswith(
        "Not yet. Your code stopped with ValueError: a product with @ whose inner sizes do not fit, in line "
    )


# --- time, threads, stubs -----------------------------------------------------------------------------


def test_an_endless_loop_is_stopped(quick):
    def endless(scores):
        while True:
            pass

    assert text(endless) == "Not yet. Your code was stopped after a few seconds: is there a loop that never ends?"


def test_an_endless_loop_that_catches_everything_is_stopped(quick):
    def stubborn(scores):
        while True:
            try:
                while True:
                    pass
            except Exception:
                pass

    assert reason(stubborn) == "time"


def test_a_long_wait_in_c_code_does_not_hold_the_kernel(quick, monkeypatch):
    monkeypatch.setattr(running, "TIME_LIMIT", 0.05)
    assert reason(lambda scores: time.sleep(3)) == "time"


def test_endless_recursion_is_an_error_like_any_other():
    def deeper(scores):
        return deeper(scores)

    assert "RecursionError" in text(deeper)


def test_an_answer_that_exits_does_not_end_the_kernel():
    def leave(scores):
        raise SystemExit

    assert "SystemExit" in text(leave)


def test_what_counts_as_a_stub():
    def with_docstring(x):
        """Do it."""

    def only_pass(x):
        pass

    def returns_zero(x):
        return 0

    def returns_ellipsis(x):
        return ...

    assert all(map(running.is_stub, (with_docstring, only_pass, returns_ellipsis, ...)))
    assert not any(map(running.is_stub, (returns_zero, np.exp, 5, None, "b", lambda x: x)))


def test_an_unfinished_answer_that_returns_its_dots_is_not_started():
    def unfinished(scores):
        total = ...
        return total

    assert exercises.check(ROWS, unfinished).kind == "not-started"


def test_no_warning_reaches_the_learner(recwarn):
    assert text(lambda scores: np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)).startswith("Not yet.")
    assert not recwarn


# --- other kinds --------------------------------------------------------------------------------------


def test_numbers():
    exercise = "05-by-hand"
    assert text(0.61, exercise).startswith("Right.")
    assert text(np.float32(0.605), exercise).startswith("Right.")
    assert text(np.array([0.605]), exercise).startswith("Right.")
    assert text(0.7, exercise) == "Not yet. 0.7 is too high."
    assert text(0.2, exercise) == "Not yet. 0.2 is too low."
    assert text("0.6", exercise) == "Not yet. Expected one number; got '0.6' (str)."
    assert text([1, 2], exercise) == "Not yet. Expected one number; got [1, 2] (list)."
    assert reason(True, exercise) == "number"


def test_choices():
    exercise = "05-shift"
    assert text(" B ", exercise).startswith("Right.")
    assert text("e", exercise) == "Not yet. Expected one of a, b, c, d; got 'e' (str)."
    assert reason(2, exercise) == "choice"
    assert text(2, "05-hunt").startswith("Right.")
    assert exercises.find("05-hunt").judge(np.int64(3)).mistake == "3"
    assert reason(True, "05-hunt") == "choice"
    assert "The answer is b." in exercises.answer(exercise).text


def test_orders():
    exercise = "05-steps"
    for right in ("bdac", "b d a c", "B, D, A, C", ["b", "d", "a", "c"], ("b", "d", "a", "c")):
        assert text(right, exercise).startswith("Right."), right
    assert text("cdab", exercise) == "Not yet. The first step out of place is number 1: c."
    assert text("bdaa", exercise) == "Not yet. Expected each of a, b, c, d exactly once; got 'bdaa' (str)."
    assert reason(5, exercise) == "order"


def test_long_values_are_described_shortly():
    assert kinds.describe("x" * 100) == f"'{'x' * 36}... (str)"


# --- what learners never meant to try ------------------------------------------------------------------


def test_an_error_is_named_as_a_mistake_only_if_it_is_the_same_error():
    assert reason(lambda scores: int("x")) == "raises"
    assert reason(lambda scores: scores.reshape(3, 1000)) == "raises"
    assert "axis is 2" in text(lambda scores: softmax(scores, axis=2))


def test_unsafe_ways_to_subtract_are_refused():
    for centre in (np.mean, np.median, lambda s, axis, keepdims: s[:, :1]):

        def answer(scores, centre=centre):
            e = np.exp(scores - centre(scores, axis=-1, keepdims=True))
            return e / e.sum(axis=-1, keepdims=True)

        assert reason(answer) == "nan"


def test_nearly_right_numbers_are_told_apart():
    said = text(lambda d, h: round(float(1 / np.sqrt(d / h)), 4), "04-scale")
    assert said == "Not yet. Expected 0.17678, got 0.1768."


def test_an_at_sign_between_numbers_is_not_called_a_matter_of_sizes():
    def answer(X, W_Q, W_K, i, j):
        return (X[i] @ W_Q).sum() @ (X[j] @ W_K)

    assert "inner sizes" not in text(answer, "02-score")


def test_settings_of_the_learner_do_not_break_the_check():
    with np.errstate(all="raise"):
        assert text(softmax).startswith("Right.")
        assert text("c", "04-jacobian").startswith("Right.")
        assert text(lambda scores: np.full(scores.shape, 1e308)).startswith("Not yet.")


def test_an_answer_may_use_one_buffer_again_and_again():
    buffers = {}

    def answer(Q, K):
        out = buffers.setdefault((len(Q), len(K)), np.empty((len(Q), len(K))))
        return np.matmul(Q, K.T, out=out)

    assert text(answer, "03-all-pairs").startswith("Right.")


def test_an_input_given_another_dtype_counts_as_changed():
    def answer(scores):
        weights = softmax(scores)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer NumPy advises against it
            scores.dtype = "S8"
        return weights

    assert reason(answer) == "changed"


class Strange:
    def __array__(self, *args, **kwargs):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError

    def __getattr__(self, name):
        raise RuntimeError


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError


def test_strange_objects_do_not_break_the_check():
    def unspeakable(scores):
        raise UnspeakableError

    assert reason(lambda scores: Strange()) == "type"
    assert reason(Strange()) == "callable"
    assert "UnspeakableError" in text(unspeakable)
    assert reason(10**5000, "04-deviation") == "number"
    assert reason([Strange()], "05-steps") == "order"
    assert reason(np.ma.masked_array([8.0], mask=[True]), "04-deviation") == "number"
    assert text(lambda scores: np.full(scores.shape, "x")).startswith(
        "Not yet. Your function returned an array of shape (4, 7) that holds <U1;"
    )
    assert reason(lambda scores: softmax(scores) + 1e-9j) == "dtype"
    with pytest.raises(ValueError, match="There is no exercise"):
        exercises.check(["05-hunt"], 1)
    with pytest.raises(ValueError, match="Did you mean: 05-softmax-rows"):
        exercises.check("05-SOFTMAX-ROW", 1)


def test_fractions_and_decimals_are_numbers_and_nan_is_none():
    assert text(Fraction(8), "04-deviation").startswith("Right.")
    assert text(Decimal(8), "04-deviation").startswith("Right.")
    assert reason(float("nan"), "04-deviation") == "number"


def test_hangul_may_be_typed_in_any_form():
    assert text(unicodedata.normalize("NFD", "배"), "06-verdict").startswith("Right.")


# --- hints, answers, ids ------------------------------------------------------------------------------


def test_hints_come_one_at_a_time(monkeypatch):
    monkeypatch.setattr(exercises, "_hints_given", {})
    given = [exercises.hint(ROWS).text for _ in range(4)]
    assert [line.split(".")[0] for line in given[:3]] == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3"]
    assert given[3] == f'That was the last hint. To see the answer: answer("{ROWS}")'


def test_the_answer_is_the_tested_source():
    shown = exercises.answer(ROWS).text.split("\n", 1)[1]
    names = {"np": np}
    exec(shown, names)
    assert exercises.find(ROWS).judge(names["softmax_rows"]).kind == "solved"


def test_progress_is_there_without_importing_exercises():
    assert attnlib.progress is exercises.progress
    assert {name for name in attnlib.__all__ if not hasattr(attnlib, name)} == set()
    for name, module in attnlib.LATER.items():
        assert not (Path(attnlib.__file__).parent / f"{name}.py").exists(), (
            f"a module would hide {name} of {module}"
        )
    with pytest.raises(AttributeError, match="module 'attnlib' has no attribute 'nothing'"):
        attnlib.nothing  # noqa: B018


def test_an_unknown_id_is_named():
    with pytest.raises(ValueError, match="There is no exercise") as caught:
        exercises.check("05-softmax-row", ...)
    assert str(caught.value) == 'There is no exercise "05-softmax-row". Did you mean: 05-softmax-rows?'
    with pytest.raises(ValueError, match="05-by-hand, "):
        exercises.check("zzz", ...)


# --- the desk -----------------------------------------------------------------------------------------


@pytest.fixture
def on_a_desk(tmp_path, monkeypatch):
    course = desk.course_root()
    desk.lay_out(tmp_path / "work", course)
    monkeypatch.chdir(tmp_path / "work" / "notebooks")
    return tmp_path / "work"


def test_results_are_kept_on_the_desk(on_a_desk):
    exercises.check(ROWS, ...)
    assert not (on_a_desk / "progress.json").exists()
    exercises.check(ROWS, lambda scores: softmax(scores, axis=0))
    exercises.check(ROWS, lambda scores: scores * 0)
    verdict = exercises.check(ROWS, softmax)
    assert verdict.text == "Right. This function turns any matrix of scores into weights, whatever their size."
    known = solved.load(on_a_desk)
    assert known.sentences == ()
    entry = known.exercises[ROWS]
    assert (bool(entry.solved), entry.tries, dict(entry.mistakes)) == (True, 3, {"wrong-axis": 1})
    assert "1 of 7" in exercises.progress().text


def test_away_from_a_desk_nothing_is_kept_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        exercises.check(ROWS, softmax).text.splitlines()[1].startswith("(Not kept: this notebook is not on your")
    )
    assert exercises.check(ROWS, lambda scores: scores).text.count("Not kept") == 0
    assert list(tmp_path.iterdir()) == []


def test_a_result_that_cannot_be_saved_is_said(on_a_desk, monkeypatch):
    monkeypatch.setattr(solved, "record", lambda *a, **k: "Your progress could not be saved: the disk is full.")
    assert exercises.check(ROWS, softmax).text.endswith("\nYour progress could not be saved: the disk is full.")


# --- messages -----------------------------------------------------------------------------------------


def test_a_translation_falls_back_to_english(tmp_path, monkeypatch):
    for language, content in (("en", messages.catalogue("en")), ("ko", None)):
        source = messages.FOLDER / "messages.en.toml" if content else None
        text = source.read_text(encoding="utf-8") if source else '[engine]\nright = "맞아요. {allows}"\n'
        (tmp_path / f"messages.{language}.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(messages, "FOLDER", tmp_path)
    messages.catalogue.cache_clear()
    monkeypatch.setenv("ATTNLIB_LANGUAGE", "ko")
    assert messages.say("right", allows="Go on.") == "맞아요. Go on."
    assert messages.say("too-high") == "too high"
    monkeypatch.setenv("ATTNLIB_LANGUAGE", "xx")
    with pytest.raises(ValueError, match="ATTNLIB_LANGUAGE is 'xx', but there are only: en, ko"):
        messages.say("right", allows="")
    monkeypatch.undo()
    messages.catalogue.cache_clear()
    with pytest.raises(KeyError, match="no message for engine"):
        messages.say("no-such-message")


def test_html_escapes_what_learners_write():
    shown = as_note("wrong", "first <b>\nsecond & third")
    assert "&lt;b&gt;" in shown
    assert "<pre" in shown
    assert "second &amp; third" in shown
    assert 'role="status"' in Note("hi")._repr_html_()
    assert exercises.check(ROWS, ...)._repr_html_().startswith("<div")
    assert "color:" not in shown.replace("border-left", "")  # text keeps the colours of the theme, light or dark
