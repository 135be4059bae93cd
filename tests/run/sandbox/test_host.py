"""A trial's place, from its door: real programs are started, waited for, asked and stopped."""

import contextlib
import errno
import json
import os
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from faults.watched import REFUSED, until
from front_door import captured
from present import present

from benchforge.errors import KeeperGone, ProgramMissing, TrialFailed
from benchforge.parts.command import Command
from benchforge.run.locate import libraries, locate
from benchforge.run.sandbox import listeners, procfs
from benchforge.run.sandbox.host import LocalHost, Running, Sandbox
from benchforge.run.sandbox.keeper import family
from benchforge.run.trial.scope import TrialRecorder

PROCESSES = Path(__file__).parents[2] / "programs/processes"
WAITS_S = 200.0  # for what comes at once on a quiet machine
POSTGRES = locate("postgres")
NOTHING: Mapping[str, str] = {}


def program(name: str, *arguments: object, **options: Any) -> Command:
    return Command(sys.executable, PROCESSES / f"{name}.py", *arguments, **options)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Sandbox]:
    with LocalHost().trial(tmp_path) as path:
        yield path


@pytest.fixture
def private(here: Sandbox) -> Sandbox:
    if here.mode.network != "private":
        pytest.skip(f"no private network here: {here.mode.weaker}")
    return here


def printed(sandbox: Sandbox, folder: Path, command: Command, **environment: str) -> Any:
    finished = sandbox.run("prints", command, folder, environment, WAITS_S)
    assert finished.code == 0, finished.stderr.read_text()
    return json.loads(finished.stdout.read_text())


def deaf(sandbox: Sandbox, folder: Path, name: str = "deaf") -> Running:
    ready = folder / f"{name}.ready"
    running = sandbox.start(name, program(name, ready), folder, NOTHING)
    until(ready.exists)
    return running


def ask(where: socket.socket, port: int) -> str:
    with where:
        where.settimeout(WAITS_S)
        where.connect(("127.0.0.1", port))
        return where.recv(100).decode()


def serves(sandbox: Sandbox, folder: Path, port: int, words: str = "hello") -> Running:
    running = sandbox.start("serves", program("serves", port, words), folder, NOTHING)
    until(lambda: sandbox.owns(running, port))
    return running


# --- start ---------------------------------------------------------------------------------------


def test_clean_environment(here: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_USER", "leaks")
    command = program("prints", environment={"A": "its own", "LANG": "C"})
    environment = printed(here, tmp_path, command, A="ours", B="ours")["environment"]
    environment.pop("LC_CTYPE", None)  # Python's own, for LANG=C
    mine = {name: os.environ[name] for name in ("PATH", "HOME")}
    mine |= {"LANG": "C", "TMPDIR": tempfile.gettempdir()}
    assert environment == mine | {"A": "its own", "B": "ours"}


def test_a_program_gets_its_words_its_folder_its_input_and_no_descriptor_of_ours(
    here: Sandbox, tmp_path: Path
) -> None:
    (tmp_path / "input").write_text("read me")
    (tmp_path / "below").mkdir()
    command = program("prints", "a b", 7, "ü", folder=Path("below"), stdin=Path("input"))
    actual = printed(here, tmp_path, command)
    assert (actual["argv"], actual["folder"]) == (["a b", "7", "ü"], str(tmp_path / "below"))
    assert actual["stdin"] == "read me"
    assert actual["descriptors"] == ["0", "1", "2", "3"]  # 3 is the listing itself
    assert (tmp_path / "prints.err").read_text() == "to stderr\n"


def test_a_program_runs_on_the_cpus_that_it_is_given(here: Sandbox, tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    running = here.start("prints", program("prints"), tmp_path, NOTHING, cpus=[cpu])
    assert here.wait(running, WAITS_S)
    assert json.loads(running.stdout.read_text())["cpus"] == [cpu]


@pytest.mark.parametrize(
    ("command", "kind", "says", "hint"),
    [
        (Command("no-such"), ProgramMissing, "server: no-such: no such program", "install it"),
        (Command("/no/such"), ProgramMissing, "server: /no/such: no such program", "its path"),
        (Command("./closed"), TrialFailed, "Permission denied", ""),
        (Command("./script"), TrialFailed, "script: interpreter: ", "install the interpreter"),
        (Command("true", folder=Path("/no/such")), TrialFailed, "folder: .*No such file", ""),
        (Command("true", "x" * 1_000_000), TrialFailed, "did not get the order", "200 kB"),
    ],
    ids=["no name", "no path", "closed", "no interpreter", "no folder", "too long"],
)
def test_what_does_not_start(
    here: Sandbox, tmp_path: Path, command: Command, kind: type[Exception], says: str, hint: str
) -> None:
    for name, mode in (("closed", 0o644), ("script", 0o755)):
        (tmp_path / name).write_text("#!/no/such/interpreter\n")
        (tmp_path / name).chmod(mode)
    with pytest.raises(kind, match=says) as caught:
        here.start("server", command, tmp_path, NOTHING)
    assert hint in getattr(caught.value, "hint", "")
    assert here.run("true", Command("true"), tmp_path, NOTHING, WAITS_S).code == 0


# --- wait ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 3, 255, -signal.SIGSEGV])
def test_the_exit_code_is_the_programs(here: Sandbox, tmp_path: Path, code: int) -> None:
    begun = time.monotonic()
    command = Command("sh", "-c", f"kill -{-code} $$" if code < 0 else f"exit {code}")
    finished = here.run("dies", command, tmp_path, NOTHING, WAITS_S)
    assert finished.code == code
    assert 0 < finished.seconds < time.monotonic() - begun


def test_waiting_ends_at_the_timeout_and_ticks_meanwhile(here: Sandbox, tmp_path: Path) -> None:
    running = here.start("sleep", Command("sleep", 60), tmp_path, NOTHING)
    ticks: list[float] = []
    for _ in range(50):  # until a loud machine lets it keep three beats of five
        ticks.clear()
        begun = time.monotonic()
        on_tick = partial(lambda begun: ticks.append(time.monotonic() - begun), begun)
        assert here.wait(running, 0.55, every_s=0.1, on_tick=on_tick) is None
        assert time.monotonic() - begun >= 0.55
        # Each on its beat or later: beats that are past are left out, and none is made up for.
        assert all(tick >= 0.1 * number for number, tick in enumerate(ticks, 1))
        if 3 <= len(ticks) <= 6:
            break
    assert 3 <= len(ticks) <= 6
    assert here.alive(running)
    assert here.finished(running) is None


def test_exits_are_kept_for_whoever_asks_later(here: Sandbox, tmp_path: Path) -> None:
    first = here.start("first", Command("false"), tmp_path, NOTHING)
    until(lambda: not Path(f"/proc/{first.outer_pid}").exists())
    assert here.wait(here.start("second", Command("true"), tmp_path, NOTHING), WAITS_S)
    assert not here.alive(first)
    assert present(here.finished(first)).code == here.stop(first).code == 1


def test_a_slow_task_is_killed_and_shows_its_log(here: Sandbox, tmp_path: Path) -> None:
    command = Command("sh", "-c", "echo still busy >&2; exec sleep 300")
    for within_s in (0.3, 3.0, 30.0):  # a loud machine may not have begun with it
        with pytest.raises(TrialFailed, match=rf"did not end within {within_s:g} s") as caught:
            here.run("initdb", command, tmp_path, NOTHING, within_s)
        assert caught.value.stage == "prepare"
        if caught.value.log:
            break
    assert caught.value.log == "still busy"


# --- stop ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_program(here: Sandbox, tmp_path: Path, number: signal.Signals) -> None:
    running = here.start("sleep", Command("sleep", 60), tmp_path, NOTHING)
    assert here.stop(running, first=number).code == -number


def test_a_deaf_program_is_killed_when_its_time_is_over(here: Sandbox, tmp_path: Path) -> None:
    running = deaf(here, tmp_path)
    begun = time.monotonic()
    assert here.stop(running, within_s=0.4).code == -signal.SIGKILL
    assert time.monotonic() - begun >= 0.4


def test_stopping_ends_descendants_that_left_the_group(here: Sandbox, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    # setsid: a session of its own, which no signal to the group reaches.
    script = f"setsid {sys.executable} {PROCESSES / 'deaf.py'} {ready} & wait"
    running = here.start("shell", Command("sh", "-c", script), tmp_path, NOTHING)
    until(ready.exists)
    pids = here.processes(running)
    assert len(pids) == 2
    here.stop(running, within_s=0.4, first=signal.SIGTERM)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_stopping_ends_a_daemon_that_its_program_left(here: Sandbox, tmp_path: Path) -> None:
    running = deaf(here, tmp_path, "daemon")
    assert here.wait(running, WAITS_S)
    until(lambda: len(here.processes(running)) == 1)
    here.stop(running, within_s=0.2)
    assert here.processes(running) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_fighting_the_reaper_fails(here: Sandbox, tmp_path: Path, number: signal.Signals) -> None:
    words = f"import os, time; os.kill(os.getppid(), {int(number)})"
    words += "; print(flush=True); time.sleep(60)"
    running = here.start("fights", Command(sys.executable, "-c", words), tmp_path, NOTHING)
    until(lambda: running.stdout.read_text() or not here.alive(running))
    assert here.stop(running, within_s=0.2).code < 0
    assert here.processes(running) == []


def test_an_orphans_usage_counts_in_the_exit(here: Sandbox, tmp_path: Path) -> None:
    actual = tmp_path / "told"
    finished = here.run("leaves", program("leaves", 0.2, actual), tmp_path, NOTHING, 60)
    assert float(actual.read_text()) >= 0.2
    assert finished.user_s + finished.system_s >= float(actual.read_text())
    assert finished.user_s > 0.1
    assert here.left == 0


def test_a_child_has_the_rest_of_the_grace_time(here: Sandbox, tmp_path: Path) -> None:
    running = deaf(here, tmp_path, "saves")
    assert here.stop(running, within_s=WAITS_S).code == -signal.SIGINT
    assert running.stdout.read_text() == "saved\n"


# --- leaving -------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [None, KeyboardInterrupt, SystemExit, ValueError])
@pytest.mark.parametrize("network", ["private", "host"])
def test_the_end_of_a_host(tmp_path: Path, error: type[BaseException] | None, network: Any) -> None:
    ends: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
    if error is not None:
        ends = pytest.raises(error)
    with ends, LocalHost().trial(tmp_path, network) as sandbox:
        pids = [sandbox.init_pid]
        for name in ("deaf", "daemon", "forks"):
            pids += sandbox.processes(deaf(sandbox, tmp_path, name))
        if error is not None:
            raise error
    assert sandbox.left >= 3
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    assert not (tmp_path / "keeper.err").exists()


def parent(pid: int) -> int:
    return family([pid])[pid][0]


def spaces(pid: int) -> set[str]:
    return {str(Path(f"/proc/{pid}/ns/{kind}").readlink()) for kind in ("net", "pid", "mnt", "ipc")}


def test_keepers_of_many_trials_are_forked_and_each_has_a_place_of_its_own(tmp_path: Path) -> None:
    host, started_by = LocalHost(), set()
    with host.many():
        for name in ("one", "two"):
            with (
                host.trial(tmp_path / name) as sandbox_,
                host.trial(tmp_path / "beside") as sandbox,
            ):
                outer = parent(sandbox_.init_pid)
                started_by |= {parent(outer), parent(parent(sandbox.init_pid))}
                assert os.getsid(outer) == outer
                # No ordinary user may look at the first process of a place: nobody traces it.
                private = sandbox_.mode.network == sandbox.mode.network == "private"
                if private and os.geteuid() == 0:
                    assert len(spaces(sandbox_.init_pid) | spaces(sandbox.init_pid)) == 8
                    assert not spaces(sandbox_.init_pid) & spaces(os.getpid())
                running = deaf(sandbox_, tmp_path / name)
                pids = [outer, sandbox_.init_pid, *sandbox_.processes(running)]
            assert sandbox_.left >= 1
            assert not [pid for pid in pids if alive(pid)]
            assert not (tmp_path / name / "keeper.err").exists()
        (forks,) = started_by
        assert forks != os.getpid()
        os.kill(forks, signal.SIGKILL)
        with host.trial(tmp_path / "after") as sandbox_:  # nobody forks: it is started
            assert parent(parent(sandbox_.init_pid)) == os.getpid()
    assert not Path(f"/proc/{forks}").exists()


def test_a_silent_forker_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later it would fork a keeper for a trial that has one."""
    host = LocalHost()
    with host.many():
        with host.trial(tmp_path / "before") as sandbox:
            forks = parent(parent(sandbox.init_pid))
        os.kill(forks, signal.SIGSTOP)
        monkeypatch.setattr("benchforge.run.sandbox.host.ANSWERS_WITHIN_S", 0.1)
        with host.trial(tmp_path / "after") as sandbox:
            assert parent(parent(sandbox.init_pid)) == os.getpid()
            until(lambda: not alive(forks))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(("phase", "stage"), [("services", "start"), ("load", "drive")])
def test_a_lost_keeper_fails_its_phase(tmp_path: Path, phase: str, stage: str) -> None:
    with LocalHost().trial(tmp_path) as sandbox:
        running = deaf(sandbox, tmp_path)
        os.kill(sandbox.init_pid, signal.SIGKILL)
        with pytest.raises(KeeperGone) as caught, TrialRecorder(lambda _: None).phase(phase):
            sandbox.wait(running, WAITS_S)
        with pytest.raises(TrialFailed, match="keeps the trial's processes ended"):
            sandbox.start("late", Command(("sleep", "1")), tmp_path, {})
    assert (caught.value.stage, caught.value.about) == (stage, "apparatus")


# --- the network ---------------------------------------------------------------------------------


def test_a_server_is_asked_from_inside_and_from_inside_only(
    private: Sandbox, tmp_path: Path
) -> None:
    """Two trials at once use the same port."""
    port = private.free_port()
    serves(private, tmp_path, port)
    with LocalHost().trial(tmp_path / "second") as second:
        serves(second, tmp_path / "second", port, "second")
        assert ask(private.socket(), port) == "hello"
        assert ask(second.socket(), port) == "second"
    with pytest.raises(OSError, match="refused"):
        ask(socket.socket(), port)


def test_in_the_hosts_network_a_server_is_reached_from_outside(tmp_path: Path) -> None:
    with LocalHost().trial(tmp_path, network="host") as sandbox:
        assert sandbox.mode.network == "host"
        port = sandbox.free_port()
        serves(sandbox, tmp_path, port)
        assert ask(socket.socket(), port) == "hello"


def test_a_port_belongs_to_who_listens_on_it(here: Sandbox, tmp_path: Path) -> None:
    port, *others = ports = [here.free_port() for _ in range(50)]
    assert len(set(ports)) == 50
    running = serves(here, tmp_path, port)
    stranger = here.start("stranger", Command("sleep", 60), tmp_path, NOTHING)
    assert here.owns(stranger, port) is False
    assert here.owns(running, others[0]) is False


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::")]
)
def test_who_listens_twice(here: Sandbox, family: socket.AddressFamily, address: str) -> None:
    with here.socket(family) as listener, here.socket(family) as other:
        for item in (listener, other):
            item.bind((address, 0))
            item.listen()
        port = listener.getsockname()[1]
        inodes = procfs.listening(here.init_pid, port)
        assert len(inodes) == 1
        with here.socket(socket.AF_NETLINK, socket.SOCK_RAW, listeners.SOCK_DIAG) as netlink:
            assert listeners.listening(netlink, port) == inodes
            assert listeners.listening(netlink, here.free_port()) == set()


def test_a_kernel_that_does_not_tell_who_listens_is_believed() -> None:
    end, kernels = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with end, kernels:
        kernels.send(struct.pack("=IHHIIi", 20, 3, 0, 0, 0, -errno.ENOENT))
        with pytest.raises(OSError, match=os.strerror(errno.ENOENT)):
            listeners.listening(end, 80)


def test_the_counters_are_the_trials_own(private: Sandbox, tmp_path: Path) -> None:
    port = private.free_port()
    serves(private, tmp_path, port)
    earlier = private.counters()
    for _ in range(3):
        ask(private.socket(), port)
    later = private.counters()
    assert later["TcpPassiveOpens"] - earlier["TcpPassiveOpens"] == 3
    assert later["TcpExtListenOverflows"] == 0


# --- an ordinary user ----------------------------------------------------------------------------


@pytest.mark.skipif(POSTGRES is None and "CI" not in os.environ, reason="no PostgreSQL")
def test_postgresql_runs_in_a_private_folder_whoever_we_are(here: Sandbox) -> None:
    assert POSTGRES is not None
    programs, more = POSTGRES.parent, libraries(POSTGRES)
    # Short, as the path of its socket ends at 107 bytes; 0700 and ours.
    with tempfile.TemporaryDirectory(prefix="bf-", dir="/tmp") as name:
        folder = Path(name)
        data = folder / "data"
        create = Command(
            programs / "initdb", "-D", data, "-A", "trust", "-U", "bench", "--no-sync",
            "--locale=C.UTF-8", ordinary_user=True,
        )  # fmt: skip
        finished = here.run("initdb", create, folder, more, WAITS_S)
        assert finished.code == 0, finished.stderr.read_text()
        serve = Command(
            programs / "postgres", "-D", data, "-k", folder, "-F", "-c", "listen_addresses=",
            ordinary_user=True,
        )  # fmt: skip
        running = here.start("postgres", serve, folder, more)
        ready = Command(programs / "pg_isready", "-q", "-h", folder)
        until(lambda: here.run("ready", ready, folder, more, WAITS_S).code == 0)
        # Its own children are in sessions of their own.
        until(lambda: len(here.processes(running)) > 3)
        # INT is its fast shutdown.
        assert here.stop(running, first=signal.SIGINT).code == 0
        assert "database system is shut down" in running.stderr.read_text()


# --- a machine that gives no namespaces ----------------------------------------------------------

TWO_PROGRAMS = """
import json, sys
from pathlib import Path
from benchforge.parts.command import Command
from benchforge.run.sandbox.host import LocalHost
folder = Path(sys.argv[1])
with LocalHost().trial(folder) as place:
    running = [place.start(label, Command("sleep", "60"), folder, {}) for label in "ab"]
    print(json.dumps([place.mode.pid_namespace, [one.reaper for one in running],
        [one.outer_pid for one in running], [place.processes(one) for one in running]]))
"""


def test_each_program_has_processes_of_its_own_without_namespaces(tmp_path: Path) -> None:
    done = captured([*REFUSED, sys.executable, "-c", TWO_PROGRAMS, tmp_path])
    if done.returncode and "unshare" in done.stderr:
        pytest.skip(done.stderr)
    own_pids, reapers, pids, processes = json.loads(done.stdout)
    assert own_pids is False
    assert len({*reapers, *pids}) == 4
    assert processes == [[pid] for pid in pids]


NAMES_MEMORY = """
import mmap, os, sys
from itertools import count
path = ""
for number in count():
    path, previous = f"{sys.argv[1]}-{number}", path
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(file, 4096)
    mapped = mmap.mmap(file, 4096)
    os.close(file)
    if previous:
        os.unlink(previous)
    holds = mapped  # until here the previous one was mapped, too
"""
ENDS_IT = """
import sys, time
from pathlib import Path
from benchforge.parts.command import Command
from benchforge.run.sandbox.host import LocalHost, Wishes
folder, name = Path(sys.argv[1]), Path(sys.argv[2])
with LocalHost().trial(folder, wishes=Wishes(scratch=folder)) as place:
    place.start("names", Command(sys.executable, "-c", sys.argv[3], str(name)), folder, {})
    while not [*name.parent.glob(f"{name.name}-*")]:
        time.sleep(0.01)
"""


def test_memory_that_was_named_just_before_the_end_is_removed_too(tmp_path: Path) -> None:
    name = Path("/dev/shm") / f"benchforge-{os.getpid()}"  # noqa: S108 - where POSIX has it
    first = [word.replace("net pid", "ipc mnt net pid") for word in REFUSED]
    done = captured([*first, sys.executable, "-c", ENDS_IT, tmp_path, name, NAMES_MEMORY])
    if done.returncode and "unshare" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    remaining = [*name.parent.glob(f"{name.name}-*")]
    for path in remaining:
        path.unlink()
    assert remaining == []
