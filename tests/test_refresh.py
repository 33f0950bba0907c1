"""tools/refresh.py stores the same bytes when nothing changed, and nothing at all when a cell fails."""

import json
import subprocess
import sys

import pytest
import refresh
from nbformat import v4
from notebook_linter import lint

FIGURE = """import matplotlib.pyplot as plt
fig, ax = plt.subplots(figsize=(2, 1))
_ = ax.plot([1, 2])"""

WIDGET = """import io
import ipywidgets as w
png = io.BytesIO()
fig.savefig(png, format="png")
w.VBox([w.Image(value=png.getvalue()), w.HTML("<b>bold</b>")])"""

SOURCES = ["print('é', flush=True)\nprint(f'{2 / 3:.3f}')\n1 + 1", FIGURE, WIDGET]


def write(path, *sources, **metadata):
    cells = [v4.new_markdown_cell("# 05 Test", id="title")]
    for n, source in enumerate(sources):
        cells += [v4.new_code_cell(source, id=f"code-{n}"), v4.new_markdown_cell("Text.", id=f"text-{n}")]
    path.write_text(json.dumps(v4.new_notebook(cells=cells, metadata=metadata)), encoding="utf-8", newline="\n")
    return path


def outputs(path, cell):
    return json.loads(path.read_text(encoding="utf-8"))["cells"][cell - 1]["outputs"]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A refreshed notebook with text, numbers, a figure and a widget, and its first bytes."""
    path = write(tmp_path_factory.mktemp("notebooks") / "05-test.ipynb", *SOURCES, widgets={}, other=1)
    assert refresh.main([str(path)]) == 0
    return path, path.read_bytes()


def test_second_run_changes_no_byte(fresh, tmp_path, capsys):
    path, content = fresh
    copy = tmp_path / path.name
    copy.write_bytes(content)
    assert refresh.refresh(copy) == (content, [])
    assert refresh.main(["--check", str(copy)]) == 0
    assert "unchanged" in capsys.readouterr().out


def test_result_is_clean(fresh):
    path, content = fresh
    assert lint(path, path.parent) == []
    assert b"\r" not in content
    assert content.startswith(b'{\n "cells"')
    assert content.endswith(b"}\n")
    assert "é".encode() in content
    assert [cell["id"] for cell in json.loads(content)["cells"]] == [
        "title", "code-0", "text-0", "code-1", "text-1", "code-2", "text-2"
    ]  # fmt: skip
    assert [path.name] == [entry.name for entry in path.parent.iterdir()]


def test_outputs_are_stored(fresh):
    path, _ = fresh
    stream, result = outputs(path, 2)
    assert "".join(stream["text"]) == "é\n0.667\n"
    assert result["data"] == {"text/plain": ["2"]}
    assert outputs(path, 4)[0]["data"].keys() == {"image/png", "text/plain"}
    assert outputs(path, 6)[0]["data"].keys() == {"text/plain"}


def test_nbval_agrees(fresh):
    path, _ = fresh
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "--nbval"]
    command += ["--nbval-current-env", "--nbval-cell-timeout=120", path.name]
    run = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=300, check=False)
    assert "3 passed" in run.stdout, run.stdout


def test_check_names_what_would_change_and_writes_nothing(fresh, tmp_path, capsys):
    path, content = fresh
    copy = tmp_path / path.name
    stale = content.replace(b"0.667", b"0.666").replace(b'"VBox(', b'"HBox(')
    copy.write_bytes(stale)
    assert refresh.main(["--check", str(copy)]) == 1
    assert copy.read_bytes() == stale
    assert capsys.readouterr().out.splitlines()[1:] == ["  cell 2: stdout", "  cell 6: text/plain"]


def test_stale_outputs_line_ends_and_leftovers_are_replaced(tmp_path):
    path = write(tmp_path / "05-test.ipynb", "print(2)")
    nb = json.loads(path.read_text(encoding="utf-8"))
    nb["cells"][1].update(
        execution_count=7,
        metadata={"tags": ["x"], "course": {"a": 1}, "collapsed": True, "execution": {"iopub.status.busy": "now"}},
        outputs=[v4.new_output("stream", name="stdout", text="stale\n")],
        source="print(2)\r\nprint(3)",
    )
    nb["cells"][2]["id"] = "title"
    path.write_text(json.dumps(nb, indent=4), encoding="utf-8", newline="\r\n")
    assert b"\r\n" in path.read_bytes()
    assert refresh.main([str(path)]) == 0
    assert b"\r" not in path.read_bytes()
    title, code, text = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert "".join(code["outputs"][0]["text"]) == "2\n3\n"
    assert "".join(code["source"]) == "print(2)\nprint(3)"
    assert code["execution_count"] == 1
    assert code["metadata"] == {"tags": ["x"], "course": {"a": 1}}
    assert [title["id"], code["id"], text["id"]] == ["title", "code-0", "cell-3"]


def test_error_leaves_the_file_alone_and_the_others_are_done(tmp_path, capsys):
    bad = write(tmp_path / "05-bad.ipynb", "print(1)", "x = 1\nx / 0")
    good = write(tmp_path / "06-good.ipynb", "print(1)")
    content = bad.read_bytes()
    (tmp_path / "07-no.ipynb").write_text("{}")
    names = [str(tmp_path / name) for name in ("07-no.ipynb", "05-bad.ipynb", "none.ipynb", "06-good.ipynb")]
    assert refresh.main(names) == 1
    assert bad.read_bytes() == content
    assert outputs(good, 2)
    said = capsys.readouterr().err
    assert f"{bad}: cell 4: ZeroDivisionError: division by zero\n    x = 1\n    x / 0\n" in said
    assert "07-no.ipynb: not a notebook" in said
    assert "none.ipynb" in said


def test_intended_error_is_stored_without_its_traceback(tmp_path):
    path = write(tmp_path / "05-test.ipynb", "1 / 0")
    path.write_text(path.read_text().replace('"metadata": {}', '"metadata": {"tags": ["raises-exception"]}'))
    assert refresh.main([str(path)]) == 0
    assert outputs(path, 2)[0]["traceback"] == ["ZeroDivisionError: division by zero"]


def test_endless_cell_is_stopped(tmp_path):
    path = write(tmp_path / "05-test.ipynb", "while True: pass")
    with pytest.raises(refresh.RefreshError, match="cell 2: CellTimeoutError"):
        refresh.refresh(path, timeout=1)


def test_default_is_the_whole_folder(tmp_path, monkeypatch):
    paths = [write(tmp_path / name, "print(1)") for name in ("05-a.ipynb", "06-b.ipynb")]
    monkeypatch.setattr(refresh, "NOTEBOOKS", tmp_path)
    assert refresh.main([]) == 0
    assert all(outputs(path, 2) for path in paths)


def test_figures_show_whatever_backend_is_set_outside(tmp_path, monkeypatch):
    path = write(tmp_path / "05-test.ipynb", FIGURE)
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert refresh.main([str(path)]) == 0
    assert "image/png" in outputs(path, 2)[0]["data"]


def test_kernel_is_this_python_in_the_notebooks_folder(tmp_path, monkeypatch):
    other = tmp_path / "share" / "kernels" / "python3" / "kernel.json"
    other.parent.mkdir(parents=True)
    other.write_text(json.dumps({"argv": ["no-such-python"], "display_name": "x", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    path = write(tmp_path / "05-test.ipynb", "import os, sys\nprint(sys.executable)\nprint(os.getcwd())")
    assert refresh.main([str(path)]) == 0
    assert "".join(outputs(path, 2)[0]["text"]).splitlines() == [sys.executable, str(tmp_path.resolve())]


def test_counts_have_no_gap_where_a_cell_is_empty():
    result = v4.new_output("execute_result", data={"text/plain": "2"}, execution_count=8)
    cells = [v4.new_code_cell(""), v4.new_code_cell("1 + 1", execution_count=8, outputs=[result])]
    nb = v4.new_notebook(cells=cells)
    refresh.clean(nb)
    assert [cell.execution_count for cell in nb.cells] == [1, 2]
    assert nb.cells[1].outputs[0].execution_count == 2


def test_outputs_that_nobody_compares_are_kept_unless_asked_for(tmp_path):
    path = write(tmp_path / "05-test.ipynb", "import time\ntime.perf_counter_ns()")
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["cells"][1]["metadata"]["tags"] = ["nbval-ignore-output"]
    path.write_text(json.dumps(stored), encoding="utf-8")
    assert refresh.main([str(path)]) == 0
    first = path.read_bytes()
    assert outputs(path, 2)
    assert refresh.refresh(path) == (first, [])
    assert refresh.main(["--ignored", str(path)]) == 0
    assert path.read_bytes() != first
