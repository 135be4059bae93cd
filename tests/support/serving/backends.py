"""What the tests of backends share: one in a trial's place, as benchforge starts it."""

import dataclasses
import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from serving.in_trial import site_in

from benchforge.parts.command import Command
from benchforge.parts.part import Backend
from benchforge.parts.site import Site, Succeeds
from benchforge.run.locate import locate
from benchforge.run.programs.template import done, restored
from benchforge.run.sandbox.host import LocalHost, Network, Running, Sandbox

HOST = LocalHost()
PAUSE_S = 0.2  # between two looks by a program: each costs what an interpreter takes to start
_NUMBERS = itertools.count()


def site_at(part: Backend, folder: Path, scratch: Path, port: int = 5432) -> Site:
    ports = {name: port + number for number, name in enumerate(part.ports)}
    programs = {need.name: actual for need in part.needs() if (actual := locate(need.name))}
    return site_in(folder, scratch, ports, programs=programs)


@contextmanager
def running(
    part: Backend, site: Site, network: Network = "private"
) -> Iterator[tuple[Sandbox, Running, Site]]:
    """Restore and start a backend, see that it is ready, and verify it."""
    with HOST.trial(site.folder, network) as sandbox:
        site = dataclasses.replace(site, ports={name: sandbox.free_port() for name in part.ports})
        restored(HOST, f"backend-{site.label}", part, site)
        for name, text in part.files(site).items():
            (site.folder / name).write_text(text)
        for number, task in enumerate(part.prepare(site)):
            done(sandbox, task, f"prepare{number}", site.label, site.folder)
        command = part.command(site)
        assert command is not None
        server = sandbox.start("server", command, site.folder, {})
        probe = part.ready(site)
        assert isinstance(probe, Succeeds)
        deadline = time.monotonic() + 200
        while run(sandbox, site, probe.command)[0]:
            sandbox.wait(server, PAUSE_S)
            assert sandbox.alive(server), server.stderr.read_text() + server.stdout.read_text()
            assert time.monotonic() < deadline
        for number, task in enumerate(part.verify(site)):
            done(sandbox, task, f"verify{number}", site.label, site.folder)
        yield sandbox, server, site


def run(sandbox: Sandbox, site: Site, command: Command) -> tuple[int, str]:
    # What a process prints is added to what is there under its name.
    finished = sandbox.run(f"run{next(_NUMBERS)}", command, site.folder, {}, 200)
    return finished.code, finished.stdout.read_text() + finished.stderr.read_text()


def neither_started_nor_filled(part: Backend, site: Site, *needs: str) -> None:
    """See that nothing is done to a backend that already runs."""
    assert part.outside()
    assert [need.name for need in part.needs()] == [*needs]
    assert part.command(site) is None
    assert not part.template(site)
    assert not list(part.verify(site))


def write_dataset(
    folder: Path, backend: str, rows: str, files: dict[str, str], database: str = ""
) -> str:
    """Write a dataset of the user's into a folder beside the suite, and return its name."""
    folder = folder / "mine"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    head = f'name = "mine"\nbackend = "{backend}"\ndatabase = "{database}"\n'
    (folder / "dataset.toml").write_text(f"{head}files = {list(files)}\n[rows]\n{rows}\n")
    return "./mine"
