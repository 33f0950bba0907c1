"""The progress file: every try is kept, whatever two notebooks, a kill or a full disk do to it."""

import errno
import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest

from attnlib import desk as files
from attnlib import solved as module
from attnlib.chapters import Chapter
from attnlib.solved import Exercise, Progress, bars, load, record

DATE = "2026-11-18T01:20:33"
ENTRY = {"solved": DATE, "tries": 3, "mistakes": {"wrong-axis": 2}}
WHOLE = {"version": 1, "exercises": {"05-softmax-rows": ENTRY}}
KEPT = (
    "Your progress file was not readable: it is kept as progress.broken-2026-11-18T01-20-33.json, and a new one "
)
KEPT += "is begun."
NEWER = "Your progress was made by a newer version of the course: update the course; until then it is not changed."


def at(monkeypatch, text):
    """Set the clock."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.fromisoformat(text)

    monkeypatch.setattr(module, "datetime", Clock)
    monkeypatch.setattr(files, "datetime", Clock)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    at(monkeypatch, DATE)


def put(desk, data):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    (desk / "progress.json").write_bytes(raw)
    return raw


def stored(desk):
    return json.loads((desk / "progress.json").read_bytes())


def names(desk):
    return sorted(path.name for path in desk.iterdir() if path.name != ".progress.lock")


# --- recording ----------------------------------------------------------------------------------------


def test_the_file_is_as_documented(tmp_path):
    assert record(tmp_path, "05-softmax-rows", solved=False, mistake="wrong-axis") is None
    assert stored(tmp_path)["exercises"]["05-softmax-rows"]["solved"] is None
    assert record(tmp_path, "05-softmax-rows", solved=False, mistake="wrong-axis") is None
    assert record(tmp_path, "05-softmax-rows", solved=True) is None
    assert stored(tmp_path) == WHOLE
    assert names(tmp_path) == ["progress.json"]


@pytest.mark.parametrize("later", ["2027-01-01T00:00:00", "2020-01-01T00:00:00"])
def test_once_solved_stays_solved_whatever_the_clock_says(tmp_path, monkeypatch, later):
    record(tmp_path, "a", solved=True)
    at(monkeypatch, later)
    record(tmp_path, "a", solved=False, mistake="m")
    record(tmp_path, "a", solved=True)
    record(tmp_path, "b", solved=True)
    assert stored(tmp_path)["exercises"] == {
        "a": {"solved": DATE, "tries": 3, "mistakes": {"m": 1}},
        "b": {"solved": later, "tries": 1, "mistakes": {}},
    }


def test_what_a_file_holds_beyond_that_is_kept(tmp_path):
    put(tmp_path, {**WHOLE, "note": "mine", "exercises": {"a": {**ENTRY, "note": "hard!"}}})
    assert record(tmp_path, "a", solved=True) is None
    assert stored(tmp_path)["note"] == "mine"
    assert stored(tmp_path)["exercises"]["a"]["note"] == "hard!"


def test_counts_end_somewhere(tmp_path):
    put(tmp_path, {"version": 1, "exercises": {"a": {"solved": None, "tries": 10**9, "mistakes": {"m": 10**9}}}})
    assert record(tmp_path, "a", solved=False, mistake="m") is None
    assert load(tmp_path).exercises["a"] == Exercise(None, 10**9, {"m": 10**9})


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((5, True, None), TypeError, r"^record: exercise is 5 \(int\); expected a name$"),
        (
            ("", True, None),
            ValueError,
            "^record: exercise is ''; expected 1 to 100 letters, digits, spaces, dots or dashes$",
        ),
        (("a" * 101, True, None), ValueError, "^record: exercise is 'a{100}'; expected 1 to 100 letters"),
        (("../x", True, None), ValueError, "^record: exercise is '../x'; expected"),
        (("a\n", True, None), ValueError, "^record: exercise is"),
        (("a", True, 5), TypeError, r"^record: mistake is 5 \(int\); expected a name$"),
        (("a", True, "no/good"), ValueError, "^record: mistake is 'no/good'; expected"),
        (("a", 1, None), TypeError, r"^record: solved is 1 \(int\); expected True or False$"),
    ],
)
def test_bad_input_is_refused_before_any_work(tmp_path, arguments, error, words):
    exercise, solved, mistake = arguments
    with pytest.raises(error, match=words):
        record(tmp_path, exercise, solved=solved, mistake=mistake)
    assert list(tmp_path.iterdir()) == []


# --- loading ------------------------------------------------------------------------------------------


def test_no_file_is_no_progress_and_loading_makes_none(tmp_path):
    assert load(tmp_path) == load(tmp_path / "nowhere") == Progress({}, ())
    assert list(tmp_path.iterdir()) == []


def test_a_view_that_cannot_be_changed(tmp_path):
    put(tmp_path, {**WHOLE, "exercises": {"a": ENTRY, "b": {**ENTRY, "solved": None}}})
    progress = load(tmp_path)
    assert progress.exercises == {
        "a": Exercise(DATE, 3, {"wrong-axis": 2}),
        "b": Exercise(None, 3, {"wrong-axis": 2}),
    }
    assert progress.solved == {"a"}
    assert progress.sentences == ()
    with pytest.raises(TypeError):
        progress.exercises["c"] = None
    with pytest.raises(TypeError):
        progress.exercises["a"].mistakes["m"] = 1
    with pytest.raises(AttributeError):
        progress.sentences = ("x",)
    with pytest.raises(AttributeError):
        progress.exercises["a"].tries = 5


def test_a_mark_before_the_text_does_no_harm(tmp_path):
    put(tmp_path, b"\xef\xbb\xbf" + json.dumps(WHOLE).encode())
    assert load(tmp_path).solved == {"05-softmax-rows"}


def entry(**change):
    return {"version": 1, "exercises": {"a": {**ENTRY, **change}}}


WHOLE_RAW = json.dumps(WHOLE).encode()
BROKEN = {
    "empty": b"",
    "zeros": b"\0" * 100,
    "truncated": WHOLE_RAW[:-20],
    "doubled": WHOLE_RAW * 2,
    "not UTF-8": b"\xff" + WHOLE_RAW,
    "UTF-16": WHOLE_RAW.decode().encode("utf-16"),
    "too large": WHOLE_RAW + b" " * (5_000_001 - len(WHOLE_RAW)),
    "too deep": b'{"version": 1, "exercises": ' + b"[" * 100_000,
    "a huge number": b'{"version": ' + b"9" * 5000 + b"}",
    "a list": [],
    "null": b"null",
    "nothing in it": {},
    "version a text": {**WHOLE, "version": "1"},
    "version true": {**WHOLE, "version": True},
    "version 1.0": {**WHOLE, "version": 1.0},
    "version negative": {**WHOLE, "version": -1},
    "no exercises": {"version": 1},
    "exercises a list": {"version": 1, "exercises": []},
    "an exercise a text": {"version": 1, "exercises": {"a": "solved"}},
    "solved missing": {"version": 1, "exercises": {"a": {"tries": 1, "mistakes": {}}}},
    "solved true": entry(solved=True),
    "solved no date": entry(solved="yesterday"),
    "tries missing": {"version": 1, "exercises": {"a": {"solved": None, "mistakes": {}}}},
    "tries a text": entry(tries="3"),
    "tries true": entry(tries=True),
    "tries negative": entry(tries=-1),
    "tries too many": entry(tries=10**9 + 1),
    "mistakes missing": {"version": 1, "exercises": {"a": {"solved": None, "tries": 1}}},
    "mistakes a list": entry(mistakes=["wrong-axis"]),
    "mistakes a text": entry(mistakes={"wrong-axis": "2"}),
    "older, not a list": {"solved": "05-softmax-rows"},
    "older, not names": {"solved": [5]},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_kept_aside_and_said(tmp_path, name):
    raw = put(tmp_path, BROKEN[name])
    assert load(tmp_path) == Progress({}, (KEPT,))
    assert names(tmp_path) == ["progress.broken-2026-11-18T01-20-33.json"]
    assert (tmp_path / names(tmp_path)[0]).read_bytes() == raw
    assert load(tmp_path) == Progress({}, ())


@pytest.mark.parametrize("name", BROKEN)
def test_recording_keeps_a_broken_file_aside_too(tmp_path, name):
    raw = put(tmp_path, BROKEN[name])
    assert record(tmp_path, "a", solved=True) == KEPT
    assert (tmp_path / "progress.broken-2026-11-18T01-20-33.json").read_bytes() == raw
    assert load(tmp_path) == Progress({"a": Exercise(DATE, 1, {})}, ())


def test_every_truncation_of_a_file_is_kept_aside(tmp_path):
    for length in range(len(WHOLE_RAW)):
        put(tmp_path, WHOLE_RAW[:length])
        assert len(load(tmp_path).sentences) == 1
    kept = {path.read_bytes() for path in tmp_path.glob("progress.broken-*")}
    assert kept == {WHOLE_RAW[:length] for length in range(len(WHOLE_RAW))}


def test_the_largest_file_is_read(tmp_path):
    put(tmp_path, WHOLE_RAW + b" " * (5_000_000 - len(WHOLE_RAW)))
    assert load(tmp_path).solved == {"05-softmax-rows"}


OLDER = "Your progress file had an older format: a copy of it as it was is kept as "
OLDER += "progress.older-2026-11-18T01-20-33.json."


@pytest.mark.parametrize("version", [{}, {"version": 0}])
def test_an_older_file_is_brought_up_to_date(tmp_path, version):
    raw = put(tmp_path, {**version, "solved": ["a", "b"]})
    assert load(tmp_path) == Progress({"a": Exercise(DATE, 1, {}), "b": Exercise(DATE, 1, {})}, (OLDER,))
    assert (tmp_path / "progress.older-2026-11-18T01-20-33.json").read_bytes() == raw
    assert stored(tmp_path)["version"] == 1
    assert load(tmp_path) == Progress({"a": Exercise(DATE, 1, {}), "b": Exercise(DATE, 1, {})}, ())


def test_recording_into_an_older_file(tmp_path):
    raw = put(tmp_path, {"solved": ["a"]})
    assert record(tmp_path, "a", solved=False, mistake="m") == OLDER
    assert (tmp_path / "progress.older-2026-11-18T01-20-33.json").read_bytes() == raw
    assert load(tmp_path) == Progress({"a": Exercise(DATE, 2, {"m": 1})}, ())


@pytest.mark.parametrize("exercises", [WHOLE["exercises"], {"a": "a new format"}, None])
def test_a_newer_file_is_left_as_it_is(tmp_path, exercises):
    raw = put(tmp_path, {"version": 2, "exercises": exercises})
    progress = load(tmp_path)
    assert progress.sentences == (NEWER,)
    assert progress.solved == ({"05-softmax-rows"} if exercises is WHOLE["exercises"] else set())
    assert record(tmp_path, "a", solved=True) == NEWER
    assert (tmp_path / "progress.json").read_bytes() == raw
    assert names(tmp_path) == ["progress.json"]


def test_a_file_that_another_program_mended_meanwhile(tmp_path, monkeypatch):
    put(tmp_path, b"")
    real = files.locked

    def locked(path):
        put(tmp_path, WHOLE)
        return real(path)

    monkeypatch.setattr(files, "locked", locked)
    assert load(tmp_path) == Progress({"05-softmax-rows": Exercise(DATE, 3, {"wrong-axis": 2})}, ())
    assert names(tmp_path) == ["progress.json"]


# --- trouble ------------------------------------------------------------------------------------------


FULL = "This try could not be saved: the disk is full (free some space and try again); what was saved before is "
FULL += "still there."


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_loses_nothing(tmp_path, call, number):
    raw = put(tmp_path, WHOLE)

    def refuse(*_):
        raise OSError(number, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, call, refuse)
        assert record(tmp_path, "a", solved=True) == FULL
        assert load(tmp_path).solved == {"05-softmax-rows"}
    assert (tmp_path / "progress.json").read_bytes() == raw
    assert names(tmp_path) == ["progress.json"]
    assert record(tmp_path, "a", solved=True) is None
    assert load(tmp_path).solved == {"05-softmax-rows", "a"}


def test_a_write_that_stops_half_way_loses_nothing(tmp_path):
    resource = pytest.importorskip("resource", reason="only Unix can limit how much a program writes")
    many = {f"exercise-{number}": ENTRY for number in range(100)}
    raw = put(tmp_path, {"version": 1, "exercises": many})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        said = record(tmp_path, "a", solved=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert said.startswith("This try could not be saved: File too large (")
    assert (tmp_path / "progress.json").read_bytes() == raw
    assert names(tmp_path) == ["progress.json"]


@pytest.mark.parametrize("content", [b"", {"solved": ["a"]}])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_while_a_file_is_mended(tmp_path, content, call):
    for n in itertools.count(1):
        desk = tmp_path / str(n)
        desk.mkdir()
        raw = put(desk, content)
        calls = itertools.count(1)
        real = getattr(os, call)

        def sometimes(*arguments, calls=calls, n=n, real=real):
            if next(calls) == n:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, call, sometimes)
            said = record(desk, "b", solved=True)
        assert raw in {path.read_bytes() for path in desk.iterdir()}
        assert not list(desk.glob("*.desk-tmp"))
        record(desk, "b", solved=True)
        assert load(desk).solved == ({"a", "b"} if content else {"b"})
        if next(calls) <= n:
            break
        assert said
    assert n > 2


@pytest.fixture
def read_only(tmp_path, monkeypatch):
    """Refuse to write by Path.open, which the package uses, and give the words for that."""
    opened = Path.open

    def refuse(self, mode="r", *rest, **more):
        if set(mode) & set("xwa"):
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return opened(self, mode, *rest, **more)

    def switch():
        monkeypatch.setattr(Path, "open", refuse)
        return f"this computer does not allow to change or read {tmp_path} (look at its permissions)"

    return switch


def test_a_folder_that_is_read_only(tmp_path, read_only):
    raw = put(tmp_path, WHOLE)
    refused = read_only()
    assert record(tmp_path, "a", solved=True) == (
        f"This try could not be saved: {refused}; what was saved before is still there."
    )
    assert load(tmp_path) == Progress({"05-softmax-rows": Exercise(DATE, 3, {"wrong-axis": 2})}, ())
    assert (tmp_path / "progress.json").read_bytes() == raw


@pytest.mark.parametrize(
    ("content", "trouble", "solved"),
    [
        ({"solved": ["a"]}, "could not be brought up to date", {"a"}),
        (b"broken", "is broken and could not be moved aside", set()),
    ],
)
def test_a_file_that_cannot_be_mended(tmp_path, read_only, content, trouble, solved):
    raw = put(tmp_path, content)
    refused = read_only()
    progress = load(tmp_path)
    assert progress.solved == solved
    assert progress.sentences == (f"Your progress in {tmp_path / 'progress.json'} {trouble}: {refused}.",)
    assert (tmp_path / "progress.json").read_bytes() == raw


def test_a_folder_where_the_file_should_be(tmp_path):
    (tmp_path / "progress.json").mkdir()
    assert record(tmp_path, "a", solved=True).startswith("This try could not be saved: ")
    (sentence,) = load(tmp_path).sentences
    assert sentence.startswith(f"Your progress in {tmp_path / 'progress.json'} could not be read: ")


def test_a_desk_that_is_gone(tmp_path):
    assert record(tmp_path / "gone", "a", solved=True) == (
        f"This try could not be saved: {tmp_path / 'gone'} is not there; what was saved before is still there."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_file_never_grows_too_large_to_be_read(tmp_path, monkeypatch):
    raw = put(tmp_path, WHOLE)
    monkeypatch.setattr(files, "LARGEST", len(raw) + 50)
    said = record(tmp_path, "another", solved=True)
    assert said.startswith("This try could not be saved: the file would be larger than any progress can be")
    assert (tmp_path / "progress.json").read_bytes() == raw


def test_what_a_killed_program_left_is_swept(tmp_path):
    (tmp_path / ".progress.json.0123abcd.desk-tmp").write_bytes(b"half")
    (tmp_path / ".other.json.0123abcd.desk-tmp").write_bytes(b"not ours")
    record(tmp_path, "a", solved=True)
    assert names(tmp_path) == [".other.json.0123abcd.desk-tmp", "progress.json"]


# --- several at once ----------------------------------------------------------------------------------


CHILD = """
import sys, types
package = types.ModuleType("attnlib")  # without NumPy, to start fast
package.__path__ = [sys.argv[1]]
sys.modules["attnlib"] = package
from pathlib import Path
from attnlib import desk as files
from attnlib.solved import LOCK, record
desk, name, times = Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
print("ready", flush=True)
if not times:
    with files.locked(desk / LOCK):
        print("locked", flush=True)
        sys.stdin.read()
files.PATIENCE = 120.0
for number in range(times):
    said = record(desk, name, solved=number > 0, mistake="m")
    print(said or "recorded", flush=True)
"""


def start(desk, name, times):
    command = [sys.executable, "-I", "-c", CHILD, str(Path(module.__file__).parent), str(desk), name, str(times)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    return child


def test_killed_at_any_moment_200_times(tmp_path):
    chance, confirmed = random.Random(5), {}
    for life in range(200):
        with start(tmp_path, f"life-{life}", 100_000) as child:
            seen = [child.stdout.readline() for _ in range(chance.randrange(6))]
            time.sleep(chance.uniform(0, 0.01))
            child.kill()
            confirmed[f"life-{life}"] = sum(line == "recorded\n" for line in [*seen, *child.stdout])
        if (tmp_path / "progress.json").exists():
            data = stored(tmp_path)
            assert data["version"] == 1
        else:
            data = {"exercises": {}}
        for name, number in confirmed.items():
            found = data["exercises"].get(name, {"tries": 0, "mistakes": {"m": 0}})
            assert found["tries"] == found["mistakes"].get("m", 0)
            assert number <= found["tries"] <= number + 1, name
    assert sum(confirmed.values()) > 200  # it waits for 2.5 a life
    assert load(tmp_path).sentences == ()
    assert record(tmp_path, "last", solved=True) is None
    assert names(tmp_path) == ["progress.json"]


def test_two_programs_at_once(tmp_path):
    children = [start(tmp_path, "a", 150) for _ in range(2)]
    for child in children:
        said, _ = child.communicate()
        assert said == "recorded\n" * 150
    assert load(tmp_path).exercises["a"].tries == 300
    assert load(tmp_path).exercises["a"].mistakes == {"m": 300}


def test_four_threads_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 120.0)
    said = []

    def work():
        for _ in range(25):
            said.append(record(tmp_path, "a", solved=True))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [None] * 100
    assert load(tmp_path).exercises["a"].tries == 100


def test_a_program_that_dies_frees_its_lock(tmp_path, monkeypatch):
    with start(tmp_path, "a", 0) as child:
        assert child.stdout.readline() == "locked\n"
        monkeypatch.setattr(files, "PATIENCE", 0.05)
        assert record(tmp_path, "a", solved=True) == (
            "This try could not be saved: another notebook or program is busy with the desk (try again in a "
            "moment); what was saved before is still there."
        )
        child.kill()
    monkeypatch.setattr(files, "PATIENCE", 120.0)
    assert record(tmp_path, "a", solved=True) is None


# --- bars ---------------------------------------------------------------------------------------------


def test_bars(monkeypatch):
    chapters = (
        Chapter("00", "start-here", "Start here", "", 1),
        Chapter("05", "softmax", "Softmax", "", 1),
        Chapter("06", "scaling", "Why divide\nby the root", "", 1),
    )
    monkeypatch.setattr(module, "CHAPTERS", chapters)
    done = dict.fromkeys(["05-a", "05-b", "05-c", "06-1", "renamed"], Exercise(DATE, 1, {}))
    progress = Progress({**done, "05-d": Exercise(None, 9, {})})
    totals = {
        "06": [f"06-{number}" for number in range(20)],
        "05": ["05-a", "05-b", "05-c", "05-d", "05-e"],
        "00": [],
        "77": ["77-x"],
    }
    assert bars(progress, totals).splitlines() == [
        "05 Softmax                [######----] 3 of 5",
        "06 Why divide by the root [#---------] 1 of 20",
        "77                        [----------] 0 of 1",
        "   Together               [#---------] 4 of 26",
    ]


def test_a_bar_is_full_only_at_the_end():
    names = [str(number) for number in range(100)]
    done = dict.fromkeys(names[:99], Exercise(DATE, 1, {}))
    assert "[#########-] 99 of 100" in bars(Progress(done), {"05": names})
    done["99"] = Exercise(DATE, 1, {})
    assert "[##########] 100 of 100" in bars(Progress(done), {"05": names})


@pytest.mark.parametrize("totals", [{}, {"05": []}])
def test_no_exercises(totals):
    assert bars(Progress({}), totals) == "There are no exercises yet."
