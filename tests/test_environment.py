"""The environment check: what it says when all is well, and that it can say otherwise."""

from importlib import metadata

import pytest
from packaging.specifiers import SpecifierSet

from attnlib import environment


def test_all_is_well_here():
    assert environment.problems() == []
    line = environment.report()
    assert "\n" not in line
    assert line.startswith("All is well: attnlib 0.1.0, Python 3.")
    assert f"numpy {metadata.version('numpy')}" in line


def test_the_needs_come_from_the_package_itself():
    assert {name for name, _, _ in environment.requirements()} >= {"numpy", *environment.SHOWN}


def test_a_missing_package_is_named(monkeypatch):
    found = environment.requirements
    monkeypatch.setattr(environment, "requirements", lambda: [*found(), ("snowglobe", SpecifierSet(), None)])
    assert environment.problems() == [
        "the package snowglobe is missing: run pip install -r requirements.txt in the course's folder"
    ]
    assert environment.report().startswith("Not ready: the package snowglobe is missing: run pip install")


@pytest.mark.parametrize("version", ["1.26.4", "3.0.0"])
def test_a_package_of_another_version_is_named(monkeypatch, version):
    monkeypatch.setattr(environment, "requirements", lambda: [("numpy", SpecifierSet(">=2.1,<3"), version)])
    assert environment.problems() == [
        f"numpy is {version}, but the course needs numpy<3,>=2.1: run pip install -r requirements.txt in the "
        "course's folder"
    ]


def test_an_old_python_is_named(monkeypatch):
    monkeypatch.setattr(environment.sys, "version_info", (3, 9, 1))
    monkeypatch.setattr(environment.platform, "python_version", lambda: "3.9.1")
    assert environment.problems() == [
        "Python is 3.9.1, but the course needs 3.11 or newer: install one and run make lab again"
    ]


def test_a_package_that_was_never_installed(monkeypatch):
    monkeypatch.setattr(environment, "SHOWN", ("snowglobe",))
    assert "snowglobe missing" in environment.report()
