"""Everything that can go wrong: what is said, what the exit code is, and that nothing is left."""

import contextlib
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from faults.host_kills import KILLS, kills, section
from faults.processes import descendant
from faults.robustness import PAGE, noted
from faults.shell import program, shell
from faults.watched import (
    NOTHING,
    ORDINARY,
    REFUSED,
    Watched,
    children,
    keepers,
    line,
    started,
    until,
    valid,
    watched,
)
from front_door import (
    OWN_PLACE,
    PROGRAMS,
    Bench,
    answering,
    bench_words,
    captured,
    lack,
    needed,
    needed_module,
    program_words,
)
from suite_texts.with_wrk import suite, trials

pytestmark = pytest.mark.timeout(1000)

TORTURE = Path(__file__).with_name("torture.py")
SUPPORT = Path(__file__).parents[1] / "support"
DATA = '\n[backends.db]\nuse = "postgresql"\ndataset = "agents"\n'


@pytest.fixture
def may_unshare() -> None:
    allowed(REFUSED)


def allowed(first: tuple[str, ...]) -> None:
    """Leave the test where user namespaces are refused already."""
    if subprocess.run([*first, "true"], check=False, capture_output=True).returncode:
        lack("user namespaces are refused here already")


def zoo(folder: Path, duration: str = "60s") -> Path:
    """A suite with all that gets away: workers, a database, daemons, a pair that respawns."""
    needed_module("gunicorn")
    needed("postgres", "psql", "initdb", "redis-server")
    redis = shlex.join(program_words("redis-server"))
    server = (
        'use = "gunicorn"\napp = "zoo:app"\nworkers = 1\n'
        f'directory = "{PROGRAMS / "apps"}"\n'
        f'environment = {{ ZOO = "{PROGRAMS / "processes"}", ZOO_REDIS = "{redis}" }}\n' + DATA
    )
    return suite(folder, server, scenario='backends = ["db"]', duration=duration)


def under_load(item: Watched, word: str = "wrk") -> int:
    """Wait until the load tool of a trial, or another program, runs below benchforge; its pid."""
    return until(lambda: descendant(item.pid, word))


def kill(*pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # the first may have taken it along
            os.kill(pid, signal.SIGKILL)


def cleared(folder: Path, item: Watched) -> str:
    """Start again; what the next start says that it cleared away."""
    scratch = item.scratch
    with watched(folder, "run", suite(folder, answering())) as second:
        output = second.ended()
        assert output.code == 0, output.all
    (line,) = [line for line in output.err.splitlines() if line.startswith("left by")]
    for one_folder in scratch:
        assert f"{one_folder}" in line
    assert second.leaves == NOTHING
    return line


# --- who keeps the trial ----------------------------------------------------------------------


AS_ROOT = ("unshare", "--user", "--map-root-user")
NO_NAMESPACES = "a server stops the keeper, and there are no namespaces"


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("way", "first", "fault", "says"),
    [
        ("traces", AS_ROOT, "a server of root's traces the keeper", "FAILED (ask)"),
        ("traces", ORDINARY, "a server of an ordinary user traces the keeper", "good responses/s"),
        ("stops", REFUSED, NO_NAMESPACES, "FAILED (ask)"),
    ],
)
def test_a_server_that_halts_what_keeps_it_ends_its_trial(
    tmp_path: Path, may_unshare: None, way: str, first: tuple[str, ...], fault: str, says: str
) -> None:
    path = suite(tmp_path, shell(program("faulty_servers/halts", "$1", way)))
    with watched(tmp_path, "run", path, first=first) as run:
        noted(fault, run, says)


# --- who is killed -------------------------------------------------------------------------------


KILLED = ("benchforge", "the keeper", "the keeper's inner process")


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("victims", "user"),
    [
        (KILLED[:1], ""),
        (KILLED[1:2], ""),
        (KILLED[2:], ""),
        (KILLED, ""),
        (KILLED[:1], " of an ordinary user"),
        (KILLED[1:2], " of an ordinary user"),
        (KILLED, " of an ordinary user"),
    ],
)
def test_kill_9_ends_workers_databases_and_daemons(
    bench: Bench, tmp_path: Path, victims: tuple[str, ...], user: str
) -> None:
    if user:
        allowed(REFUSED)
    # Without its keeper a trial is measured again, this time to its end.
    path = zoo(tmp_path, "60s" if "benchforge" in victims else "10s")
    with watched(tmp_path, "run", path, first=ORDINARY if user else ()) as run:
        under_load(run)
        pids = dict(zip(KILLED, (run.pid, *keepers(run)), strict=True))
        kill(*(pids[name] for name in victims))
        ended = f"{', '.join(victims)}{user}"
        fault = f"kill -9 of {ended}; gunicorn, PostgreSQL, daemons that are deaf"
        if "benchforge" in victims:
            noted(fault, run, text=", which the next start removes")
            assert run.scratch
        else:
            noted(fault, run, "FAILED", text="; it was measured again")
            failures = [trial["failure"] for trial in trials(tmp_path)]
            assert [item and item["subject"] for item in failures] == ["apparatus", None]
    bench("validate", run.result, code=0)
    if "benchforge" in victims:
        assert "removed" in cleared(tmp_path, run)


@pytest.mark.samples(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_keeps_the_trials(bench: Bench, tmp_path: Path, number: signal.Signals) -> None:
    with watched(tmp_path, "run", suite(tmp_path, answering(), blocks=50)) as run:
        until(lambda: trials(tmp_path))
        under_load(run)
        run.signal(number)
        noted(f"{number.name} under load", run, "interrupted: ")
    assert (run.result / "report.md").exists()
    valid(bench, run)


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("number", "first", "by"),
    [
        (signal.SIGHUP, ("nohup",), "nohup"),
        (signal.SIGINT, ("sh", "-c", "trap '' INT; exec \"$@\"", "-"), "a shell's background"),
    ],
)
def test_a_signal_that_is_ignored_from_outside_ends_nothing(
    bench: Bench, tmp_path: Path, number: signal.Signals, first: tuple[str, ...], by: str
) -> None:
    with watched(tmp_path, "run", suite(tmp_path, answering()), first=first) as run:
        under_load(run)
        run.signal(number)
        noted(f"{number.name} under load, which {by} has it ignore", run, "written to")
    valid(bench, run)


def test_a_terminal_that_is_closed_ends_it(bench: Bench, tmp_path: Path) -> None:
    terminal, theirs = pty.openpty()
    # A session of its own, of which the terminal is the controlling one.
    first = ("setsid", "--ctty")
    path = suite(tmp_path, answering(), duration="60s")
    words = [sys.executable, str(PROGRAMS / "harness/watched.py"), str(tmp_path / "left")]
    call = [*words, *first, *bench_words("run", path)]
    (tmp_path / "t").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "t")}
    deadline = time.monotonic() + 200
    while True:
        process = subprocess.Popen(
            call, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
        )
        while process.poll() is None and not list(tmp_path.glob("results/[!.]*/result.json")):
            time.sleep(0.02)
        if process.poll() is None:
            break
        assert time.monotonic() < deadline
        time.sleep(0.5)
    content = Watched(tmp_path, process, int((tmp_path / "left.pid").read_text()))  # type: ignore[arg-type]
    try:
        under_load(content)
        os.close(theirs)
        os.close(terminal)  # the last: the kernel hangs up
        process.wait(200)
    finally:
        kill(content.pid)
    (tmp_path / "out").write_text("")
    (tmp_path / "err").write_text("")
    noted("the terminal is closed under load", content)
    valid(bench, content)


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["alone", "network", "refused", "turns", "calibrate", "serve"])
def test_kills_at_any_moment_leave_nothing(way: str) -> None:
    needed_module("gunicorn")
    needed("postgres", "psql", "initdb", "wrk")
    kills, seed, minutes = int(os.environ.get("KILLS", "4")), 6, 30
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT)}
    # A short path: PostgreSQL's socket lies below it, and the path of a socket ends at 107 bytes.
    with tempfile.TemporaryDirectory() as folder:
        words = [*OWN_PLACE, sys.executable, TORTURE, f"{folder}/t", kills, seed, minutes, way]
        done = captured([str(word) for word in words], env=environment)
    if done.stderr.startswith("no private"):
        lack(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{way}: {kills} kills; "), done.stdout


# --- servers that misbehave ----------------------------------------------------------------------

DAEMON = f"{sys.executable} {PROGRAMS / 'processes/daemon.py'} deaf.ready"
PAIR = f"{sys.executable} {PROGRAMS / 'processes/respawns.py'}"
ANSWERS = program("servers/answers", "--port", "$1")
RESPAWNS = "a server with a pair beside it that starts itself again"
GOOD = "good responses/s"


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("fault", "script", "says"),
    [
        ("a server that forks away", f"{DAEMON}; exit 0", "before it was ready"),
        ("a server that ignores TERM and INT", f'trap "" TERM INT; {ANSWERS}', GOOD),
        (RESPAWNS, f"{PAIR}; {ANSWERS}", GOOD),
    ],
)
def test_a_server_that_gets_away_is_ended(
    bench: Bench, tmp_path: Path, fault: str, script: str, says: str
) -> None:
    with watched(tmp_path, "run", "--details", suite(tmp_path, shell(script))) as run:
        noted(fault, run, says)
    valid(bench, run)


@pytest.mark.exhaustive
def test_a_log_of_a_gigabyte_a_second_is_cut(bench: Bench, tmp_path: Path) -> None:
    server = shell(f"{sys.executable} {PROGRAMS / 'processes/floods.py'} & {ANSWERS}")
    largest = 0
    with watched(tmp_path, "run", suite(tmp_path, server)) as run:
        while run.process.poll() is None:
            for log in tmp_path.glob("results/*/trials/*/server-one.out"):
                largest = max(largest, log.stat().st_size)
            time.sleep(0.02)
        noted("a server that fills its log as fast as it can", run, "only the first 64 MiB")
    assert 64 << 20 < largest < 4 << 30
    (trial,) = trials(tmp_path)
    processes = {process["label"]: process for process in trial["processes"]}
    assert processes["server-one"]["truncated"] == ["stdout"]
    assert processes["loader-wrk"]["truncated"] == []
    assert (run.result / "trials/0001/server-one.out").stat().st_size == 64 << 20
    assert "Of stdout only the first 64 MiB were kept." in (run.result / "raw.md").read_text()
    valid(bench, run)


@pytest.mark.exhaustive
def test_a_backend_that_dies_fails_the_trial(bench: Bench, tmp_path: Path) -> None:
    needed("postgres", "psql", "initdb")
    path = suite(tmp_path, answering() + DATA, scenario='backends = ["db"]', duration="5s")
    with watched(tmp_path, "run", path) as run:
        under_load(run)
        kill(under_load(run, "postgres"))
        noted("a database is killed under load", run, "db: ended with exit code -9")
    valid(bench, run)


@pytest.mark.exhaustive
def test_a_load_tool_that_hangs_is_ended(bench: Bench, tmp_path: Path) -> None:
    with watched(tmp_path, "run", "--details", suite(tmp_path, answering())) as run:
        os.kill(under_load(run), signal.SIGSTOP)
        noted("a load tool that hangs", run, "did not end within")
    valid(bench, run)


@pytest.mark.exhaustive
def test_a_frozen_benchforge_is_not_believed(bench: Bench, tmp_path: Path) -> None:
    with watched(tmp_path, "run", suite(tmp_path, answering(), duration="5s")) as run:
        under_load(run)
        run.signal(signal.SIGSTOP)
        time.sleep(2.5)  # it looks four times a second; from 1.5 s on it is not believed
        run.signal(signal.SIGCONT)
        fault = "SIGSTOP of benchforge under load, and SIGCONT later"
        noted(fault, run, " · NOT BELIEVED: T3 watched")
    first, *_, last = trials(tmp_path)
    (check,) = [check for check in first["checks"] if check["id"] == "T3"]
    assert check["status"] == "fail"
    assert "benchforge or the whole machine stood still" in check["message"]
    (check,) = [check for check in last["checks"] if check["id"] == "T3"]
    assert check["status"] == "pass"
    valid(bench, run)


# --- where results are kept ----------------------------------------------------------------------


def test_a_results_folder_that_is_deleted_is_told(tmp_path: Path) -> None:
    with watched(tmp_path, "run", suite(tmp_path, answering())) as run:
        under_load(run)
        shutil.rmtree(tmp_path / "results", ignore_errors=True)
        noted("the results are deleted under load", run, "error: ")
        assert "hint: the folder was removed" in run.ended().err


# Once a trial is kept; between two, since no file may be open for writing then.
READ_ONLY = (
    'n=0; until ls "$0"/results/*/trials/*/trial.json || [ $n = 300 ]; do sleep 0.1; '
    'n=$((n + 1)); done >&2 2>/dev/null; n=0; until mount -o remount,ro "$0" '
    "2>/dev/null || [ $n = 9000 ]; do n=$((n + 1)); sleep 0.005; done; wait $!"
)


@pytest.mark.samples(1)
@pytest.mark.usefixtures("may_unshare")
@pytest.mark.parametrize(
    ("fault", "size", "script"),
    [
        ("the disk of the results fills up", "64m,nr_inodes=34", "wait $!"),
        ("the results become read-only", "64m", READ_ONLY),
    ],
)
def test_a_read_only_folder_keeps_all(tmp_path: Path, fault: str, size: str, script: str) -> None:
    path = suite(tmp_path, answering(), blocks=30)
    disk = tmp_path / "disk"
    disk.mkdir()
    look = " ".join(bench_words("validate"))
    text = f'mount -t tmpfs -o size={size} none "$0" && {{ "$@" & {script} 2>/dev/null >&2; '
    text += f'code=$?; {look} "$0"/results/*; echo valid $?; exit $code; }}'
    path_ = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
    if script == READ_ONLY:
        again = 'mount -t tmpfs none "$0" && mount -o remount,ro "$0"'
        if subprocess.run([*path_, again, str(disk)], capture_output=True, check=False).returncode:
            pytest.skip("a mount cannot be made read-only here")
    first = (*path_, text, str(disk))
    with watched(tmp_path, "run", path, "-o", disk / "results", first=first) as run:
        noted(fault, run, "error: ")
        assert run.ended().out.endswith("valid 0\n"), run.ended().all


# --- others on the machine -----------------------------------------------------------------------


@pytest.mark.exhaustive
def test_two_at_once_are_refused(tmp_path: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    path = suite(tmp_path, answering(), duration="60s")
    with watched(tmp_path, "run", path) as run:
        under_load(run)
        with started(second, "run", path) as other:
            text = f"benchforge run (process {run.pid}) is measuring"
            until(lambda: text in (second / "err").read_text())
            other.signal(signal.SIGTERM)
            noted("two at once", other, "is measuring")
        run.signal(signal.SIGTERM)
        assert run.ended().code == 143
    assert run.leaves == NOTHING


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"pong")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextlib.contextmanager
def thief(port: int) -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", port), _Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


@pytest.mark.exhaustive
def test_a_port_that_is_taken_before_the_server_starts_is_told(tmp_path: Path) -> None:
    server = answering("--start-after", "3") + 'ready_within = "9s"\n'
    with watched(tmp_path, "run", suite(tmp_path, server, top='network = "host"')) as run:
        (pid,) = until(lambda: _of_program(run.pid, "answers.py"))
        words = line(pid).split(b"\0")
        with thief(int(words[words.index(b"--port") + 1])):
            noted("a port is taken before the server has it", run, "another process")


def _of_program(label: int, name: str) -> list[int]:
    return [pid for pid in _all_below(label) if name.encode() in line(pid)]


def test_a_folder_may_have_any_name(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "a b 'c' \"d\" ü $(e) 文"
    folder.mkdir()
    with watched(folder, "run", suite(folder, answering())) as run:
        noted("a folder with spaces, quotes and letters of all kinds", run, "good responses/s")
    valid(bench, run)


# --- where namespaces are refused ----------------------------------------------------------------


@pytest.mark.usefixtures("may_unshare")
def test_refused_namespaces_are_said_once(bench: Bench, tmp_path: Path) -> None:
    with watched(tmp_path, "run", suite(tmp_path, answering(), blocks=2), first=REFUSED) as run:
        noted("the machine refuses namespaces", run, "private network", "private process")
        assert run.ended().err.count("private process namespace") == 1
    for trial in trials(tmp_path):
        assert len(trial["namespaces"]["weaker"]) == 2


@pytest.mark.usefixtures("may_unshare")
def test_the_next_start_clears_two_kills(bench: Bench, tmp_path: Path) -> None:
    """Who kills benchforge and both of its keepers at once leaves daemons: they are known."""
    path = suite(tmp_path, shell(f"{DAEMON}; {PAIR}; {ANSWERS}"), duration="60s")
    with watched(tmp_path, "run", path, first=REFUSED) as item:
        under_load(item)
        outer, inner = keepers(item)
        # A server may answer before the last of its daemons has forked, or the one between ended.
        until(lambda: len([pid for pid in _all_below(outer) if _escapes(pid)]) == 3)
        item.signal(signal.SIGSTOP)  # nothing of them can be done in between
        for pid in (outer, inner):
            os.kill(pid, signal.SIGSTOP)
        daemons = {pid for pid in _all_below(outer) if _escapes(pid)}
        assert len(daemons) == 3
        # The watcher would end what is left after a while, before a slow start has seen it.
        item.process.send_signal(signal.SIGSTOP)
        try:
            kill(inner, outer, item.pid)
            run = bench("run", suite(tmp_path, answering()), "-o", "next")
        finally:
            item.process.send_signal(signal.SIGCONT)
        observed = [line for line in run.err.splitlines() if line.startswith("left by")]
        item.ended()
    if not observed:
        lack(f"another measured: {run.err}")
    assert all(f"process {pid} (" in observed[0] for pid in daemons), observed
    assert str(PROGRAMS / "processes/daemon.py") in observed[0]
    assert "removed" not in observed[0] or "bf-" in observed[0]
    assert item.left == []


def _all_below(label: int) -> list[int]:
    below = [label]
    for pid in below:
        with contextlib.suppress(OSError):
            below += children(pid)
    return below[1:]


def _escapes(pid: int) -> bool:
    return any(name in line(pid) for name in (b"daemon.py", b"respawns.py"))


# --- the page ------------------------------------------------------------------------------------


def test_the_page_has_no_row_that_no_test_sees() -> None:
    files = Path(__file__).parent.glob("test_robustness*.py")
    source = "".join(file.read_text() for file in files)
    on_hosts = section(kills(KILLS))
    assert PAGE.read_text().endswith(on_hosts)
    text = PAGE.read_text().removesuffix(on_hosts)
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert rows
    for row in rows:
        fault = row.split(" | ")[0].removeprefix("| ")
        assert fault.startswith(("kill -9 of ", "SIG")) or f'"{fault}"' in source, fault
