"""The other load tools, run for a second against a real server, which counts what it is asked."""

import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from front_door import lack
from present import present

from benchforge.cli.measure.run.run import unproved
from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.parts.command import Command
from benchforge.parts.part import Loader
from benchforge.parts.registry import Registry
from benchforge.parts.site import Output, Site, Target
from benchforge.plugin import Reading, Request
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.sandbox.sandbox import Running, Sandbox
from benchforge.run.trial.context import locate_programs
from benchforge.run.trial.scope import TrialRecorder
from benchforge.run.trial.stages.drive import LoadToolRun, drive
from benchforge.suite.load import load

SERVER = Path(__file__).parents[2] / "programs/faulty_servers/by_path.py"
HTTP_2 = Path(__file__).parents[2] / "programs/faulty_servers/http2_faults.py"
ASKS_TWICE = "import sys, urllib.request as u; [u.urlopen(sys.argv[1]).read() for _ in range(2)]"
VISITOR = """from locust import FastHttpUser, task
class Visitor(FastHttpUser):
    @task
    def two(self):
        self.client.get('/ok')
        with self.client.get('/ok', catch_response=True, name='bad') as answer:
            answer.failure('not so good')
"""
CLOSED = {"connections": 4, "duration": 1}
RUNS: list[tuple[str, dict[str, Any]]] = [
    ("h2load", CLOSED),
    ("h2load", CLOSED | {"streams": 3, "threads": 2}),
    ("hey", CLOSED),
    ("hey", CLOSED | {"keep_alive": False, "rate": "100/s"}),
    ("siege", CLOSED),
    ("siege", CLOSED | {"keep_alive": False}),
    ("locust", {"users": 4, "duration": 2}),
    ("locust", {"users": 4, "duration": 2, "user": "http"}),
    ("locust", {"users": 4, "duration": 2, "workers": 2}),
    ("oha", CLOSED),
    ("oha", CLOSED | {"rate": "100/s", "correct": True}),
    ("k6", {"users": 4, "duration": 1}),
    ("k6", {"users": 4, "duration": 1, "rate": "100/s", "keep_alive": False}),
]


@dataclass
class Ran:
    """A reading, and what the server counted."""

    reading: Reading
    accepted: int = 0
    asked: int = 0


def programs(part: Loader) -> Mapping[str, Path]:
    try:
        return locate_programs(part.needs(), Path(sys.executable))
    except BenchforgeError as error:
        if part.proved == "recordings":  # no package of Debian has it
            pytest.skip(str(error))
        lack(str(error))


@contextmanager
def server(
    sandbox: Sandbox, folder: Path, program: Sequence[object]
) -> Iterator[tuple[int, Running]]:
    port = sandbox.free_port()
    script, *words = program
    running = sandbox.start("server", Command(sys.executable, script, port, *words), folder, {})
    until = time.monotonic() + 200
    while time.monotonic() < until:
        with sandbox.socket() as inside:
            if inside.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.02)
    yield port, running


def run(
    tool: str,
    options: dict[str, Any],
    folder: Path,
    request: Request | None = None,
    *,
    program: Sequence[object] = (SERVER, "slowly"),
    **more: Any,
) -> Ran:
    part = Registry().part("loader", tool).model_validate(options)
    assert isinstance(part, Loader)
    entries, known_values = request or Request(path="/ok"), programs(part)
    with LocalHost().trial(folder) as sandbox, server(sandbox, folder, program) as (port, running):
        url = f"http://127.0.0.1:{port}{entries.path}"
        target = Target(url, entries, folder, known_values, Path(sys.executable), **more)
        recorder = TrialRecorder(lambda _: None)
        finished = drive(sandbox, LoadToolRun(part, target, "loader"), recorder)
        ran = Ran(part.read(Output(target, finished)))
        counted = sandbox.stop(running, first=signal.SIGTERM).stdout.read_text().split()
    ran.accepted, ran.asked = int(counted[0]) - 1, int(counted[1])
    return ran


def run_until_requests_ended(tool: str, options: dict[str, Any], folder: Path) -> Ran:
    """Run it again where a loud machine let none of its requests end in its second or two."""
    for attempt in range(4):
        (folder / f"{attempt}").mkdir()
        with suppress(OutputDamaged):
            return run(tool, options, folder / f"{attempt}")
    return run(tool, options, folder)


@pytest.mark.samples(4)
@pytest.mark.parametrize(("tool", "options"), RUNS)
def test_it_counts_as_the_server_does(tmp_path: Path, tool: str, options: dict[str, Any]) -> None:
    ran = run_until_requests_ended(tool, options, tmp_path)
    reading = ran.reading
    assert reading.good == reading.responses > 0
    # Requests that were under way at the end are not told; h2load may call them errors.
    slots = int(options.get("connections", 4)) * int(options.get("streams", 1))
    assert sum(reading.errors.values()) <= (slots if tool == "h2load" else 0)
    assert 0 <= ran.asked - reading.responses <= slots
    if tool not in {"siege", "locust"}:
        assert reading.seconds >= 1


def test_hyperfine_times_a_process_and_makes_as_many_requests(tmp_path: Path) -> None:
    command = ["{python}", "-c", ASKS_TWICE, "{url}"]
    ran = run("hyperfine", {"command": command, "requests": 2, "runs": 3}, tmp_path)
    assert ran.asked == ran.reading.responses == 6
    assert ran.reading.printed["runs"] == 3


@pytest.mark.parametrize("tool", ["h2load", "hey", "locust", "oha", "k6"])
def test_method_headers_and_body_arrive(tmp_path: Path, tool: str) -> None:
    headers = {"X-One": "a b", "Host": "a.example"}
    request = Request(method="PUT", path="/echo", headers=headers, body="x=1")
    options = {"duration": 1} | ({"users": 1} if tool in {"locust", "k6"} else {"connections": 1})
    run(tool, options | ({"duration": 2} if tool == "locust" else {}), tmp_path, request)
    head, _, body = (tmp_path / "server.err").read_text().splitlines()[0].partition(" | ")
    assert head.startswith("PUT /echo HTTP/1.1")
    assert "x-one: a b" in head
    assert "host: a.example" in head
    assert "gzip" not in head
    assert body == "x=1"


def test_requests_that_h2load_never_sent_failed_by_the_servers_doing(tmp_path: Path) -> None:
    options = CLOSED | {"protocol": "h2c"}
    refused, folder = OutputDamaged("not refused"), tmp_path
    for attempt in range(4):  # on a loud machine no request may end in a second
        folder = tmp_path / f"{attempt}"
        folder.mkdir()
        try:
            run("h2load", options, folder, program=(HTTP_2, "ends-5"))
        except OutputDamaged as error:
            refused = error
            if "\n0\t-1\t" in (folder / "h2load-load.tsv").read_text():
                break
    assert "all 4 clients ended before the load did" in str(refused)
    assert refused.about == "behaviour"
    assert "\n0\t-1\t" in (folder / "h2load-load.tsv").read_text()


def test_a_locustfile_of_ones_own_says_what_is_asked(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(VISITOR)
    options = {"locustfile": "mine.py", "users": 2, "duration": 2}
    reading = run("locust", options, tmp_path, suite_folder=tmp_path).reading
    assert reading.errors["other"] == reading.responses - (reading.good or 0) > 0
    assert reading.unanswered is None
    requests = reading.printed["requests"]
    assert isinstance(requests, dict)
    assert set(requests) == {"GET /ok", "GET bad"}


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\nimport nothing_like_it\n", "locust: mine.py:2: ModuleNotFoundError: No module named"),
        ("def x(:\n", "locust: mine.py:1: SyntaxError: invalid syntax"),
        ("x = 1\n", "locust: No User class found!"),
    ],
)
@pytest.mark.parametrize("workers", [0, 1])
def test_a_broken_locustfile(tmp_path: Path, text: str, says: str, workers: int) -> None:
    (tmp_path / "mine.py").write_text(text)
    options = {"locustfile": "mine.py", "duration": 1, "workers": workers}
    with pytest.raises(OutputDamaged, match=says):
        run("locust", options, tmp_path, suite_folder=tmp_path)


@pytest.mark.parametrize("tool", ["h2load", "siege", "hyperfine"])
def test_its_version_is_the_first_thing_that_it_says(tmp_path: Path, tool: str) -> None:
    options = {"command": ["{python}", "{url}"], "requests": 1} if tool == "hyperfine" else {}
    part = Registry().part("loader", tool).model_validate(options)
    assert isinstance(part, Loader)
    site = Site(
        *("version", tmp_path, tmp_path, "127.0.0.1", {}, Path(sys.executable)),
        *(programs(part), {}, tmp_path, False),
    )
    with LocalHost().trial(tmp_path) as sandbox:
        done = sandbox.run("version", present(part.version(site)), tmp_path, {}, 200)
    text = done.stdout.read_text() + done.stderr.read_text()
    assert any(digit.isdigit() for digit in text.splitlines()[0])
    assert tool in text.splitlines()[0].lower()


def test_a_run_says_which_parsers_were_never_run(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(
        'benchforge = 1\n[servers.one]\nuse = "command"\ncommand = ["one", "{port}"]\n'
        '[loaders.a]\nuse = "weighttp"\n[loaders.b]\nuse = "weighttp"\nconnections = 2\n'
        '[loaders.c]\nuse = "wrk"\n'
        '[scenarios.ok]\nservers = ["one"]\nloaders = ["a", "b", "c"]\n'
    )
    suite = load(tmp_path / "suite.toml", Registry())
    assert unproved(suite) == ["weighttp: parser proved on recordings, not run"]
