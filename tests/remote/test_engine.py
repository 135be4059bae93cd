"""What all engines promise: calls to hosts and their pipes, the first loss wakes all, all ends."""

import asyncio
import contextlib
import os
import runpy
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dask_lab import authority, cluster, table
from front_door import WAITS_S, needed_module
from hosts_lab import Lab, lab, one_server, told_by

import benchforge.remote.dask
from benchforge.errors import ProgramMissing, Unusable
from benchforge.model.suite.placement import HostTable
from benchforge.parts.registry import Registry
from benchforge.remote import wire
from benchforge.remote.agent.place import Place
from benchforge.remote.archive import archive
from benchforge.remote.calls import Losses, PipeConnection, SentCall
from benchforge.remote.dask.engine import connecting as by_dask
from benchforge.remote.session.session import Connect, Connecting
from benchforge.remote.ssh.engine import COMMAND, SshPipe
from benchforge.remote.ssh.engine import connecting as by_ssh
from benchforge.suite.load import load

HOSTS = ("load", "app")
FAR = "benchforge.remote.agent"


def no() -> None:
    """Be called: no host has such a call."""


# The page of several hosts has all of this over ssh.
@pytest.fixture(params=[pytest.param("ssh", marks=pytest.mark.exhaustive), "dask"])
def engine(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Lab, Callable[[str], "contextlib.AbstractContextManager[Connect]"]]]:
    """Give hosts, and what gives a way to connect them, once with each engine.

    The worker on `app` is chosen by its resource. Another name may be given for it, or for ssh.
    """
    connecting: Connecting
    with contextlib.ExitStack() as stack:
        hosts = stack.enter_context(lab(tmp_path, HOSTS))
        for variable, value in hosts.environment.items():
            monkeypatch.setenv(variable, value)
        if request.param == "dask":
            needed_module("distributed")
            stack.enter_context(cluster(hosts, tmp_path, {"app": ["serves=1"]}))
            tables, connecting = table(hosts, tmp_path, {"app": "serves"}), by_dask
        else:
            tables, connecting = "".join(map(hosts.table, HOSTS)), by_ssh

        def ways(app: str = "app") -> "contextlib.AbstractContextManager[Connect]":
            named = tables.replace('ssh = "app"', f'ssh = "{app}"')
            if app != "app":
                named = named.replace('worker = "serves"', f'worker = "{app}"')
            suite = load(tmp_path / "suite.toml", Registry(), text=one_server(1) + named)
            return connecting(suite)

        yield hosts, ways


@contextlib.contextmanager
def beats(*connections: PipeConnection) -> Iterator[None]:
    """Say each second that we are there."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(wire.BEAT_S):
            for connection in connections:
                connection.beat()

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def far_ends(hosts: Lab) -> list[str]:
    return [line for label in HOSTS for line in hosts.running(label) if FAR in line]


def gone(hosts: Lab) -> None:
    """Wait until no far end runs."""
    deadline = time.monotonic() + WAITS_S
    while far_ends(hosts):
        assert time.monotonic() < deadline, far_ends(hosts)
        time.sleep(0.5)  # each look starts two programs


def test_an_engine_carries_calls_and_losses(
    engine: tuple[Lab, Callable[..., "contextlib.AbstractContextManager[Connect]"]],
) -> None:
    hosts, ways = engine
    files, losses = archive([]), Losses()
    with (
        ways("nobody") as connect,
        pytest.raises(ProgramMissing, match="nobody"),
        contextlib.ExitStack() as stack,
    ):
        stack.enter_context(contextlib.closing(connect("app", losses))).bring(files)
    with ways() as connect, contextlib.ExitStack() as stack:
        load_host, app = (
            stack.enter_context(contextlib.closing(connect(label, losses))) for label in HOSTS
        )
        load_host.bring(files)
        app.bring(files)
        with beats(load_host, app):
            first, second = app.send(Place.clock), app.send(Place.clock)
            assert app.result(second) >= app.result(first) > 0
            with pytest.raises(Unusable, match="app: no call 'no'"):
                app.call(no)
            with pytest.raises(Unusable, match="no call 'no"):
                app.call(no, words="x" * 3_000_000)
            lines = hosts.inside("app", "ps", "-wweo", "pid,args", "--no-headers").stdout
            (pid,) = (line.split()[0] for line in lines.splitlines() if FAR in line)
            hosts.inside("app", "kill", "-9", pid)
            with pytest.raises(wire.HostLost, match="lost host app: "):
                # It waits for its own host, until another is lost.
                load_host.result(SentCall(no, -1, WAITS_S, time.monotonic() + WAITS_S))
    gone(hosts)
    with ways() as connect, contextlib.closing(connect("app", Losses())) as silent:
        silent.bring(files)
        assert silent.call(Place.clock) > 0
        gone(hosts)  # without a beat, after its lease


@pytest.mark.exhaustive
def test_workers_are_found_and_others_are_refused(tmp_path: Path) -> None:
    needed_module("distributed")
    pair = {label: ["any=1"] for label in HOSTS}
    with lab(tmp_path, HOSTS) as hosts, cluster(hosts, tmp_path, pair):
        text = one_server(1) + table(hosts, tmp_path)
        (tmp_path / "suite.toml").write_text(text)
        looked = told_by(hosts.environment, tmp_path, "doctor", "--hosts", "suite.toml", code=0)
        assert "ok  load to app: " in looked.out

        (tmp_path / "any.toml").write_text(one_server(1) + table(hosts, tmp_path, {"app": "any"}))
        several = told_by(hosts.environment, tmp_path, "run", "any.toml", code=3)
        assert "hosts.app: several workers have the name or resource 'any'" in several.err

        authority(tmp_path / "other")
        other = text.replace(f"{tmp_path}/cluster", f"{tmp_path}/other/cluster")
        (tmp_path / "other.toml").write_text(other)
        refused = told_by(hosts.environment, tmp_path, "run", "other.toml", code=3)
        assert "the scheduler at tls://" in refused.err


FLOOD = "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo the last line >&2"
RELAY = Path(benchforge.remote.dask.__file__).with_name("relay.py")


def test_ssh_reads_what_a_host_prints_as_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site that says much, or a library of the far end, filled the pipe, and nothing went on."""
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\n{FLOOD}\necho there\n")
    ssh.chmod(0o755)
    monkeypatch.setenv(COMMAND, str(ssh))
    pipe = SshPipe(HostTable(ssh="app"))
    try:
        assert pipe.line() == b"there\n"
        assert pipe.complaint() == "the last line"
    finally:
        pipe.kill()
        pipe.close()


def test_a_worker_reads_what_the_far_end_prints_as_errors() -> None:
    relay: Any = runpy.run_path(str(RELAY))["Relay"]()

    async def talk() -> tuple[bytes, tuple[int, str]]:
        await relay.start(f"{FLOOD}; echo there; cat >/dev/null")
        return await relay.read(), await relay.end(at_once=False)

    assert asyncio.run(talk()) == (b"there\n", (0, "the last line"))


@pytest.mark.parametrize("sent", [b"\n", b"no call\n"])
def test_it_ends_where_nobody_hears_it_or_what_it_gets_is_no_call(sent: bytes) -> None:
    """It answered beats that had waited for it, to a connection that was gone, and stayed."""
    reads, writes = os.pipe()
    words = [sys.executable, "-m", FAR]
    far = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=writes, stderr=subprocess.DEVNULL)
    os.close(writes)
    os.close(reads)
    with far:
        assert far.stdin is not None
        far.stdin.write(sent)
        far.stdin.flush()  # and it stays open: it is no end that ends the process
        try:
            assert far.wait(WAITS_S) == 3
        finally:
            far.kill()
