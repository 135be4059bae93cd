"""Whoever is killed, and however: no process of a trial is left."""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import IO, Any

import pytest
from faults.watched import until
from present import present
from users import NOBODY, SYSTEM_PYTHON, as_root

import benchforge
from benchforge.run.sandbox import keeper

PROGRAMS = Path(__file__).parents[2] / "programs"
WITHIN_S = 200.0  # and not 2: what is killed on a loud machine takes its time

PROCESSES = ("benchforge", "outer", "init")
users = pytest.mark.parametrize(
    "user", [pytest.param("same", id="this user"), pytest.param("nobody", marks=as_root)]
)


class Side:
    """A benchforge in a process of its own, and all that carries its token."""

    def __init__(self, user: str, wrapper: tuple[str, ...] = ()) -> None:
        # In a limit that no program here reaches: the keeper has an environment of its own.
        self.token = str(random.SystemRandom().randrange(10**15, 10**16))
        self.folder = Path(tempfile.mkdtemp(prefix="keeper-"))
        self.folder.chmod(0o777)  # also of nobody
        # Where nobody may read: neither our interpreter nor our source need be.
        shutil.copytree(Path(benchforge.__file__).parent, self.folder / "lib" / "benchforge")
        shutil.copytree(PROGRAMS, self.folder / "programs")
        self.before = wrapper + (NOBODY if user == "nobody" else ())
        self.python = SYSTEM_PYTHON if self.before else sys.executable

    @contextlib.contextmanager
    def start(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Run it with these programs; whatever the test does, it is dead afterwards."""
        trial = self.folder / "trial"
        trial.mkdir(exist_ok=True)
        trial.chmod(0o777)
        with subprocess.Popen(
            [
                *("prlimit", f"--rttime={self.token}:{self.token}"),
                *self.before,
                self.python,
                self.folder / "programs/harness/measures.py",
                trial,
                *arguments,
            ],
            env={**os.environ, "PYTHONPATH": str(self.folder / "lib")},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def pids(self) -> set[int]:
        """All processes with the token in their limits, zombies left out."""
        names: set[int] = set()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                lives = (folder / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
                if lives and self.token in (folder / "limits").read_text():
                    names.add(int(folder.name))
        return names

    def nothing_is_left(self, but: set[int]) -> bool:
        """Wait until all but these have ended."""
        return until(lambda: not self.pids() - but, WITHIN_S)


@pytest.fixture
def side() -> Iterator[Callable[..., Side]]:
    sides: list[Side] = []

    def make(user: str = "same", wrapper: tuple[str, ...] = ()) -> Side:
        sides.append(Side(user, wrapper))
        return sides[-1]

    yield make
    for item in sides:
        for pid in item.pids():  # a test that failed; only what carries its token
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(item.folder)


def said(stream: IO[str] | None) -> Any:
    return json.loads(present(stream).readline())


@pytest.mark.samples(5)
@users
@pytest.mark.parametrize(
    "victims",
    [victims for count in (1, 2, 3) for victims in combinations(PROCESSES, count)],
    ids="+".join,
)
def test_kill_9_leaves_no_process(
    side: Callable[..., Side], user: str, victims: tuple[str, ...]
) -> None:
    item = side(user)
    with item.start("deaf", "daemon", "forks") as process:
        pids = {**said(process.stdout), "benchforge": process.pid}
        if not pids["mode"]:
            pytest.skip(f"no process namespace here: {pids['weaker']}")
        assert len(item.pids()) >= 6  # benchforge, the keeper's two, and three programs
        for victim in victims:
            with contextlib.suppress(ProcessLookupError):  # the first may have taken it along
                os.kill(pids[victim], signal.SIGKILL)
        survivors = {process.pid} - {pids[victim] for victim in victims}
        assert item.nothing_is_left(but=survivors)


@users
@pytest.mark.parametrize("victim", ["benchforge", "forks", "outer", "init"])
def test_kill_9_ends_a_forked_keeper(side: Callable[..., Side], user: str, victim: str) -> None:
    item = side(user)
    with item.start("--many", "deaf", "daemon") as process:
        pids = {**said(process.stdout), "benchforge": process.pid}
        if not pids["mode"]:
            pytest.skip(f"no process namespace here: {pids['weaker']}")
        assert pids["forks"] != pids["benchforge"]
        os.kill(pids[victim], signal.SIGKILL)
        survivors = {pids["benchforge"], pids["forks"]} - {pids[victim]}
        assert item.nothing_is_left(but=survivors if victim != "benchforge" else set())


@users
@pytest.mark.parametrize("how", [["--loop"], ["--many", "--loop"]], ids="".join)
@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.exhaustive)])
def test_kill_9_at_any_moment_leaves_no_process(
    side: Callable[..., Side], user: str, how: list[str], kills: int
) -> None:
    item = side(user)
    moments = random.Random(f"{user} {how}")
    for _ in range(kills):
        with item.start(*how) as process:
            time.sleep(0.05 + 0.15 * moments.random())
            process.kill()
            assert item.nothing_is_left(but=set())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_group_signal_is_benchforges(side: Callable[..., Side], number: signal.Signals) -> None:
    item = side()
    with item.start("deaf", "forks") as process:
        said(process.stdout)
        os.killpg(process.pid, number)
        if number == signal.SIGINT:
            assert said(process.stdout) == [True, True]
        process.wait(WITHIN_S)
        assert item.nothing_is_left(but=set())


# --- where namespaces are refused ----------------------------------------------------------------

LIMIT = "for name in $1; do echo 0 > /proc/sys/user/max_${name}_namespaces; done; shift; "
OWN_USER_NAMESPACE = ("unshare", "--user", "--map-root-user", "sh", "-c", LIMIT + 'exec "$@"', "-")


@pytest.fixture
def may_unshare() -> None:
    if subprocess.run(["unshare", "--user", "--map-root-user", "true"], check=False).returncode:
        pytest.skip("user namespaces are refused here already")


@pytest.mark.usefixtures("may_unshare")
def test_a_refused_network_is_said_and_the_processes_are_kept(side: Callable[..., Side]) -> None:
    item = side(wrapper=(*OWN_USER_NAMESPACE, "net"))
    with item.start("deaf", "daemon") as process:
        greeting = said(process.stdout)
        assert greeting["mode"] is True
        assert len(greeting["weaker"]) == 1
        assert "network namespace" in greeting["weaker"][0]
        process.kill()
        assert item.nothing_is_left(but=set())


@pytest.mark.usefixtures("may_unshare")
@pytest.mark.parametrize("victim", PROCESSES)
def test_without_namespaces_one_kill_9_leaves_no_process(
    side: Callable[..., Side], victim: str
) -> None:
    item = side(wrapper=(*OWN_USER_NAMESPACE, "net pid user"))
    with item.start("deaf", "daemon", "forks") as process:
        pids = {**said(process.stdout), "benchforge": process.pid}
        assert pids["mode"] is False
        assert len(pids["weaker"]) == 2
        os.kill(pids[victim], signal.SIGKILL)
        assert item.nothing_is_left(but=set() if victim == "benchforge" else {process.pid})


@as_root
def test_without_proc_a_weaker_keeper_takes_over(side: Callable[..., Side]) -> None:
    # As in a container: with a part of /proc covered, no user namespace may mount a fresh one.
    cover = 'while read -r _ at type _; do [ $type != proc ] || mount -t tmpfs none "$at/sys"; done'
    covered = ("unshare", "--mount", "sh", "-c", f'{cover} < /proc/mounts; exec "$@"', "-")
    item = side("nobody", wrapper=covered)
    with item.start("deaf") as process:
        greeting = said(process.stdout)
        assert greeting["mode"] is False
        assert "mount" in greeting["weaker"][0]
        process.kill()
        assert item.nothing_is_left(but=set())


def test_the_inner_process_ends_where_the_outer_one_was_killed_before_it_spoke() -> None:
    """And says nothing: that the keeper is gone is told by who waits for it."""
    outer_lives, outer = os.pipe()
    os.close(outer)
    end, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with end:
        with theirs:
            modes: dict[str, Any] = dict.fromkeys(("pid_namespace", "ipc", "mounts"), False)
            modes |= {"network": "host", "weaker": []}
            keeper._inner(theirs, outer_lives, {"sysctls": {}, "limits": {}}, {}, modes)
        assert end.recv(1) == b""
    os.close(outer_lives)
