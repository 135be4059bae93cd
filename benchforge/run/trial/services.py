"""Starting a case's services in order: backends, upstream servers, then the server."""

import dataclasses
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from benchforge.errors import BenchforgeError, TrialFailed
from benchforge.model.observation import Role
from benchforge.parts.command import Command, Task
from benchforge.parts.part import Server, Service
from benchforge.parts.probe import Accepts, RightAnswer, Succeeds
from benchforge.parts.site import Site
from benchforge.run.ask import Like, Question, default_port, until_right
from benchforge.run.ground import Ground
from benchforge.run.here import Here, Running, complaint
from benchforge.run.tasks import TASK_WITHIN_S, done, located
from benchforge.run.template import restored
from benchforge.suite.case import Case

PAUSE_S = 0.005
STOP_WITHIN_S = 5.0
ACCEPTED_WITHIN_S = 1.0


@dataclasses.dataclass(frozen=True)
class Serving:
    """A service that runs; `running` is None for one that ran already."""

    name: str
    "Of its files beside the trial: role and label."
    role: Role
    part: Service
    site: Site
    command: Command | None
    running: Running | None


def started(
    here: Here,
    ground: Ground,
    case: Case,
    seed: int,
    folders: tuple[Path, Path],
    note: Callable[[Serving], None],
    starts: Callable[[Role], None] = lambda _: None,
    ports: Mapping[str, int] = MappingProxyType({}),
) -> list[Serving]:
    """Start all services of a case, each ready before the next; the server is last.

    `folders` are the trial's own and a scratch one. `starts` hears before each starts, `note` as
    soon as it runs.
    `ports` are those of the server that are not to be any free ones, by name.
    Raises TrialFailed when one cannot be started or does not become ready.
    """
    services: list[Serving] = []
    backends: dict[str, Mapping[str, str]] = {}
    upstreams: dict[str, Mapping[str, str]] = {}
    every: list[tuple[str, Role, Service]] = [
        *((label, "backend", part) for label, part in case.backends),
        *((label, "upstream", part) for label, part in case.upstreams),
        (case.name.server, "server", case.server),
    ]
    for label, role, part in every:
        fixed = ports if part is case.server else {}
        starts(role)
        site = _site(here, ground, label, part, folders, len(services), fixed)
        site = dataclasses.replace(site, backends=dict(backends), upstreams=_its(part, upstreams))
        serving = _started(
            here, ground, Serving(f"{role}-{label}", role, part, site, None, None), seed
        )
        note(serving)
        services.append(serving)
        if role != "server":  # the question before the load waits for that one
            _until_ready(here, serving, case)
            _do(here, serving, "verify", part.verify(site))
            given = backends if role == "backend" else upstreams
            given[label] = dict(part.gives(site))
    return services


def question(case: Case, serving: Serving, like: Like | None) -> Question:
    """Return the scenario's request as it is asked of one of its servers."""
    part, site = serving.part, serving.site
    if not isinstance(part, Server):
        raise BenchforgeError(f"{site.label}: a {part.kind} is not asked over HTTP")
    return Question(
        label=site.label,
        running=serving.running,
        root=part.url(site),
        request=case.request,
        expect=case.expect,
        like=like,
        ca_file=part.certificate(site),
    )


def is_ours(here: Here, serving: Serving, port: int) -> None:
    """Raise TrialFailed when another process than the service's listens on a port."""
    if serving.running is not None and here.owns(serving.running, port) is False:
        raise failed(serving, f"port {port} was answered by another process")


def port_of(root: str) -> int:
    """Return the port of a server's root."""
    parts = urlsplit(root)
    return parts.port or default_port(parts.scheme)


def _its(part: Service, given: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    labels = part.upstreams() if isinstance(part, Server) else ()
    return {label: given[label] for label in labels}


def _site(
    here: Here,
    ground: Ground,
    label: str,
    part: Service,
    folders: tuple[Path, Path],
    number: int,
    fixed: Mapping[str, int],
) -> Site:
    folder, scratch = folders
    own = scratch / str(number)  # short, whatever the label: the path of a socket has an end
    own.mkdir(mode=0o700)
    return Site(
        label=label,
        folder=folder,
        scratch=own,
        address="127.0.0.1",
        ports={name: fixed.get(name) or here.free_port() for name in part.ports},
        python=ground.python_of(part),
        programs=ground.programs,
        backends={},
        suite_folder=ground.suite_folder,
        as_root=ground.as_root,
        tree=ground.tree_of(part),
    )


def _started(here: Here, ground: Ground, serving: Serving, seed: int) -> Serving:
    part, site = serving.part, serving.site
    for name, text in part.files(site).items():
        (site.folder / name).write_text(text)
    restored(ground.host, serving.name, part, site)
    _do(here, serving, "prepare", part.prepare(site))
    if (command := part.command(site)) is None:
        return serving
    command = located(command)
    hashing = {"PYTHONHASHSEED": str(seed)}
    cpus = ground.places.get(serving.role)
    running = here.start(serving.name, command, site.folder, hashing, cpus)
    return dataclasses.replace(serving, command=command, running=running)


def _do(here: Here, serving: Serving, what: str, tasks: Iterable[Task]) -> None:
    for number, task in enumerate(tasks, 1):
        label = f"{serving.name}-{what}-{number}"
        done(here, task, label, serving.site.label, serving.site.folder)


def _until_ready(here: Here, serving: Serving, case: Case) -> None:
    """Wait until a service is ready. Raises TrialFailed when it never is."""
    probe = serving.part.ready(serving.site)
    if isinstance(probe, RightAnswer):
        asked = question(case, serving, None)
        until_right(here, asked, serving.part.ready_within)
        is_ours(here, serving, port_of(asked.root))
        return
    deadline = time.monotonic() + serving.part.ready_within
    while not _is_ready(here, serving, probe):
        if serving.running is None:
            time.sleep(PAUSE_S)
        elif end := here.wait(serving.running, PAUSE_S):
            raise failed(serving, f"ended with exit code {end.code} before it was ready")
        if time.monotonic() > deadline:
            raise failed(serving, f"not ready within {serving.part.ready_within:g} s")


def stop(here: Here, services: Sequence[Serving]) -> None:
    """Stop what runs, in the reverse order of the start, each as politely as it asks for."""
    for serving in reversed(services):
        if serving.running is not None:
            here.stop(serving.running, STOP_WITHIN_S, serving.part.stop_signal)


def _is_ready(here: Here, serving: Serving, probe: Accepts | Succeeds) -> bool:
    site = serving.site
    if isinstance(probe, Succeeds):
        command, name = located(probe.command), f"{serving.name}-ready"
        return here.run(name, command, site.folder, {}, TASK_WITHIN_S).code == 0
    if isinstance(probe.at, Path):
        return _accepts(here, socket.AF_UNIX, str(probe.at))
    if probe.at not in site.ports:
        raise BenchforgeError(f"{site.label}: it has no port {probe.at!r} to be ready at")
    port = site.ports[probe.at]
    if not _accepts(here, socket.AF_INET, (site.address, port)):
        return False
    is_ours(here, serving, port)
    return True


def _accepts(here: Here, family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    with here.socket(family) as inside:
        inside.settimeout(ACCEPTED_WITHIN_S)
        try:
            inside.connect(address)
        except OSError:
            return False
    return True


def failed(serving: Serving, message: str, stage: str = "start") -> TrialFailed:
    """Return a failure of a service, with the last lines of its log."""
    log = "" if serving.running is None else complaint(serving.running)
    return TrialFailed(stage, f"{serving.site.label}: {message}", log=log)
