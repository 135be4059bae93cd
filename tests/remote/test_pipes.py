"""The pipes of a far end, as each engine carries them."""

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest

import benchforge.remote.dask
from benchforge.model.suite.placement import HostTable
from benchforge.remote import wire
from benchforge.remote.agent.place import Place
from benchforge.remote.calls import Losses, PipeConnection
from benchforge.remote.ssh.engine import COMMAND, SshPipe

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


class _CutOff:
    """The pipe of a host that is cut off."""

    writes = 0

    def write(self, content: bytes) -> None:
        self.writes += 1
        raise OSError(content)

    def line(self) -> bytes:
        return b""

    def complaint(self) -> str:
        return "it is cut off"

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_a_lost_host_is_noted_by_the_first_write_that_fails_and_not_written_to_again() -> None:
    """Each write waited for its own failure, while the other hosts kept their load."""
    pipe, losses = _CutOff(), Losses()
    connection = PipeConnection("app", pipe, losses, "")
    for _ in range(2):
        with pytest.raises(wire.HostLost, match="lost host app: it is cut off"):
            connection.send(Place.clock)
    assert losses.lost is not None
    assert pipe.writes == 1
