"""Start: all services of a case in order, backends, upstream servers, then the server."""

import contextlib
import dataclasses
import itertools
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from benchforge.errors import BenchforgeError, ServerBroken, TrialFailed
from benchforge.model.values.case_name import Role
from benchforge.parts.command import Task
from benchforge.parts.part import Server, Service
from benchforge.parts.site import Accepts, RightAnswer, Site, Succeeds
from benchforge.run.http.connect import address, reachable
from benchforge.run.http.request import HttpProbe, Like, reason, until_right, version_of
from benchforge.run.programs.needed import in_log
from benchforge.run.programs.template import TASK_WITHIN_S, done, restored
from benchforge.run.sandbox.sandbox import Sandbox, complaint
from benchforge.run.trial.scope import Serving, Steps, TrialScope, services_of
from benchforge.text import door
from benchforge.text.readable import exact

PAUSE_S = 0.002
STOP_WITHIN_S = 5.0
ACCEPTED_WITHIN_S = 1.0


def start(
    scope: TrialScope, ports: Mapping[str, int] = MappingProxyType({})
) -> Steps[list[Serving]]:
    """Start all services of a case, each ready before the next; the server is last.

    `ports` are fixed ports of the server, by name. Raises TrialFailed.
    """
    backends: dict[str, Mapping[str, str]] = {}
    upstreams: dict[str, Mapping[str, str]] = {}
    for role, label, part in services_of(scope.case):
        with scope.recorder.phase("services"):
            scope.tap.forget(role)
            serving = service(scope, role, label, part, ports if role == "server" else {})
            labels = part.upstreams() if isinstance(part, Server) else ()
            reached = {name: upstreams[name] for name in labels}
            site = dataclasses.replace(serving.site, backends=dict(backends), upstreams=reached)
            serving = launched(scope, dataclasses.replace(serving, site=site))
        yield  # what others do meanwhile is theirs
        with scope.recorder.phase("services"):
            become_ready(scope, serving)
            if role != "server":
                values = backends if role == "backend" else upstreams
                values[label] = dict(part.gives(serving.site))
    return [*scope.started]


def service(
    scope: TrialScope, role: Role, label: str, part: Service, fixed: Mapping[str, int]
) -> Serving:
    """Return a service that is not started yet, with ports that are free or `fixed`."""
    context, sandbox = scope.context, scope.sandbox
    # Short, whatever the label: the path of a socket has an end.
    scratch = scope.scratch / str(len(scope.started))
    scratch.mkdir(mode=0o700)
    fixed = {**part.fixed_ports(), **fixed}
    site = Site(
        label=label,
        folder=scope.inputs.folder,
        scratch=scratch,
        address=sandbox.address,
        peers=context.peers,
        ports={name: fixed.get(name) or sandbox.free_port() for name in part.ports},
        python=context.python_of(part),
        programs=context.programs,
        backends={},
        suite_folder=context.suite_folder,
        as_root=context.as_root,
        tree=context.tree_of(part),
    )
    return Serving(role, part, site)


def launched(scope: TrialScope, serving: Serving) -> Serving:
    """Start the process of a service, which is not ready yet. Raises TrialFailed."""
    part, site, sandbox = serving.part, serving.site, scope.sandbox
    for name, text in part.files(site).items():
        door.write(site.folder, name, text.encode(), lasting=False, mode=door.OWN)
    restored(scope.context.host, serving.name, part, site)
    _do(sandbox, serving, "prepare", part.prepare(site))
    if (command := part.command(site)) is not None:
        hashing = {"PYTHONHASHSEED": str(scope.inputs.step.seed)}
        cpus = scope.context.places.get(serving.role)
        running = sandbox.start(serving.name, command, site.folder, hashing, cpus)
        serving = dataclasses.replace(serving, running=running)
    scope.runs(serving)
    return serving


def become_ready(scope: TrialScope, serving: Serving) -> None:
    """Wait until a service but the server is ready, and verify it. Raises TrialFailed."""
    if serving.role != "server":
        _until_ready(scope, serving)
        _do(scope.sandbox, serving, "verify", serving.part.verify(serving.site))


def question(scope: TrialScope, serving: Serving, like: Like | None) -> HttpProbe:
    """Return the scenario's request as one of its servers gets it."""
    part, site, case = serving.part, serving.site, scope.case
    if not isinstance(part, Server):
        raise BenchforgeError(f"{site.label}: a {part.kind} is not asked over HTTP")
    root = reachable(part.url(site)) if part.outside() else part.url(site)
    load = scope.recorder.load if serving.role == "server" else None
    return HttpProbe(
        label=site.label,
        part=part,
        running=serving.running,
        root=root,
        request=case.request,
        expect=case.expect,
        like=like,
        ca_file=part.certificate(site),
        secrets=scope.context.secrets,
        version=version_of(load, root),
    )


def is_ours(sandbox: Sandbox, serving: Serving, port: int) -> None:
    """Raise TrialFailed when another process than the service's listens on a port."""
    if serving.running is not None and sandbox.owns(serving.running, port) is False:
        raise failed(serving, f"port {port} was answered by another process")


def _do(sandbox: Sandbox, serving: Serving, task_name: str, tasks: Iterable[Task]) -> None:
    for number, task in enumerate(tasks, 1):
        label = f"{serving.name}-{task_name}-{number}"
        done(sandbox, task, label, serving.site.label, serving.site.folder)


def _until_ready(scope: TrialScope, serving: Serving) -> None:
    sandbox, probe = scope.sandbox, serving.part.ready(serving.site)
    within_s = serving.part.ready_within * scope.inputs.at_once
    if isinstance(probe, RightAnswer):
        asking = question(scope, serving, None)
        until_right(sandbox, asking, within_s)
        is_ours(sandbox, serving, address(asking.root)[1])
        return
    deadline = (began := time.monotonic()) + within_s
    while cause := _not_ready(sandbox, serving, probe):
        pause_s = min(0.5, PAUSE_S + 3 * (time.monotonic() - began))  # a program takes CPU to ask
        if serving.running is None:
            time.sleep(pause_s)
        elif end := sandbox.wait(serving.running, pause_s):
            message = f"ended with exit code {end.code} before it was ready"
            raise failed(serving, message, ended=True)
        if (began := time.monotonic()) > deadline:
            raise failed(serving, f"not ready within {exact(within_s)} s: {cause}")


def stop(scopes: Sequence[TrialScope]) -> None:
    """Stop what runs, in reverse order, each by its own signal; several trials together."""
    with contextlib.ExitStack() as phases:
        for scope in scopes:
            phases.enter_context(scope.recorder.phase("stop"))
        reverse = ([(scope.sandbox, each) for each in reversed(scope.started)] for scope in scopes)
        for row in itertools.zip_longest(*reverse):
            pairs = [pair for pair in row if pair is not None]
            for sandbox, serving in pairs[1:]:
                if serving.running is not None:
                    sandbox.signal(serving.running, serving.part.stop_signal)
            for sandbox, serving in pairs:
                if serving.running is not None:
                    sandbox.stop(serving.running, STOP_WITHIN_S, serving.part.stop_signal)


def _not_ready(sandbox: Sandbox, serving: Serving, probe: Accepts | Succeeds) -> str:
    site = serving.site
    if isinstance(probe, Succeeds):
        name = f"{serving.name}-ready"
        finished = sandbox.run(name, probe.command, site.folder, {}, TASK_WITHIN_S)
        if finished.code == 0:
            return ""
        # Each try has added the same lines to its log.
        lines = dict.fromkeys(line.strip() for line in complaint(finished).splitlines())
        return "; ".join(filter(None, lines)) or f"its client ended with exit code {finished.code}"
    if isinstance(probe.at, Path):
        return _refused(sandbox, socket.AF_UNIX, str(probe.at))
    if probe.at not in site.ports:
        raise BenchforgeError(f"{site.label}: it has no port {probe.at!r} to be ready at")
    port = site.ports[probe.at]
    if not (cause := _refused(sandbox, socket.AF_INET, (site.address, port))):
        is_ours(sandbox, serving, port)
    return cause


def _refused(sandbox: Sandbox, family: socket.AddressFamily, address: str | tuple[str, int]) -> str:
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
