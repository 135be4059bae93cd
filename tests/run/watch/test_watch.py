"""What is read from /proc while a load runs: CPU time of all, threads, signs, what is printed."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from faults.watched import until
from front_door import PROGRAMS
from hypothesis import given
from hypothesis import strategies as st
from present import present

from benchforge.parts.command import Command
from benchforge.run.sandbox import procfs
from benchforge.run.sandbox.sandbox import Running
from benchforge.run.watch import foreign, group, watched
from benchforge.run.watch.part import Account, PartProcesses
from benchforge.run.watch.watched import OutputSize

TICKS_S = 0.05  # the kernel tells of ended children in ticks, some fields each


@contextmanager
def program(*words: str | Path, **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a session of its own, until its group ends; a text prints a line first."""
    process = subprocess.Popen(
        [sys.executable, *map(str, words)],
        start_new_session=True,
        stdout=subprocess.PIPE,
        **options,  # type: ignore[call-overload]
    )
    try:
        if "-c" in words:
            present(process.stdout).readline()
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def part(pid: int, find: Callable[[], Sequence[int]] | None = None) -> PartProcesses:
    return PartProcesses("app", "server", pid, find or (lambda: procfs.tree(pid)))


def look(
    part_processes: PartProcesses, at_s: float, looks: Path, orphans: Sequence[int] = ()
) -> None:
    """Look at all of it, and let the program know that a look has ended."""
    part_processes.look(at_s, fully=True, more=orphans)
    with looks.open("a") as file:
        file.write(".")


# --- CPU time ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["waited", "ignored", "orphans"])
def test_children_that_end_are_counted_whoever_waits_for_them(tmp_path: Path, how: str) -> None:
    file, looks = tmp_path / "told", tmp_path / "looks"
    for path in (file, looks):
        path.touch()
    with program(PROGRAMS / "processes/spends.py", how, "3", "0.15", file, looks) as process:
        observed = part(process.pid)
        observed.begin(counted_from_birth=False)
        while not file.read_text().endswith("done\n"):
            # No reaper of ours takes over orphans here.
            look(observed, 1.0, looks, procfs.of_sessions({process.pid}))
            time.sleep(0.02)
        until(lambda: procfs.of_sessions({process.pid}) == [process.pid])
        observed.look(1.0, fully=True)
        row = observed.row(1.0, None, fully=True)
    spent = sum(map(float, file.read_text().split()[:-1]))
    assert spent >= 3 * 0.15
    # More is what starts the interpreter, and much less than what was spent.
    assert spent - TICKS_S < present(row.cpu_s) < spent + 0.3 + TICKS_S
    assert (row.processes, row.ended_processes, row.new_processes) == (1, 0, 0)


def test_what_was_used_before_the_load_is_not_counted() -> None:
    words = "import time\nwhile time.process_time() < .5: pass\nprint(flush=True)\ntime.sleep(60)"
    with program("-c", words) as process:
        used = []
        for counted_from_birth in (True, False):
            observed = part(process.pid)
            observed.begin(counted_from_birth=counted_from_birth)
            observed.look(1.0, fully=True)
            row = observed.row(1.0, None, fully=True)
            used.append(row.cpu_s)
            assert row.process_cpu_s == (row.cpu_s,)
    assert used[0] >= 0.5  # type: ignore[operator]
    assert used[1] < 0.1  # type: ignore[operator]


def test_a_process_that_is_killed_and_one_that_comes_are_told() -> None:
    words = "import subprocess\nfor _ in range(2):\n    print(flush=True)\n"
    words += "    child = subprocess.Popen(['sleep', '60'])\n"
    words += "    print(child.pid, flush=True); child.wait()\n"
    with program("-c", words) as process:
        first = int(present(process.stdout).readline())
        observed = part(process.pid)
        observed.begin(counted_from_birth=False)
        os.kill(first, signal.SIGKILL)
        for _ in range(2):
            present(process.stdout).readline()
        observed.look(1.0, fully=True)
        row = observed.row(1.0, None, fully=True)
    assert (row.processes, row.ended_processes, row.new_processes) == (2, 1, 1)


USED = st.integers(0, 50)


# What a child used until it was seen last, and after that; whether its parent waits for it.
@given(st.lists(st.tuples(USED, USED, st.booleans()), max_size=8))
def test_each_child_is_counted_once(children: list[tuple[int, int, bool]]) -> None:
    account = Account(used=7, waited=5)
    waited = 5
    for observed_, unseen, waits in children:
        waited += observed_ + unseen if waits else 0
        account.claim(observed_)
        account.note(7, waited)
    really = 12 + sum(observed + unseen for observed, unseen, _ in children)
    assert 12 + sum(observed for observed, _, _ in children) <= account.total <= really
    if all(waits for _, _, waits in children):
        assert account.total == really


# --- threads -------------------------------------------------------------------------------------


def test_the_hottest_thread_and_busy_ones_are_told_ended_ones_too(tmp_path: Path) -> None:
    looks = tmp_path / "looks"
    looks.touch()
    with program(PROGRAMS / "processes/threads.py", "0.6", looks) as process:
        observed = part(process.pid)
        observed.begin(counted_from_birth=False)
        while (observed.threads.hottest_s() or 0) < 0.58:
            look(observed, 1.5, looks)  # what is busy depends on how long it took
            time.sleep(0.02)
        row = observed.row(1.5, None, fully=True)
    assert 0.58 <= row.busiest_thread_cpu_s < 0.75  # type: ignore[operator]
    assert row.cpu_s > 0.6 + 0.15 - TICKS_S  # type: ignore[operator]
    assert row.busy_threads == 2  # the one that ended used a tenth of this time
    assert row.threads >= 2  # type: ignore[operator]
    assert row.cpu_wait_s >= 0  # type: ignore[operator]
    assert row.voluntary_switches > 0  # type: ignore[operator]
    assert row.involuntary_switches >= 0  # type: ignore[operator]


# --- the machine ---------------------------------------------------------------------------------


def _emptied(folder: Path) -> None:
    until(lambda: not (folder / "cgroup.procs").read_text())


@pytest.fixture
def group_with_quota() -> Iterator[Path]:
    """Make a control group that may use 0.12 CPUs, where the machine lets us."""
    for top in ("cpu", "cpu,cpuacct", ""):
        folder = Path("/sys/fs/cgroup", top, f"benchforge-test-{os.getpid()}")
        files = {"cpu.max": "12000 100000"} if not top else {"cpu.cfs_quota_us": "12000"}
        try:
            folder.mkdir()
            for name, text in files.items():
                (folder / name).write_text(text)
        except OSError:
            with suppress(OSError):
                folder.rmdir()
            continue
        yield folder
        _emptied(folder)
        folder.rmdir()
        return
    pytest.skip("no control group with a quota can be made")


def test_a_process_that_its_group_stops_is_seen(group_with_quota: Path) -> None:
    words = f"import os; open({str(group_with_quota / 'cgroup.procs')!r}, 'w')"
    words += ".write(str(os.getpid()))\nprint(flush=True)\nwhile True: pass"
    with program("-c", words) as process:
        quota = group.PartQuota([process.pid])
        until(lambda: (quota.of(process.pid)[1] or 0) > 0)
        assert quota.of(process.pid)[0] == pytest.approx(0.12)
        assert group.PartQuota([os.getpid()]).of(os.getpid())[0] != pytest.approx(0.12)


def test_a_stranger_is_named_and_ours_are_not() -> None:
    burns = (
        "import time\nprint(flush=True)\nopen('/proc/self/comm', 'wb').write(b'bu\\x1bsy')\n"
        "while time.process_time() < .3: pass\ntime.sleep(600)"
    )
    first = foreign.look()
    words = ["sh", "-c", '"$0" -c "$1" >/dev/null 2>&1 & echo $!', sys.executable, burns]
    stranger = int(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    try:
        with program("-c", burns) as child:
            clocks = [(~pid << 3) | 2 for pid in (stranger, child.pid)]
            until(lambda: all(time.clock_gettime(clock) >= 0.3 for clock in clocks))
            last = foreign.look()
            assert {os.getpid(), child.pid} <= last.own_pids
            busiest = foreign.busiest(first, last)
            assert ("bu?sy", last.used[stranger] / 1e9) in [(p.program, p.cpu_s) for p in busiest]
            assert last.used[child.pid] / 1e9 not in [p.cpu_s for p in busiest]
            # Who had its number before it was another.
            earlier = foreign.Others({**last.used, stranger: 10**10}, last.own_pids, first.tick)
            (only,) = foreign.busiest(earlier, last)
            assert only.cpu_s == last.used[stranger] / 1e9
    finally:
        os.kill(stranger, signal.SIGKILL)


# --- signs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("uvicorn app --reload", "debug: --reload"),
        ("flask run --debug", "debug: --debug"),
        ("flask run --debug=false", ""),
        ("python manage.py runserver", "debug: runserver"),
        ("python -X dev app.py", "debug: -X dev"),
        ("python -Xdev app.py", "debug: -X dev"),
        ("gunicorn --log-level debug --reload-engine poll app", ""),
        ("python -m cProfile -o p.out app.py", "instrument: -m cProfile"),
        ("python -mcProfile app.py", "instrument: -m cProfile"),
        ("python -m coverage run app.py", "instrument: -m coverage"),
        ("python /venv/bin/coverage run app.py", "instrument: coverage"),
        ("gunicorn -m 007 coverage:app", ""),
        ("", ""),
        # Variables stand before the program.
        ("FLASK_DEBUG=1 python", "debug: FLASK_DEBUG=1"),
        ("FLASK_DEBUG=0 DJANGO_DEBUG=False python", ""),
        ("PYTHONDEVMODE=1 python", "debug: PYTHONDEVMODE"),
        ("PYTHONDEVMODE= python", ""),
        ("NODE_ENV=test python", ""),
        ("LD_PRELOAD=/x/libfake.so wrk", "loaded: LD_PRELOAD=/x/libfake.so"),
        ("LD_PRELOAD=/x/libjemalloc.so.2 wrk", ""),
        ("PYTHONTRACEMALLOC=1 python", "instrument: PYTHONTRACEMALLOC=1"),
        # Paths are mapped files.
        ("/usr/lib/libasan.so.8", "instrument: libasan.so.8"),
        ("/x/lib-dynload/_lsprof.cpython-311.so", "loaded: _lsprof.cpython-311.so"),
        ("/x/coverage/tracer.abi3.so", "loaded: tracer.abi3.so"),
        ("/home/me/coverage/libshop.so", ""),
        ("/x/libssl.so.3", ""),
    ],
)
def test_signs_of_a_process(line: str, expected: str) -> None:
    words = line.split()
    variables = dict(word.split("=") for word in words if re.match("[A-Z_]+=", word))
    mapped = f"7f00-7f01 r-xp 00000000 fe:00 17       {line}\n7f02-7f03 rw-p 00000000 00:00 0\n"
    actual = [*watched.of_words(words), *watched.of_environment(variables, words)]
    actual += watched.of_maps(mapped * 2 if line[:1] == "/" else "")
    assert actual == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("package", "environment", "expected"),
    [
        ("", {}, []),
        ("lodash", {}, []),
        ("express", {}, ["debug: NODE_ENV is not set"]),
        ("koa", {"NODE_ENV": "test"}, ["debug: NODE_ENV=test"]),
        ("express", {"NODE_ENV": "production"}, []),
    ],
)
def test_node_reads_its_mode_where_a_framework_does(
    tmp_path: Path, package: str, environment: dict[str, str], expected: list[str]
) -> None:
    """Node itself has no modes: what the program can import decides."""
    script = tmp_path / "shop/src/server.js"
    script.parent.mkdir(parents=True)
    script.touch()
    (tmp_path / "shop/node_modules" / package).mkdir(parents=True)
    (tmp_path / "elsewhere/node_modules/express").mkdir(parents=True)
    words = ["/usr/bin/node", "--enable-source-maps", str(script), "8000"]
    for cwd in (tmp_path, tmp_path / "elsewhere"):
        assert list(watched.of_node(environment, words, str(cwd))) == expected
    assert list(watched.of_node(environment, ["node", "src"], str(tmp_path / "shop"))) == expected
    assert not list(watched.of_node(environment, ["python", str(script)], str(tmp_path)))


def test_signs_of_a_real_process() -> None:
    environment = {**os.environ, "PYTHONASYNCIODEBUG": "1"}
    words = "import cProfile, time; print(flush=True); time.sleep(60)"
    with program("-X", "dev", "-c", words, env=environment) as process:
        signs = present(watched.signs(process.pid))
        assert {"debug: -X dev", "debug: PYTHONASYNCIODEBUG"} <= set(signs)
        assert watched.open_files(process.pid) is not None
    assert watched.signs(process.pid) == []
    assert watched.open_files(process.pid) is None


def test_a_traced_process_shows_its_tracer() -> None:
    trace_me = "import ctypes, time; ctypes.CDLL(None).ptrace(0, 0, 0, 0)\n"
    with program("-c", f"{trace_me}print(flush=True); time.sleep(60)") as process:
        assert watched.signs(process.pid) == [f"instrument: TracerPid {os.getpid()}"]
        ctypes.CDLL(None).ptrace(7, process.pid, 0, 0)  # PTRACE_CONT: the signal that ends it


# --- what is printed -----------------------------------------------------------------------------


def test_what_is_printed_counts_captured_or_into_a_log_that_was_moved(tmp_path: Path) -> None:
    log, read_only = tmp_path / "log", tmp_path / "data"
    log.write_text("before")
    read_only.write_text("before")
    words = f"log = open({str(log)!r}, 'a'); data = open({str(read_only)!r})\n"
    words += "import sys; print('ready', flush=True); sys.stdin.readline()\n"
    words += "log.write('x' * 1000); log.flush(); print('y' * 99, flush=True)\n"
    words += "sys.stdin.readline()"
    out = tmp_path / "app.out"
    with out.open("wb") as stdout:
        process = subprocess.Popen(
            [sys.executable, "-c", words], stdin=subprocess.PIPE, stdout=stdout
        )
    with process:
        until(lambda: "ready" in out.read_text())
        files = out, tmp_path / "app.err"
        running = Running("app", process.pid, process.pid, *files, 0.0, Command("app"))
        with closing(OutputSize(running, [process.pid])) as printed:
            assert (printed.grown(), printed.line()) == (0, "")
            log.rename(tmp_path / "log.1")
            read_only.write_text("much more than before")
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
            until(lambda: "yy" in out.read_text())
            assert (printed.grown(), printed.line()) == (1000 + 100, "y" * 99)
        process.stdin.write(b"\n")
