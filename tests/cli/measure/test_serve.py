"""`benchforge serve`: a server with its backends, asked from outside, and nothing left after it."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from front_door import WAITS_S, Bench, answering, bench_words, needed, needed_module
from suite_texts.files import suite_text

LOGS = "bf-serve-"


def suite(folder: Path) -> Path:
    path = folder / "serving.toml"
    path.write_text(suite_text("cli/measure/serve", answering=answering()))
    return path


class Serving:
    """A benchforge that serves, and what it printed."""

    def __init__(self, process: subprocess.Popen[str], lines: list[str], folder: Path) -> None:
        self.process, self.lines, self.folder = process, lines, folder

    def address(self) -> tuple[str, int]:
        host, _, port = self.lines[0].rpartition("http://")[2].rpartition(":")
        return host, int(port)

    def ask(self, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(*self.address(), timeout=WAITS_S)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def ended(self) -> str:
        """What it said on stderr, once it has ended."""
        self.process.wait(WAITS_S)
        return (self.folder / "stderr").read_text()


@contextlib.contextmanager
def serving(folder: Path, *words: str, lines: int = 2) -> Iterator[Serving]:
    """Start it in a folder of its own, and wait for the lines that it prints when it serves."""
    (folder / "tmp").mkdir(exist_ok=True)
    with (
        (folder / "stderr").open("w") as stderr,
        subprocess.Popen(
            bench_words("serve", suite(folder), *words),
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder / "tmp")},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            printed = [process.stdout.readline().rstrip() for _ in range(lines)]
            assert all(printed), (folder / "stderr").read_text()
            yield Serving(process, printed, folder)
        finally:
            process.kill()


def listens(address: tuple[str, int]) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(address) == 0


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WAITS_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def started_by(serving: Serving) -> dict[int, str]:
    """All processes but benchforge itself that have its folder for what is temporary, by pid."""
    mark = f"TMPDIR={serving.folder / 'tmp'}".encode()
    actual = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (process / "environ").read_bytes().split(b"\0"):
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                actual[int(process.name)] = line.decode()
    actual.pop(serving.process.pid, None)
    return actual


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("s")  # short: PostgreSQL's socket lies below it


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["INT", "TERM", "HUP"]
)
def test_a_server_and_its_database_serve(folder: Path, number: signal.Signals) -> None:
    needed("postgres")
    for module in ("gunicorn", "flask", "psycopg2"):
        needed_module(module)
    with serving(folder, "flask", lines=3) as server:
        assert server.lines[0].startswith("flask: http://127.0.0.1:")
        assert server.lines[1].startswith("GET /agents: 200, ")
        assert server.lines[2].startswith("agents: postgresql://")
        status, body = server.ask("/agents")
        assert status == 200
        assert f"{len(body)} bytes" in server.lines[1]
        assert len(json.loads(body)) > 10
        assert len(started_by(server)) > 1  # the keepers have an environment of their own
        os.killpg(server.process.pid, number)  # as a terminal does: to the whole group
        output = server.ended()
        assert server.process.returncode == 0
    assert "for scenario agents (--scenario has also: index)" in output
    assert output.endswith("stopped: flask, agents\n")
    assert not listens(server.address())
    assert not started_by(server)
    assert list((folder / "tmp").iterdir()) == []


def test_another_scenario_has_other_backends(folder: Path) -> None:
    needed("postgres")
    with serving(folder, "beside", "--scenario", "alone") as server:
        assert server.lines[1] == "GET /ping: 200, 4 bytes"
        server.process.send_signal(signal.SIGINT)
        assert server.ended().endswith("stopped: beside\n")


def test_kill_9_of_serve_leaves_no_process(folder: Path) -> None:
    needed("postgres")
    with serving(folder, "beside", lines=3) as server:
        assert len(started_by(server)) > 1  # the keepers have an environment of their own
        server.process.kill()
        assert eventually(lambda: not started_by(server))
        # A process that ends gives up its memory, and so its environment, before its sockets.
        assert eventually(lambda: not listens(server.address()))


def test_it_serves_at_the_port_that_is_asked_for(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serving(folder, "plain", "--port", str(port)) as server:
        status, body = server.ask("/ping")
        answered = f"GET /ping: {status}, {len(body)} bytes"
        assert server.lines == [f"plain: http://127.0.0.1:{port}", answered]
        server.process.send_signal(signal.SIGINT)
        output = server.ended()
    # On the machine's own network; limits hold there, too.
    refused = "net.core.somaxconn (the trial uses the machine's own network)"
    assert f"tuning: 1 applied; not applied: {refused}" in output


def test_a_port_that_is_taken_is_told_with_who_has_it(bench: Bench, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        call = bench("serve", suite(tmp_path), "plain", "--port", port, code=2)
    assert f"--port {port}: the port is taken by process {os.getpid()} (" in call.err


def test_two_may_serve_at_once_and_beside_a_measurement(folder: Path, tmp_path: Path) -> None:
    # The lock of who measures: taken by somebody else for as long as this runs.
    program = (
        "from benchforge.run.sandbox.machine_lock import measuring\n"
        "with measuring(print): print(1, flush=True); input()"
    )
    words = [sys.executable, "-c", program]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as measures:
        try:
            with serving(folder, "plain") as server, serving(tmp_path, "plain") as other:
                assert server.ask("/ping")[0] == other.ask("/ping")[0] == 200
        finally:
            measures.kill()


def test_a_server_that_ends_by_itself_is_told_with_its_last_lines(folder: Path) -> None:
    with serving(folder, "plain") as server:
        (pid,) = [pid for pid, line in started_by(server).items() if "answers.py" in line]
        os.kill(pid, signal.SIGKILL)
        output = server.ended()
        assert server.process.returncode == 4
    assert "error: plain: ended by itself with exit code -9" in output
    (logs,) = (folder / "tmp").glob(f"{LOGS}*")
    assert f"logs are kept in {logs}" in output
    assert (logs / "server-plain.err").exists()


def test_a_backend_that_ends_by_itself_is_told(folder: Path) -> None:
    needed("postgres")
    with serving(folder, "beside", lines=3) as server:
        (pid,) = [pid for pid, line in started_by(server).items() if "postgres -D" in line]
        os.kill(pid, signal.SIGQUIT)  # at once
        output = server.ended()
        assert server.process.returncode == 4
    assert "error: agents: ended by itself" in output


def test_a_wrong_answer_ends_it_and_its_logs_stay(bench: Bench, tmp_path: Path) -> None:
    call = bench("serve", suite(tmp_path), "wrong", "-o", "kept", code=4)
    assert "error: wrong: GET /ping: " in call.err
    (logs,) = (tmp_path / "kept").glob("serve-wrong-*")
    assert (logs / "server-wrong.err").exists()
    assert f"logs are kept in kept/{logs.name}" in call.err


def test_interrupted_before_it_serves_it_ends_as_any_command(tmp_path: Path) -> None:
    words = bench_words("serve", suite(tmp_path), "wrong")
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        # What a killed benchforge of another test had left may be named before.
        lines = iter(process.stderr.readline, "")
        first = next(line for line in lines if not line.startswith("left by"))
        assert first.startswith("starting wrong")
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read() == "interrupted: nothing was served\n"
        assert process.wait(WAITS_S) == 143


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("flsk", ["no server 'flsk' is declared", "did you mean 'flask'?"]),
        (
            "idle",
            ["servers.idle: no scenario names it", "agents, index, beside, alone, ping, never"],
        ),
        ("running", ["servers.running: it runs already, outside benchforge"]),
    ],
)
def test_what_cannot_be_served_is_told(
    bench: Bench, tmp_path: Path, server: str, expected: Sequence[str]
) -> None:
    done = bench("serve", suite(tmp_path), server, code=2)
    for item in expected:
        assert item in done.err


def test_logs_that_cannot_be_written_end_it_with_5(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    call = bench("serve", suite(tmp_path), "plain", "-o", "file", code=5)
    # Before it may stand what a killed benchforge of another test had left.
    assert "error: file: File exists\nhint: choose another folder" in call.err
