"""Faulty servers on the machine's own network, and what comes of a question to one."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

from front_door import PROGRAMS

from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.parts.part import Server
from benchforge.parts.registry import Registry
from benchforge.run.http.request import HttpProbe, Version, ask, reason
from benchforge.run.sandbox.host import Sandbox


class Outside(Sandbox):
    """The machine's own network, as a place without processes."""

    def __init__(self) -> None: ...

    def socket(
        self,
        family: socket.AddressFamily = socket.AF_INET,
        kind: socket.SocketKind = socket.SOCK_STREAM,
        protocol: int = 0,
        count: int = 1,
    ) -> socket.socket:
        return socket.socket(family, kind, protocol)


@contextlib.contextmanager
def serving(program: str, *words: str | Path) -> Iterator[int]:
    """Serve by a program that prints its port, and return the port."""
    file = PROGRAMS / f"faulty_servers/{program}.py"
    command = [sys.executable, str(file), "0", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


def probe(
    root: str, ca_file: Path | None = None, *, path: str = "/", version: Version = "HTTP/1.1"
) -> HttpProbe:
    """Return a question."""
    part = Registry().part("server", "url").model_validate({"url": root})
    assert isinstance(part, Server)
    request = Request(path=path)
    return HttpProbe("server", part, None, root, request, Expect(), None, ca_file, version=version)


def came(root: str, ca_file: Path | None = None, **options: Any) -> str:
    """Return what came of a question; no other errors than these may come of it."""
    try:
        answer = ask(Outside(), probe(root, ca_file, **options)).answer
    except (OSError, HTTPException) as error:
        return reason(error)
    return f"{answer.status} of {answer.length}"
