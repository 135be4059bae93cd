"""Starting a case's services in order: backends, upstream servers, then the server."""

import dataclasses
import socket
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import urlsplit

from benchforge import door
from benchforge.errors import BenchforgeError, ServerBroken, TrialFailed
from benchforge.model.trial.observation import Role
from benchforge.parts.command import Command, Finished, Task
from benchforge.parts.part import Server, Service
from benchforge.parts.probe import Accepts, RightAnswer, Succeeds
from benchforge.parts.site import Site
from benchforge.run.http.request import (
    HttpProbe,
    Like,
    default_port,
    reachable,
    reason,
    until_right,
)
from benchforge.run.locate import with_libraries
from benchforge.run.programs.lacking import in_log
from benchforge.run.programs.tasks import TASK_WITHIN_S, done
from benchforge.run.sandbox.sandbox import Running, Sandbox, complaint
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.template import restored
from benchforge.suite.cases.case import Case
from benchforge.text.readable import exact

PAUSE_S = 0.005
STOP_WITHIN_S = 5.0
ACCEPTED_WITHIN_S = 1.0

Result = TypeVar("Result")
Steps = Generator[None, None, Result]
"Pauses after each process that it started, so that another trial can start its own meanwhile."


@dataclasses.dataclass(frozen=True)
class Serving:
    """A service that runs; `running` is None for one that ran already."""

    name: str
    "Prefix of its files in the trial's folder: role and label."
    role: Role
    part: Service
    site: Site
    command: Command | None
    running: Running | None


def completed(steps: Steps[Result]) -> Result:
    """Take all steps without a pause, and return their result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result


def starting(
    sandbox: Sandbox,
    ground: TrialContext,
    case: Case,
    seed: int,
    folders: tuple[Path, Path],
    note: Callable[[Serving], None],
    starts: Callable[[Role], None] = lambda _: None,
    ports: Mapping[str, int] = MappingProxyType({}),
    at_once: int = 1,
) -> Steps[list[Serving]]:
    """Start all services of a case, each ready before the next; the server is last.

    `folders` are the trial's own and a scratch one. `starts` hears before each starts, `note` as
    soon as it runs.
    `ports` are those of the server that are not to be any free ones, by name. With `at_once` trials
    that start together, a service may take that many times as long.
    Raises TrialFailed when one cannot be started or does not become ready.
    """
    services: list[Serving] = []
    backends: dict[str, Mapping[str, str]] = {}
    upstreams: dict[str, Mapping[str, str]] = {}
    parts: list[tuple[str, Role, Service]] = [
        *((label, "backend", part) for label, part in case.backends),
        *((label, "upstream", part) for label, part in case.upstreams),
        (case.name.server, "server", case.server),
    ]
    for label, role, part in parts:
        fixed = ports if part is case.server else {}
        starts(role)
        site = site_of(sandbox, ground, label, part, folders, len(services), fixed)
        site = dataclasses.replace(site, backends=dict(backends), upstreams=_its(part, upstreams))
        serving = Serving(f"{role}-{label}", role, part, site, None, None)
        serving = launched(sandbox, ground, seed, serving, note)
        yield
        verified(sandbox, ground, case, serving, at_once)
        services.append(serving)
        if role != "server":
            given = backends if role == "backend" else upstreams
            given[label] = dict(part.gives(site))
    return services


def launched(
    sandbox: Sandbox,
    ground: TrialContext,
    seed: int,
    serving: Serving,
    note: Callable[[Serving], None],
) -> Serving:
    """Start the process of one service, which is not ready yet."""
    serving = _started(sandbox, ground, serving, seed)
    note(serving)
    return serving


def verified(
    sandbox: Sandbox, ground: TrialContext, case: Case, serving: Serving, at_once: int = 1
) -> None:
    """Wait until a service is ready, and verify it; the request before the load waits for a server.

    Raises TrialFailed.
    """
    if serving.role != "server":
        _until_ready(sandbox, serving, case, ground.secrets, at_once)
        _do(sandbox, serving, "verify", serving.part.verify(serving.site))


def question(case: Case, serving: Serving, like: Like | None, secrets: frozenset[str]) -> HttpProbe:
    """Return the scenario's request as it is asked of one of its servers."""
    part, site = serving.part, serving.site
    if not isinstance(part, Server):
        raise BenchforgeError(f"{site.label}: a {part.kind} is not asked over HTTP")
    return HttpProbe(
        label=site.label,
        part=part,
        running=serving.running,
        root=reachable(part.url(site)) if part.outside() else part.url(site),
        request=case.request,
        expect=case.expect,
        like=like,
        ca_file=part.certificate(site),
        secrets=secrets,
    )


def is_ours(sandbox: Sandbox, serving: Serving, port: int) -> None:
    """Raise TrialFailed when another process than the service's listens on a port."""
    if serving.running is not None and sandbox.owns(serving.running, port) is False:
        raise failed(serving, f"port {port} was answered by another process")


def port_of(root: str) -> int:
    """Return the port of a server's root."""
    parts = urlsplit(root)
    return parts.port or default_port(parts.scheme)


def _its(part: Service, given: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    labels = part.upstreams() if isinstance(part, Server) else ()
    return {label: given[label] for label in labels}


def site_of(
    sandbox: Sandbox,
    ground: TrialContext,
    label: str,
    part: Service,
    folders: tuple[Path, Path],
    number: int,
    fixed: Mapping[str, int],
) -> Site:
    """Return where a service lives, with ports that are free or `fixed`."""
    folder, scratch = folders
    own = scratch / str(number)  # short, whatever the label: the path of a socket has an end
    own.mkdir(mode=0o700)
    fixed = {**part.fixed_ports(), **fixed}
    return Site(
        label=label,
        folder=folder,
        scratch=own,
        address=sandbox.address,
        peers=ground.peers,
        ports={name: fixed.get(name) or sandbox.free_port() for name in part.ports},
        python=ground.python_of(part),
        programs=ground.programs,
        backends={},
        suite_folder=ground.suite_folder,
        as_root=ground.as_root,
        tree=ground.tree_of(part),
    )


def _started(sandbox: Sandbox, ground: TrialContext, serving: Serving, seed: int) -> Serving:
    part, site = serving.part, serving.site
    for name, text in part.files(site).items():
        door.write(site.folder, name, text.encode(), lasting=False, mode=door.OWN)
    restored(ground.host, serving.name, part, site)
    _do(sandbox, serving, "prepare", part.prepare(site))
    if (command := part.command(site)) is None:
        return serving
    command = with_libraries(command)  # as the trial tells it
    hashing = {"PYTHONHASHSEED": str(seed)}
    cpus = ground.places.get(serving.role)
    running = sandbox.start(serving.name, command, site.folder, hashing, cpus)
    return dataclasses.replace(serving, command=command, running=running)


def _do(sandbox: Sandbox, serving: Serving, what: str, tasks: Iterable[Task]) -> None:
    for number, task in enumerate(tasks, 1):
        label = f"{serving.name}-{what}-{number}"
        done(sandbox, task, label, serving.site.label, serving.site.folder)


def _until_ready(
    sandbox: Sandbox, serving: Serving, case: Case, secrets: frozenset[str], at_once: int
) -> None:
    """Wait until a service is ready. Raises TrialFailed when it never is."""
    probe, within_s = serving.part.ready(serving.site), serving.part.ready_within * at_once
    if isinstance(probe, RightAnswer):
        asking = question(case, serving, None, secrets)
        until_right(sandbox, asking, within_s)
        is_ours(sandbox, serving, port_of(asking.root))
        return
    deadline = (began := time.monotonic()) + within_s
    while why := _not_ready(sandbox, serving, probe):
        pause_s = min(0.5, PAUSE_S + 3 * (time.monotonic() - began))  # a program takes CPU to ask
        if serving.running is None:
            time.sleep(pause_s)
        elif end := sandbox.wait(serving.running, pause_s):
            message = f"ended with exit code {end.code} before it was ready"
            raise failed(serving, message, ended=True)
        if (began := time.monotonic()) > deadline:
            raise failed(serving, f"not ready within {exact(within_s)} s: {why}")


def stop(sandbox: Sandbox, services: Sequence[Serving]) -> None:
    """Stop what runs, in the reverse order of the start, each as politely as it asks for."""
    for serving in reversed(services):
        if serving.running is not None:
            sandbox.stop(serving.running, STOP_WITHIN_S, serving.part.stop_signal)


def _not_ready(sandbox: Sandbox, serving: Serving, probe: Accepts | Succeeds) -> str:
    """Return why a service is not ready; nothing when it is."""
    site = serving.site
    if isinstance(probe, Succeeds):
        name = f"{serving.name}-ready"
        finished = sandbox.run(name, probe.command, site.folder, {}, TASK_WITHIN_S)
        return "" if finished.code == 0 else _last_said(finished)
    if isinstance(probe.at, Path):
        return _refused(sandbox, socket.AF_UNIX, str(probe.at))
    if probe.at not in site.ports:
        raise BenchforgeError(f"{site.label}: it has no port {probe.at!r} to be ready at")
    port = site.ports[probe.at]
    if not (why := _refused(sandbox, socket.AF_INET, (site.address, port))):
        is_ours(sandbox, serving, port)
    return why


def _last_said(finished: Finished) -> str:
    """Return what a client complained of, in one line: each try has added the same ones to it."""
    lines = dict.fromkeys(line.strip() for line in complaint(finished).splitlines())
    return "; ".join(filter(None, lines)) or f"its client ended with exit code {finished.code}"


def _refused(sandbox: Sandbox, family: socket.AddressFamily, address: str | tuple[str, int]) -> str:
    """Return why nobody takes a connection; nothing when somebody does."""
    with sandbox.socket(family) as inside:
        inside.settimeout(ACCEPTED_WITHIN_S)
        try:
            inside.connect(address)
        except OSError as error:
            where = address if isinstance(address, str) else "{}:{}".format(*address)
            return f"{where}: {reason(error)}"
    return ""


def failed(
    serving: Serving, message: str, stage: str = "start", *, ended: bool = False
) -> TrialFailed:
    """Return a failure of a service, which may have ended, with the last lines of its log."""
    name, log, hint = serving.site.label, "", ""
    if serving.running is not None:
        log = complaint(serving.running)
        hint = in_log(f"{message}\n{log}", serving.part, name)
    elif serving.part.outside():
        hint = f"start it, or correct {serving.part.kind}s.{name}.url: benchforge does not start it"
    kind = ServerBroken if ended and serving.role != "backend" else TrialFailed
    return kind(stage, f"{name}: {message}", hint, log)
