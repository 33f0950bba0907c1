"""The commands that prove more than `make test` does: what can be tested of them quickly."""

import importlib
import socket
import sys
from pathlib import Path

import audit
import elsewhere
import offline
import pytest

# --- make audit ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "classifiers", "licence"),
    [
        (
            {"License-Expression": "MIT OR Apache-2.0", "License": "x"},
            ["License :: OSI Approved :: X"],
            "MIT OR Apache-2.0",
        ),
        ({"License": "a long text"}, ["License :: OSI Approved :: BSD License"], "BSD"),
        ({"License": "BSD-3-Clause\n\nCopyright ..."}, ["Topic :: Text"], "BSD-3-Clause"),
        ({}, [], "not stated"),
    ],
)
def test_the_licence_is_the_best_that_the_package_states(found, classifiers, licence):
    assert audit.licence_of(found, classifiers) == licence


def test_every_installed_package_states_its_licence():
    assert [name for name, (_, licence) in audit.packages().items() if licence == "not stated"] == []
    assert audit.packages()["attnlib"][1] == "MIT AND CC-BY-4.0"


def audited(monkeypatch, capsys, answer):
    monkeypatch.setattr(audit, "packages", lambda: {"one": ("1.0", "MIT"), "two": ("2.0", "MIT")})
    monkeypatch.setattr(audit, "index", lambda: "nowhere")
    monkeypatch.setattr(audit, "vulnerabilities", lambda name, version, where: answer(name))
    return audit.main(), capsys.readouterr().out.splitlines()


def test_no_data_is_said_in_one_sentence(monkeypatch, capsys):
    status, said = audited(monkeypatch, capsys, lambda name: None)
    assert status == 0
    assert said[0] == "MIT (2): one, two"
    assert said[-1] == "The package index gives no data on vulnerabilities here: run this again where it does."


def test_a_known_vulnerability_is_said_and_fails(monkeypatch, capsys):
    hole = {"id": "PYSEC-1", "summary": "a hole", "fixed_in": ["1.1"], "withdrawn": None}
    past = {"id": "PYSEC-2", "summary": "none", "fixed_in": [], "withdrawn": "2020"}
    status, said = audited(monkeypatch, capsys, lambda name: [hole, past] if name == "one" else [])
    assert status == 1
    assert said[-2:] == [
        "one 1.0: PYSEC-1 a hole (mended in 1.1)",
        "1 known vulnerabilities in 2 packages; no answer on 0",
    ]


def test_an_index_that_does_not_answer_is_no_error():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{one.getsockname()[1]}"
        assert audit.vulnerabilities("numpy", "2.0", closed) is None


# --- make offline -------------------------------------------------------------------------------------


def test_without_unshare_there_is_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(offline.shutil, "which", lambda name: None)
    assert offline.main([]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/net/route").exists(), reason="/proc/net is there on Linux only")
def test_a_network_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr(offline, "switch_loopback_on", lambda: None)
    monkeypatch.setattr(offline, "networks", lambda: ["eth0"])
    monkeypatch.setattr(offline.subprocess, "run", lambda *_, **__: pytest.fail("it must not run the tests"))
    assert offline.main(["--inside"]) == 1
    assert capsys.readouterr().err == "This namespace is not without a network: eth0.\n"


# --- make elsewhere -----------------------------------------------------------------------------------


def test_the_other_machines_differ():
    rows = elsewhere.rows()
    assert (
        len({row.name for row in rows})
        == len({(*row.variables.items(), row.packages) for row in rows})
        == len(rows)
    )
    assert {row.packages for row in rows} == {"", "lowest-direct", "highest"}
    assert {"1", "2"} <= {row.variables.get("OPENBLAS_NUM_THREADS") for row in rows}
    assert any("TZ" in row.variables and "LC_ALL" in row.variables for row in rows)


def test_a_variable_reaches_the_other_machine():
    code = "import os; print(os.environ['TZ'])"
    assert elsewhere.ask(sys.executable, code, TZ="Asia/Kathmandu") == "Asia/Kathmandu"
    assert elsewhere.ask(sys.executable, "raise SystemExit('no')") == "no"
    assert elsewhere.ask(sys.executable, elsewhere.PROBE, LC_ALL="C").startswith("numpy ")


@pytest.mark.parametrize(
    ("printed", "status", "green"), [("", 0, True), ("FAILED notebooks/x.ipynb::Cell 3", 1, False)]
)
def test_red_cells_are_named(monkeypatch, tmp_path, capsys, printed, status, green):
    def run(*_, **__):
        closing = "5 passed in 3.10s" if green else "1 failed, 4 passed in 3.10s"
        return elsewhere.subprocess.CompletedProcess([], status, f"{printed}\n{closing}\n", "")

    monkeypatch.setattr(elsewhere, "PLACE", tmp_path)
    monkeypatch.setattr(elsewhere, "rows", lambda: [elsewhere.Row("somewhere", {})])
    monkeypatch.setattr(elsewhere.subprocess, "run", run)
    monkeypatch.setattr(elsewhere, "ask", lambda *_, **__: "a probe")
    assert elsewhere.main([]) == status
    said = capsys.readouterr().out
    assert ("5 passed\n" in said) == green
    assert ("notebooks/x.ipynb::Cell 3; 1 failed, 4 passed\n" in said) != green


# --- make fuzz ----------------------------------------------------------------------------------------


def test_the_long_profile_tries_enough():
    from hypothesis import settings

    fuzz = importlib.import_module("test_fuzz")
    tests = [name for name in vars(fuzz) if name.startswith("test_")]
    calls = len(fuzz.CALLS) + len(tests)  # one test runs once for each function, and another twice
    assert calls * settings.get_profile("fuzz").max_examples > 20_000
