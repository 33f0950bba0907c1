"""The commands: what they print, and that trouble is one sentence on stderr and exit code 1."""

import doctest
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import attnlib.__main__ as program
from attnlib import desk, environment, solved

TOTALS = {"00": [], "05": ["05-softmax-rows", "05-softmax-axis"]}


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    """Keep off the real desk."""
    monkeypatch.setenv("ATTNLIB_DESK", str(tmp_path / "desk"))
    return tmp_path / "desk"


@pytest.fixture
def exercises(monkeypatch):
    import attnlib.exercises

    monkeypatch.setattr(attnlib.exercises, "by_chapter", lambda: TOTALS)


def test_the_examples():
    failed, tried = doctest.testmod(program)
    assert failed == 0
    assert tried > len(program.COMMANDS)


def test_the_desk_is_made_then_up_to_date(away, capsys):
    assert program.main(["desk"]) == 0
    ready = f"Your desk is ready in {away}: work there, for nothing on it is ever overwritten.\n"
    assert capsys.readouterr() == (ready, "")
    assert (away / "notebooks" / "00-start-here.ipynb").is_file()
    assert program.main(["desk"]) == 0
    assert capsys.readouterr() == (f"Your desk in {away} is up to date.\n", "")


def test_quiet_says_only_what_is_new(away, capsys):
    assert program.main(["desk", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("Your desk is ready")
    assert program.main(["desk", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_reset(away, capsys):
    program.main(["desk"])
    (away / "notebooks" / "05-softmax.ipynb").write_bytes(b"mine")
    capsys.readouterr()
    assert program.main(["reset", "05"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(
        "A clean 05-softmax.ipynb lies on your desk; your old copy is kept as backups/05-soft"
    )
    assert said.err == ""
    assert [path.read_bytes() for path in (away / "backups").iterdir()] == [b"mine"]


def test_status_without_a_desk(away, capsys, exercises):
    assert program.main(["status"]) == 0
    assert capsys.readouterr() == (
        "There is no desk yet, so nothing is solved: begin with make lab (on Windows: py course.py lab).\n",
        "",
    )
    assert not away.exists()


def test_status(away, capsys, exercises):
    program.main(["desk"])
    solved.record(away, "05-softmax-rows", solved=True)
    capsys.readouterr()
    assert program.main(["status"]) == 0
    assert capsys.readouterr() == (
        "05 Softmax  [#####-----] 1 of 2\n   Together [#####-----] 1 of 2\n",
        "",
    )


def test_status_says_what_is_wrong_with_the_file(away, capsys, exercises):
    program.main(["desk"])
    (away / "progress.json").write_bytes(b"broken")
    capsys.readouterr()
    assert program.main(["status"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("Your progress file was not readable: it is kept as progress.broken-")
    assert rest == ["05 Softmax  [----------] 0 of 2", "   Together [----------] 0 of 2"]


def test_status_knows_the_exercises_of_the_course(away, capsys):
    program.main(["desk"])
    capsys.readouterr()
    assert program.main(["status"]) == 0
    assert capsys.readouterr().out.startswith("0")


def test_status_for_the_group(away, capsys):
    program.main(["desk"])
    solved.record(away, "05-softmax-rows", solved=True)
    capsys.readouterr()
    assert program.main(["status", "--export", "--name", "Mina"]) == 0
    path = away / "group-Mina.json"
    said = f"Give this file to your group: {path} (your nickname, and what you solved)\n"
    assert capsys.readouterr() == (said, "")
    assert b'"05-softmax-rows"' in path.read_bytes()


def test_the_group(away, tmp_path, capsys):
    program.main(["desk"])
    solved.record(away, "05-softmax-rows", solved=False, mistake="wrong-axis")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "bad.json").write_bytes(b"bad")
    program.main(["status", "--export", "--name", "민아"])
    (away / "group-민아.json").rename(tmp_path / "files" / "group-민아.json")
    capsys.readouterr()
    assert program.main(["group", str(tmp_path / "files")]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("bad.json was left out: ")
    assert lines[1:3] == ["      05", "민아  0/7 !1"]
    assert lines[-1] == f"The same as a page: {tmp_path / 'files' / 'group.html'}"
    assert err == ""


def test_live(away, capsys):
    assert program.main(["live", "05"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("Type in 05-softmax.live.ipynb; ")
    assert (away / "notebooks" / "05-softmax.complete.ipynb").is_file()


def test_doctor(capsys, monkeypatch):
    assert program.main(["doctor"]) == 0
    assert capsys.readouterr().out == environment.report() + "\n"
    monkeypatch.setattr(environment, "problems", lambda: ["the moon is full"])
    assert program.main(["doctor"]) == 1
    assert capsys.readouterr().out.startswith("Not ready: the moon is full (")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            [],
            "This command is not clear (the following arguments are required: COMMAND): python -m attnlib --help ",
        ),
        (["fly"], "This command is not clear (argument COMMAND: invalid choice: 'fly' (choose from "),
        (
            ["reset"],
            "This command is not clear (the following arguments are required: chapter): python -m attnlib ",
        ),
        (
            ["desk", "--qui"],
            "This command is not clear (unrecognized arguments: --qui): python -m attnlib --help ",
        ),
        (["reset", "99"], "There is no chapter '99': choose one of 00-start-here, "),
        (["live", "99"], "There is no chapter '99': choose one of 00-start-here, "),
        (["status", "--export"], "Choose a nickname for the group: python -m attnlib status --export --name "),
        (
            ["status", "--name", "Mina"],
            "Choose a nickname for the group: python -m attnlib status --export --name ",
        ),
        (["status", "--name"], "This command is not clear (argument --name: expected one argument): python -m "),
        (["group"], "This command is not clear (the following arguments are required: folder): python -m "),
        (["group", "no-such-folder"], "The folder of the group could not be read: no-such-folder is not there."),
        (["reset", "05"], "There is no desk yet, so nothing to reset: run make lab first "),
    ],
)
def test_trouble_is_one_sentence(away, capsys, arguments, words):
    assert program.main(arguments) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(words)
    assert said.err.count("\n") == 1
    assert not away.exists()


def test_help_shows_a_line_for_each_command(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as left:
        program.main(["--help"])
    assert left.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    for command in program.COMMANDS:
        assert [line.split(None, 1) for line in lines].count([command.name, command.help]) == 1


def test_an_interrupt_is_no_traceback(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(desk, "lay_out", interrupt)
    assert program.main(["desk"]) == 130
    assert capsys.readouterr() == ("", "")


def test_as_a_module(monkeypatch, capsys, away):
    monkeypatch.setattr(sys, "argv", ["attnlib", "desk"])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(program.__file__, run_name="__main__")
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("Your desk is ready")


def test_a_terminal_that_knows_few_letters(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNLIB_DESK", str(tmp_path / "Schreibtisch für 배"))
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = subprocess.run(
        [sys.executable, "-m", "attnlib", "desk"], capture_output=True, cwd=Path(desk.__file__).parents[1]
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Schreibtisch f?r ?:" in done.stdout
