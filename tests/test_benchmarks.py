"""The benchmark runs on tiny sizes, its page and its picture can be made, and it goes on without torch."""

import io
import json
import math
from functools import partial

import growth
import numpy as np
import pytest

from benchmarks import __main__ as program
from benchmarks import blockwise, imports, machine, memory, peers, table, timing, validation
from benchmarks.notebooks import NOTEBOOKS, code_cells, only_imports
from benchmarks.timing import Figure, Measured, interleave, middle_half, ratio


@pytest.fixture(autouse=True)
def without_torch_or_pauses(monkeypatch):
    monkeypatch.setattr(peers, "torch", lambda: None)
    monkeypatch.setattr(blockwise, "interleave", partial(interleave, pause=0))


@pytest.mark.parametrize(
    "name", [name for name in program.MEASUREMENTS if name not in ("imports", "explorers", "validation")]
)
def test_each_measurement_runs_on_tiny_sizes(name, capsys):
    assert program.main(["--quick", "--only", name]) == 0
    said = capsys.readouterr().out
    assert peers.NO_TORCH in said
    assert f"== {name} (" in said
    assert said.count("\n| ") > 2  # a table with at least one figure
    assert "/ torch" not in said
    assert "Nothing is stored" in said


def test_what_does_not_fit_into_the_memory_is_left_out(monkeypatch):
    monkeypatch.setattr(machine, "can_hold", lambda size: size < blockwise.scores_at_once(64))
    times, sizes = blockwise.measure(quick=True), memory.measure(quick=True)
    for line in (times.curves["full"], times.curves["causal"], sizes.curves["megabytes"]):
        assert {name: len(numbers) for name, numbers in line.items()} == {
            "in blocks": 3,
            "attention": 2,
            "tutorials": 2,
        }
    assert "tutorials' NumPy / in blocks, n = 32, causal" in [figure.name for figure in times.figures]
    assert "tutorials' NumPy / in blocks, n = 64, causal" not in [figure.name for figure in times.figures]


def test_the_tutorials_way_takes_what_is_said():
    Q, K, V = peers.draw(blockwise.HEADS, 128, blockwise.D)
    taken = memory.peak(lambda: peers.tutorial_attention(Q, K, V, causal=True))
    assert 1 <= taken / blockwise.scores_at_once(128) < 1.25  # the quarter that `can_hold` adds


def test_a_whole_run_stores_results_and_a_page_and_goes_on_after_a_failure(tmp_path, monkeypatch, capsys):
    def measure(quick):
        raise ValueError("the peers differ")

    monkeypatch.setattr(program, "MEASUREMENTS", ("blockwise", "memory", "calls"))
    monkeypatch.setattr(blockwise, "LENGTHS", (16, 32))
    monkeypatch.setattr("benchmarks.memory.LENGTHS", (16, 32))
    monkeypatch.setattr("benchmarks.calls.measure", measure)
    assert program.main([], tmp_path) == 0
    assert "== calls is left out: the peers differ" in capsys.readouterr().out
    stored = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    figures = [Figure(**figure) for figure in stored["figures"]]
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert all(f"| {figure.name} |" in page for figure in figures)
    assert page == table.page(stored["machine"], figures, stored["curves"])
    assert {"in blocks", "attention", "tutorials"} == set(stored["curves"]["blockwise"]["full"])
    picture = growth.draw(stored["curves"])
    assert "blockwise_attention" in repr(picture)
    drawn = [io.BytesIO(), io.BytesIO()]
    for file in drawn:
        growth.draw(stored["curves"]).save(file, "svg")
    assert drawn[0].getvalue() == drawn[1].getvalue()


def test_the_stored_page_is_that_of_the_stored_results():
    stored = json.loads((program.FOLDER / "results.json").read_text(encoding="utf-8"))
    figures = [Figure(**figure) for figure in stored["figures"]]
    page = (program.FOLDER / "README.md").read_text(encoding="utf-8")
    assert page == table.page(stored["machine"], figures, stored["curves"])


def test_the_picture_shows_what_was_stored():
    curves = {
        "blockwise": {
            "lengths": [1024, 2048],
            "full": {"in blocks": [0.01, 0.04], "attention": [0.02]},
            "exponents": {"full": {"in blocks": 2.0, "attention": 2.0}},
        },
        "memory": {
            "lengths": [1024, 2048],
            "megabytes": {"in blocks": [1.0, 2.0]},
            "exponents": {"in blocks": 1.0},
        },
    }
    time, memory = growth.draw(curves).axes
    drawn = {line.get_label(): line.get_xydata().tolist() for line in time.lines}
    assert drawn == {
        "attention: n^2.0": [[1024, 20]],
        "blockwise_attention: n^2.0": [[1024, 10], [2048, 40]],
    }
    assert [line.get_xydata().tolist() for line in memory.lines] == [[[1024, 1], [2048, 2]]]
    assert "blockwise_attention 10 to 40 (as n to the 2.0)" in repr(growth.draw(curves))


def test_contestants_have_their_turns_one_after_the_other(monkeypatch):
    order = []
    calls = {name: partial(order.append, name) for name in "ab"}
    times = interleave(calls, rounds=2, repeat=2, pause=0)
    assert "".join(order) == "aaabbb" * 2  # the first of each turn does not count
    assert [len(seconds) for seconds in times.values()] == [2, 2]
    monkeypatch.setattr(timing, "ENOUGH", 0)  # a machine so busy that it takes too long
    assert [len(seconds) for seconds in interleave(calls, rounds=9, pause=0).values()] == [3, 3]
    order.clear()
    interleave({"a": lambda: order.append("a")}, rounds=1, pause=0, warm_up=False)
    assert order == ["a"]


def test_a_turn_that_lost_the_processor_is_taken_anew_but_not_for_ever(monkeypatch):
    order = []
    clock = iter([0, 1, 1, 1, *range(2, 2 + 2 * timing.TRIES)])  # lost, quiet, and then lost each time
    monkeypatch.setattr(timing, "stolen", lambda: next(clock))
    times = interleave({"a": lambda: order.append("a")}, rounds=2, pause=0, warm_up=False)
    assert len(times["a"]) == 2
    assert len(order) == 2 + timing.TRIES


def test_a_ratio_is_of_the_bests_and_of_each_round():
    figure = ratio("x", [3.0, 2.0, 8.0], [1.0, 2.0, 2.0], "≥ 2")
    assert (figure.best, figure.median, figure.low, figure.high) == (2.0, 3.0, 2.0, 3.5)
    assert figure.reached
    assert not ratio("x", [1.9], [1.0], "≥ 2").reached
    assert ratio("x", [1.0], [1.0]).reached is None
    assert middle_half([1.0, 2.0, 3.0, 4.0, 5.0]) == (2.0, 4.0)


def test_peers_that_differ_are_not_timed():
    with pytest.raises(ValueError, match=r"demo: the peers differ by 1\.0e\+00; expected at most 1e-05"):
        peers.require_equal("demo", np.zeros(2), np.ones(2), 1e-5)
    with pytest.raises(ValueError, match="nan"):
        peers.require_equal("demo", np.zeros(2), np.full(2, math.nan), 1e-5)


@pytest.mark.parametrize("causal", [False, True])
def test_the_tutorials_attention_is_ours_in_float64(causal):
    Q, K, V = peers.draw(2, 20, 8)
    theirs = peers.tutorial_attention(Q, K, V, causal)
    assert theirs.dtype == np.float64  # by accident: the accident that is measured
    peers.require_equal("attention", blockwise.attention(Q, K, V, causal=causal).output, theirs, 1e-6)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem[:2])
def test_the_floor_of_a_chapter_only_imports(path):
    (cell,) = only_imports(path)["cells"]
    assert cell["source"].startswith(("import ", "from "))
    assert all(line.startswith(("import ", "from ")) for line in cell["source"].splitlines())
    assert "import numpy as np" in cell["source"]
    assert "import numpy as np" in "\n".join(code_cells(path))


def test_a_program_that_fails_is_not_timed():
    imports.run("pass")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        imports.run("1 / 0")


def test_a_notebook_that_fails_is_not_timed(tmp_path):
    missing = tmp_path / "none.ipynb"
    with pytest.raises(RuntimeError, match="the notebooks have 1 cells, and pytest says"):
        validation.validate([missing], 1)


def test_the_floor_starts_a_kernel_for_every_chapter(tmp_path):
    for path in sorted(NOTEBOOKS.glob("*.ipynb"))[:2]:
        (tmp_path / path.name).write_text(json.dumps(only_imports(path)), encoding="utf-8")
    with pytest.raises(RuntimeError, match="the notebooks have 3 cells, and pytest says: 2 passed"):
        validation.validate([tmp_path], 3)


def test_the_machine_is_described_without_names_or_paths():
    described = machine.describe()
    assert described["torch"] == "not here"
    assert described["NumPy"] == np.__version__
    assert all("/" not in what for what in described.values())
    assert isinstance(Measured([]).curves, dict)
