"""JupyterLab as `make lab` starts it: on this machine only, behind its token, on the desk only, without root."""

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from types import SimpleNamespace

import psutil
import pytest
from test_setup import ROOT, closed_port, quiet_environment

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/lab/tree/notebooks/00-start-here\.ipynb\?token=(\w+)")
SECRET = "not for the browser"


def start(folder, before=()):
    """Start the server with course.py's own arguments, and wait until it has said its address and listens."""
    python = [*before, sys.executable]
    code = f"import course, json; print(json.dumps(course.lab_arguments({closed_port()})))"
    arguments = json.loads(subprocess.check_output([*python, "-c", code], text=True, cwd=folder))
    home = str(folder / "home")
    places = dict.fromkeys(("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"), home)
    environment = quiet_environment(folder, **places)
    command = [*python, *arguments, "--no-browser"]
    server = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
    limit = threading.Timer(60, server.kill)  # without it a server that says nothing would hang the test
    limit.start()
    said, found = "", None
    while not found and (line := server.stderr.readline()):
        said += line
        found = ADDRESS.search(line)
    limit.cancel()
    if not found:
        stop(server)
        pytest.fail(said)
    threading.Thread(target=server.stderr.read, daemon=True).start()  # so that it never waits for a reader
    running = SimpleNamespace(
        server=server, port=int(found[1]), token=found[2], arguments=arguments, folder=folder
    )
    while not listening(running):  # it may say its address a moment before it listens
        assert server.poll() is None
    return running


def stop(server):
    server.terminate()
    server.wait(60)
    server.stderr.close()


def listening(running):
    """Give the addresses at which the server's process listens on its port."""
    found = psutil.Process(running.server.pid).net_connections(kind="inet")
    return [entry.laddr.ip for entry in found if entry.status == "LISTEN" and entry.laddr.port == running.port]


def ask(running, method, path, *, token=True, body=None, **headers):
    """Send one request exactly as written and give the status and the text of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
    if token:
        headers["Authorization"] = f"token {running.token if token is True else token}"
    connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer.status, text


def desk_in(folder):
    """Lay a small desk beside files that nobody should reach."""
    (folder / "work" / "notebooks").mkdir(parents=True)
    (folder / "home").mkdir()
    (folder / "work" / "note.txt").write_text("on the desk", encoding="utf-8")
    (folder / "work" / ".hidden.txt").write_text(SECRET, encoding="utf-8")
    (folder / "outside.txt").write_text(SECRET, encoding="utf-8")
    shutil.copy(ROOT / "course.py", folder)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    desk_in(folder)
    running = start(folder)
    yield running
    stop(running.server)


def test_it_listens_on_this_machine_only(lab):
    assert listening(lab) == ["127.0.0.1"]


def test_no_flag_weakens_it(lab):
    given = " ".join(lab.arguments)
    assert "--ServerApp.ip=127.0.0.1" in given
    for word in ("token", "password", "allow_origin", "allow_remote", "disable_check_xsrf", "allow_hidden"):
        assert word not in given


@pytest.mark.parametrize(
    "path", ["/api/contents", "/api/kernels", "/api/sessions", "/api/terminals", "/files/note.txt"]
)
@pytest.mark.parametrize("token", [False, "wrong", "''"])
def test_it_refuses_who_does_not_know_the_token(lab, path, token):
    status, text = ask(lab, "GET", path, token=token)
    assert status in (302, 403)  # a page sends to the log-in, the rest refuses
    assert "on the desk" not in text
    assert ask(lab, "POST", "/api/kernels", token=token, body={})[0] == 403


def test_it_serves_who_knows_the_token(lab):
    assert ask(lab, "GET", "/api/contents")[0] == 200
    assert json.loads(ask(lab, "GET", "/api/contents/note.txt")[1])["content"] == "on the desk"


def test_it_refuses_a_page_that_comes_under_another_name(lab):
    # a page of a stranger may make its own name point to this machine: the name gives it away
    assert ask(lab, "GET", "/api/contents", Host="stranger.example")[0] == 403
    assert ask(lab, "GET", "/api/contents", token=False, Origin="http://stranger.example")[0] in (403, 404)


OUTSIDE = [
    "../outside.txt",
    "notebooks/../../outside.txt",
    "..%2foutside.txt",
    "%2e%2e/outside.txt",
    "..%5coutside.txt",
]


@pytest.mark.parametrize("path", [*OUTSIDE, "{absolute}", "/{absolute}", ".hidden.txt"])
@pytest.mark.parametrize("kind", ["/api/contents/", "/files/"])
def test_it_reads_nothing_outside_the_desk(lab, kind, path):
    status, text = ask(lab, "GET", kind + path.format(absolute=lab.folder / "outside.txt"))
    assert status in (400, 403, 404), text[:200]
    assert SECRET not in text


@pytest.mark.parametrize(
    "path", ["../new.txt", "..%2fnew.txt", "%2e%2e%2fnew.txt", "{absolute}", "/{absolute}", ".new.txt"]
)
def test_it_writes_nothing_outside_the_desk(lab, path):
    before = sorted(path for path in lab.folder.iterdir())
    body = {"type": "file", "format": "text", "content": "mine"}
    ask(lab, "PUT", "/api/contents/" + path.format(absolute=lab.folder / "new.txt"), body=body)
    for method, change in (("PATCH", {"path": "../moved.txt"}), ("POST", {"copy_from": "../outside.txt"})):
        ask(lab, method, "/api/contents/note.txt" if method == "PATCH" else "/api/contents/notebooks", body=change)
    assert sorted(lab.folder.iterdir()) == before
    assert not (lab.folder / "work" / ".new.txt").exists()
    assert (lab.folder / "outside.txt").read_text(encoding="utf-8") == SECRET
    assert ask(lab, "DELETE", "/api/contents/..%2foutside.txt")[0] in (400, 403, 404)
    for copied in (lab.folder / "work").rglob("*.txt"):
        assert copied.name.startswith(".") or SECRET not in copied.read_text(encoding="utf-8")


def test_it_cannot_be_asked_for_a_link(lab):
    for body in ({"type": "symlink", "target": "/etc"}, {"type": "link", "content": "../outside.txt"}):
        ask(lab, "PUT", "/api/contents/door", body=body)
    assert not [path for path in (lab.folder / "work").rglob("*") if path.is_symlink()]


# A user namespace in which this user has a plain user's number, and no right beyond that.
PLAIN = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]


def is_root():
    return hasattr(os, "geteuid") and os.geteuid() == 0


def can_become_plain():
    return (
        bool(shutil.which("unshare"))
        and subprocess.run([*PLAIN, "true"], stderr=subprocess.DEVNULL).returncode == 0
    )


@pytest.mark.skipif(is_root() and not can_become_plain(), reason="root cannot become a plain user on this system")
def test_it_needs_no_root(tmp_path):
    desk_in(tmp_path)
    running = start(tmp_path, PLAIN if is_root() else ())
    try:
        assert "--allow-root" not in running.arguments
        assert listening(running) == ["127.0.0.1"]
        body = {"type": "file", "format": "text", "content": "mine"}
        assert ask(running, "PUT", "/api/contents/notebooks/mine.txt", body=body)[0] == 201
        assert (tmp_path / "work" / "notebooks" / "mine.txt").read_text(encoding="utf-8") == "mine"
    finally:
        stop(running.server)
