"""The desk on a disk that is really full, and on one that is really read-only: a small disk in memory (Linux)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
APART = ["unshare", "--user", "--map-root-user", "--mount"]  # mounts made in there are gone when it ends


def can_mount(folder):
    command = [*APART, "mount", "-t", "tmpfs", "tmpfs", str(folder)]
    return bool(shutil.which("unshare")) and subprocess.run(command, capture_output=True).returncode == 0


@pytest.fixture
def on_a_disk(tmp_path):
    """Give a function that runs a shell script with a small disk at $DESK, and gives what it says line by line."""
    if not can_mount(tmp_path):
        pytest.skip("this system lets nobody mount a disk of his own")
    desk = tmp_path / "work"
    desk.mkdir()

    def run(script, size):
        text = f'set -e\nmount -t tmpfs -o size={size} tmpfs "$DESK"\nset +e\n{script}'
        environment = {**os.environ, "DESK": str(desk), "ATTNLIB_DESK": str(desk), "PY": sys.executable}
        done = subprocess.run(
            [*APART, "sh", "-c", text], env=environment, cwd=ROOT, capture_output=True, text=True
        )
        assert "Traceback" not in done.stderr
        return [line for line in (done.stdout + done.stderr).splitlines() if line]

    return run


FULL = "the disk is full (free some space and try again)"
LAY = '"$PY" -m attnlib desk --quiet 2>&1; echo "exit $?"\n'
LEFT = 'find "$DESK" -name "*.desk-tmp" | wc -l\n'
RECORD = """cd "$DESK/notebooks" && "$PY" -c 'from attnlib.exercises import check
print(check("05-by-hand", 0.0).text != "")
from attnlib import desk, solved
print(solved.record(desk.find_desk(), "05-by-hand", solved=True))' 2>&1; cd - >/dev/null
"""


def test_a_disk_too_small_for_the_desk_and_then_large_enough(on_a_disk):
    said = on_a_disk(LAY + LEFT + 'mount -o remount,size=100m "$DESK"\n' + LAY + LAY, "300k")
    assert said[:3] == [f"The desk could not be laid out: {FULL}.", "exit 1", "0"]
    assert said[3].startswith("Your desk is ready in ")
    assert said[4:] == ["exit 0", "exit 0"]  # the third time there is nothing to say


def test_a_disk_that_fills_up_while_the_learner_works(on_a_disk):
    keep = 'cp "$DESK/notebooks/05-softmax.ipynb" "$DESK/mine"; printf x >> "$DESK/notebooks/05-softmax.ipynb"\n'
    fill = 'cat /dev/zero > "$DESK/filler" 2>/dev/null\n'
    reset = '"$PY" -m attnlib reset 05 2>&1; echo "exit $?"\n'
    whole = 'tail -c 1 "$DESK/notebooks/05-softmax.ipynb"; echo; ls "$DESK/backups" | wc -l\n'
    said = on_a_disk(
        LAY + keep + RECORD + fill + RECORD + reset + LEFT + whole + 'rm "$DESK/filler"\n' + reset, "20m"
    )
    assert said[1:4] == ["exit 0", "True", "None"]  # recorded, and nothing to complain of
    assert said[4:8] == [
        "True",
        f"This try could not be saved: {FULL}; what was saved before is still there.",
        f"The chapter could not be reset: {FULL}.",
        "exit 1",
    ]
    assert said[8:11] == ["0", "x", "0"]  # nothing half-written, the learner's copy as it was, no backup yet
    assert said[11].startswith("A clean 05-softmax.ipynb lies on your desk; your old copy is kept as backups/")


def test_a_disk_that_becomes_read_only(on_a_disk):
    fix = 'mount -o remount,ro "$DESK"\n'
    change = 'rm "$DESK/notebooks/05-softmax.ipynb"\n'
    said = on_a_disk(LAY + RECORD + change + fix + RECORD + LAY + 'ls "$DESK/progress.json" | wc -l\n', "100m")
    assert said[1:4] == ["exit 0", "True", "None"]
    assert said[4] == "True"  # the check itself works: only its record is lost
    assert said[5].startswith("This try could not be saved: this computer does not allow to change or read ")
    assert said[5].endswith("; what was saved before is still there.")
    assert said[6].startswith("The desk could not be laid out: this computer does not allow to change or read ")
    assert said[7:] == ["exit 1", "1"]
