"""One benchforge measures at a time, and the next one waits until the first has ended."""

import contextlib
import errno
import getpass
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from front_door import PROGRAMS, Bench, answering
from present import present
from repository import git
from suite_texts.with_wrk import suite
from users import NOBODY, SYSTEM_PYTHON, as_root

from benchforge.run.sandbox import machine_lock
from benchforge.run.sandbox.machine_lock import Wait

HOLDS = """
import sys
from benchforge.run.sandbox import machine_lock
machine_lock.NAME = "\\0" + sys.argv[3]
with machine_lock.measuring(print):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A lock of our own: the machine's may be held by somebody who measures."""
    name = f"benchforge test {tmp_path}"
    monkeypatch.setattr(machine_lock, "NAME", f"\0{name}")
    return name


@pytest.fixture
def holder(another_name: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the lock until its input ends; its words are those of a duel."""
    words = [sys.executable, "-c", HOLDS, "/usr/bin/benchforge", "duel", another_name]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as process:
        assert present(process.stdout).readline() == "held\n"
        yield process


def test_the_next_waits_until_the_holder_has_ended(holder: "subprocess.Popen[str]") -> None:
    """It reports the wait each second, with its time."""
    heard: list[Wait] = []

    def hear(wait: Wait) -> None:
        heard.append(wait)
        if len(heard) == 3:
            present(holder.stdin).close()

    with machine_lock.measuring(hear):
        assert holder.wait(60) == 0
    assert [wait.seconds for wait in heard[:3]] == [0.0, 1.0, 2.0]
    assert {wait.holder for wait in heard} == {f"benchforge duel (process {holder.pid})"}
    assert heard[0].began.startswith(f"user {getpass.getuser()}; ")
    assert f" ago in {Path.cwd()}" in heard[0].began


def test_it_waits_also_where_too_many_wait(holder: "subprocess.Popen[str]") -> None:
    heard: list[str] = []
    with contextlib.ExitStack() as others:
        for _ in range(10_000):
            other = others.enter_context(socket.socket(socket.AF_UNIX))
            other.setblocking(False)
            if other.connect_ex(machine_lock.NAME) == errno.EAGAIN:
                break

        def hear(wait: Wait) -> None:
            heard.append(wait.holder)
            assert re.search(r"; \d+ more wait$", wait.began)
            holder.kill()

        with machine_lock.measuring(hear):
            pass
    assert heard == ["a process that the kernel does not name"]


# --- other users ---------------------------------------------------------------------------------

SQUATS = """
import socket, sys
mine = socket.socket(socket.AF_UNIX)
mine.bind("\\0" + sys.argv[1])
if sys.argv[2]:
    mine.listen()
print(flush=True)
sys.stdin.read()
"""


@as_root
@pytest.mark.parametrize(
    ("listens", "holder"),
    [("listens", r"python3\S* \(process \d+\)"), ("", "a process that the kernel does not name")],
)
def test_a_user_who_took_the_name_is_named(another_name: str, listens: str, holder: str) -> None:
    words = [*NOBODY, SYSTEM_PYTHON, "-c", SQUATS, another_name, listens]
    heard: list[Wait] = []
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as other:
        present(other.stdout).readline()

        def hear(wait: Wait) -> None:
            heard.append(wait)
            other.kill()

        with machine_lock.measuring(hear):
            assert other.wait(60) < 0
    first = heard[0]
    assert re.fullmatch(f"{holder} has the lock of benchforge", first.in_words)
    assert first.began.startswith("user nobody")
    assert first.seconds == 0


@pytest.fixture
def squatted() -> Iterator[str]:
    """The machine's lock is ours; how a message names us."""
    with socket.socket(socket.AF_UNIX) as held:
        try:
            held.bind(machine_lock.NAME)
        except OSError:
            pytest.skip("a benchforge measures here")
        held.listen()
        yield rf"(process {os.getpid()}) has the lock of benchforge (user {getpass.getuser()}; "


def test_who_does_not_wait_ends_and_who_goes_on_says_so(
    bench: Bench, tmp_path: Path, squatted: str
) -> None:
    done = bench("run", suite(tmp_path, answering()), "--no-wait", code=4)
    assert squatted in done.err
    assert "hint: leave --no-wait out, or add --without-lock" in done.err
    assert not (tmp_path / "results").exists()
    done = bench("run", "small.toml", "--without-lock", "--json", code=0)
    assert "this run goes on without the lock" in done.err
    assert squatted in json.loads((done.result / "result.json").read_text())["facts"]["lock"]
    (check,) = [load for load in json.loads(done.out)["checks"] if load["id"] == "N6"]
    assert (check["status"], squatted in check["message"]) == ("warn", True)
    bench("run", "--resume", done.result, "--without-lock", code=2)


def test_a_duel_and_a_calibration_do_not_wait_either(
    bench: Bench, tmp_path: Path, squatted: str
) -> None:
    server = f"{sys.executable} {PROGRAMS}/servers/answers.py --wait 0.003 --port {{port}}"
    duel = ("duel", "--time", "9s", "--path", "/ping", "--label", "a", "--label", "b")
    for words in ((*duel, server, server), ("calibrate", "--rounds", "2", "--seconds", "1")):
        done = bench(*words, "--no-wait", code=4)
        assert squatted in done.err
        assert "hint: leave --no-wait out, or add --without-lock" in done.err
    done = bench(*duel, server, server, "--no-wait", "--without-lock")
    assert done.err.count("this run goes on without the lock") == 1
    (result,) = (tmp_path / "results").glob("duel-*/result.json")
    assert squatted in json.loads(result.read_text())["facts"]["lock"]


def test_a_gate_does_not_wait_either(bench: Bench, tmp_path: Path, squatted: str) -> None:
    (tmp_path / "app.py").write_text("from benchforge_servers.apps.hello_wsgi import app\n")
    text = suite(tmp_path, 'use = "waitress"\napp = "app:app"\ndirectory = "."').read_text()
    (tmp_path / "small.toml").write_text(text.replace('path = "/ping"', 'path = "/"'))
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "app.py", "small.toml")
    git(tmp_path, "commit", "--quiet", "--message", "a")
    with (tmp_path / "app.py").open("a") as file:
        file.write("# another\n")
    words = ("gate", "small.toml", "--base", "HEAD", "--time", "8s")
    done = bench(*words, "--no-wait")
    assert (done.code, squatted in done.err) == (4, True), done.all
    done = bench(*words, "--without-lock", "--json")
    assert "this run goes on without the lock" in done.err
    assert any(squatted in note for note in json.loads(done.out)["notes"]), done.all


AUTHOR = """
from benchforge.run.sandbox import machine_lock
machine_lock.NAME = "\\0{name}"
pytest_plugins = ["benchforge.testing"]
"""
OWN_TEST = '''
def test_it(run_suite):
    run_suite("""benchforge = 1
loaders.load = { use = "pace", connections = 1, duration = "0.1s" }
scenarios.one = { servers = ["one"], loaders = ["load"] }
[servers.one]
use = "waitress"
app = "hello_wsgi"
""")
'''


def test_a_test_of_the_authors_kit_says_that_it_waits(
    holder: "subprocess.Popen[str]", another_name: str, tmp_path: Path
) -> None:
    """At once, although pytest keeps what a test prints until the test ends."""
    (tmp_path / "conftest.py").write_text(AUTHOR.format(name=another_name))
    (tmp_path / "test_it.py").write_text(OWN_TEST)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, stderr=pipe, text=True) as process:
        first = present(process.stderr).readline()
        process.kill()
    assert f"(process {holder.pid}) is measuring: waiting until it ends" in first
