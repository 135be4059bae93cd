"""The pipes of a far end, as each engine carries them, and how it ends."""

import asyncio
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import WAITS_S

import benchforge.remote.dask
from benchforge.model.suite.placement import HostTable
from benchforge.remote.ssh.engine import COMMAND, SshPipe

FLOOD = "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo the last line >&2"
RELAY = Path(benchforge.remote.dask.__file__).with_name("relay.py")
FAR = [sys.executable, "-m", "benchforge.remote.agent"]


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
    far = subprocess.Popen(FAR, stdin=subprocess.PIPE, stdout=writes, stderr=subprocess.DEVNULL)
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
