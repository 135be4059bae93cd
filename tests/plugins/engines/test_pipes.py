"""The pipes of a far end, as each engine carries them."""

import asyncio
import runpy
from pathlib import Path
from typing import Any

import benchforge_engines.dask
import pytest
from benchforge_engines.ssh.connection import COMMAND, SshPipe

from benchforge.model.suite.hosts import HostTable

FLOOD = "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo the last line >&2"
RELAY = Path(benchforge_engines.dask.__file__).with_name("relay.py")


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
