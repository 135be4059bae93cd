"""A server in a trial's place: started, asked over the trial's network, stopped."""

import dataclasses
import http.client
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchforge.parts.part import Server
from benchforge.parts.site import Site
from benchforge.run.sandbox.host import Running, Sandbox


def site_in(folder: Path, scratch: Path, ports: dict[str, int], **fields: Any) -> Site:
    """Return the place of a part with these ports, of a suite in `folder` where no field says."""
    python, as_root = Path(sys.executable), os.getuid() == 0
    site = Site("mine", folder, scratch, "127.0.0.1", ports, python, {}, {}, folder, as_root)
    return dataclasses.replace(site, **fields)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Give a place whose suite lies in `tmp_path`."""
    (path := tmp_path / "trial").mkdir()
    with tempfile.TemporaryDirectory(prefix="bf-") as scratch:
        yield site_in(path, Path(scratch), {"http": 8000}, suite_folder=tmp_path)


@contextmanager
def serving(sandbox: Sandbox, part: Server, site: Site) -> Iterator[tuple[Running, Site]]:
    """Start a server, wait until it takes connections, and stop it as politely as it asks for."""
    site = dataclasses.replace(site, ports=dict.fromkeys(part.ports, sandbox.free_port()))
    for name, text in part.files(site).items():
        (site.folder / name).write_text(text)
    command = part.command(site)
    assert command is not None
    server = sandbox.start("server", command, site.folder, {})
    unix = part.gives(site).get("socket") or part.gives(site).get("uwsgi", "").partition("unix:")[2]
    deadline = time.monotonic() + 200
    while not (connects(unix) if unix else accepts(sandbox, site.port)):
        assert sandbox.alive(server), server.stderr.read_text()
        assert time.monotonic() < deadline, server.stderr.read_text()
        time.sleep(0.01)
    yield server, site
    sandbox.stop(server, first=part.stop_signal)


def grown(sandbox: Sandbox, server: Running, number: int, within_s: float = 200) -> bool:
    """Whether the server comes to so many processes, and stays at that.

    A master answers as soon as one of its workers does, and may start the others later.
    """
    counts: list[int] = []
    deadline = time.monotonic() + within_s
    while counts[-10:] != [number] * 10 and time.monotonic() < deadline:
        counts.append(len(sandbox.processes(server)))
        time.sleep(0.03)
    return counts[-10:] == [number] * 10


def accepts(sandbox: Sandbox, port: int) -> bool:
    with sandbox.socket() as inside:
        return inside.connect_ex(("127.0.0.1", port)) == 0


def connects(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(path) == 0


def get(sandbox: Sandbox, port: int, path: str = "/") -> tuple[int, str]:
    """Ask over a socket of the trial's network."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    with sandbox.socket() as connection.sock:
        connection.sock.settimeout(200)
        connection.sock.connect(("127.0.0.1", port))
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
