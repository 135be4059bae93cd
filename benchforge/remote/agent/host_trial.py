"""A host's part of one trial: its services; with the load tool also the questions and the load."""

import base64
import contextlib
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import JsonValue

from benchforge.errors import TrialFailed, Unusable
from benchforge.model.trial.trial import Failure
from benchforge.model.values.case_name import Role
from benchforge.parts.content import content_of
from benchforge.parts.part import Server, Service
from benchforge.parts.site import Site
from benchforge.remote import wire
from benchforge.remote.agent import links
from benchforge.remote.answers import (
    HostPartOfTrial,
    HostStep,
    Moment,
    Piece,
    Port,
    SentWindows,
    StartedService,
)
from benchforge.run.ceiling.ceiling import against
from benchforge.run.ceiling.null_server import NullServer
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.http.connect import address
from benchforge.run.http.probes import complaints
from benchforge.run.http.request import Like
from benchforge.run.http.wire.capture import LOOPBACK, LoadWindows
from benchforge.run.machine.facts import hard_facts
from benchforge.run.trial.context import TrialContext, TrialInputs
from benchforge.run.trial.measure import begun, trial_of
from benchforge.run.trial.scope import Serving, TrialScope, driver_label, services_of, trial_scope
from benchforge.run.trial.stages.after import look_after
from benchforge.run.trial.stages.ask import ask
from benchforge.run.trial.stages.finish import finish
from benchforge.run.trial.stages.load import load, watch
from benchforge.run.trial.stages.start import become_ready, launched, service, stop
from benchforge.run.trial.stages.warm_up import still_there, warm_up
from benchforge.run.trial.stages.windows import LoadConnections, connections_of, in_load
from benchforge.run.watch.sampler import Watch
from benchforge.suite.cases.case import Case
from benchforge.suite.plan import Measurement
from benchforge.suite.scenarios.search import rated
from benchforge.text import door

_MOST_SENT = 16 << 20
"Bytes of a load after which no further window opens: all of them cross twice."


class HostTrial:
    """One host during one trial: each call is a stage, or a part of one."""

    CALLS: ClassVar[tuple[str, ...]] = (
        *("service", "ask", "read", "warm_up", "watch", "load", "observed", "captured"),
        *("finish", "leave", "fetch"),
    )

    def __init__(self, label: str, address: str, case: Case, context: TrialContext) -> None:
        self._label, self._address = label, address
        self._case, self._context = case, context
        self._tool = driver_label(case)
        self._lasting, self._stack = contextlib.ExitStack(), contextlib.ExitStack()
        self._scope: TrialScope | None = None
        self._watching: Watch | None = None
        self._windows: LoadWindows | None = None

    def enter(self, step: HostStep) -> dict[str, JsonValue]:
        """Start the keeper; return the machine's hard facts."""
        case = self._case
        if step.null is not None:
            server = NullServer.model_validate(step.null["server"])
            case = against(case, server, tuple(step.null["share"]))
        if step.rate is not None:
            case = case._replace(driver=rated(case.driver, step.rate, step.block))
        driver_of_case, divided = case.driver, None
        if step.share is not None and (driver := driver_of_case.divided(*step.share)) is not None:
            divided = driver_of_case, *step.share
            mix = case.workload and case.workload.at(step.share[0])
            case = case._replace(driver=driver, workload=mix)
            if step.share[0]:
                self._tool = f"{self._label}-{self._tool}"
        self._case = case
        scratch = self._lasting.enter_context(scratch_folder())
        self._folder = scratch / "files"
        self._folder.mkdir()
        like = None
        if step.answer is not None:
            like = Like(step.answer[0], base64.b64decode(step.answer[1]))
        self._inputs = TrialInputs(
            step=Measurement(step.block, step.position, case, step.seed, step.run_seed),
            folder=self._folder,
            number=step.number,
            attempt=step.attempt,
            like=like,
            divided=divided,
        )
        self._recorder = begun(self._inputs, self._context, lambda _: None)
        scope = trial_scope(self._inputs, self._context, self._recorder, scratch)
        self._scope = self._stack.enter_context(scope)
        self._scope.sandbox.address = self._address
        self._open_windows = self._stack.enter_context(contextlib.ExitStack())
        return hard_facts()

    def service(
        self, name: str, backends: dict[str, Any], upstreams: dict[str, Any]
    ) -> StartedService:
        """Start a service; return where it is and what it gives to those that use it."""
        role, label, part = self._named()[name]
        serving = service(self._entered, role, label, part, {})
        site = replace(serving.site, backends=backends, upstreams=upstreams)
        serving = launched(self._entered, replace(serving, site=site))
        become_ready(self._entered, serving)
        pem = part.certificate(site) if isinstance(part, Server) else None
        return StartedService(
            address=site.address,
            ports=dict(site.ports),
            gives=dict(part.gives(site)),
            certificate=None if pem is None else content_of(pem).decode(),
        )

    @property
    def _entered(self) -> TrialScope:
        if self._scope is None:
            raise Unusable("this host is in no trial")
        return self._scope

    def _named(self) -> dict[str, tuple[Role, str, Service]]:
        return {f"{role}-{label}": (role, label, p) for role, label, p in services_of(self._case)}

    def ask(self, services: dict[str, dict[str, Any]]) -> LoadConnections:
        """Send the request from here until it is answered rightly; return what is to be read."""
        local = {serving.name: serving for serving in self._entered.started}
        servings = [
            local.get(name) or self._elsewhere(name, StartedService(**services[name]))
            for name in self._named()
        ]
        self._answering = ask(self._entered, servings)
        self._read = connections_of(self._entered, self._answering)
        return self._read

    def read(self, port: Port, across: bool) -> str:
        """Get ready to read a port's connections, `across` the network or not; say why if not."""
        self._windows = LoadWindows(
            self._entered.sandbox,
            port,
            interface=links.interface(self._address) if across else LOOPBACK,
            where=f"at host {self._label}",
            most_bytes=_MOST_SENT,
        )
        return self._windows.why

    def warm_up(self, unread: str) -> None:
        """Probe the server, and warm it up; `unread` is why no host reads the load's answers."""
        port, behind = self._read.port, self._read.behind
        windows = LoadWindows(self._entered.sandbox, port, unread, behind, interface=None)
        if self._windows is not None and not unread:
            windows = self._windows
            windows.behind = behind
        self._warm = warm_up(self._entered, self._answering, windows)

    def _elsewhere(self, name: str, started: StartedService) -> Serving:
        role, label, part = self._named()[name]
        scratch = self._entered.scratch / name
        scratch.mkdir(mode=0o700)
        site = Site(
            label=label,
            folder=self._folder,
            scratch=scratch,
            address=started.address,
            ports=started.ports,
            python=self._context.python,
            programs=self._context.programs,
            backends={},
            suite_folder=self._context.suite_folder,
            as_root=self._context.as_root,
        )
        pem = part.certificate(site) if isinstance(part, Server) else None
        if pem is not None and started.certificate is not None:
            pem.write_text(started.certificate)
        return Serving(role, part, site)

    def watch(self) -> bool | None:
        """Look at the host's parts from now on; return whether the server's port is its own."""
        scope = self._entered
        scope.recorder.ready(scope.sandbox)
        still_there(scope, scope.started, "before the load", "ask")
        self._watching = self._stack.enter_context(watch(scope, scope.started))
        if self._windows is not None:
            self._open_windows.enter_context(self._windows.during("load", *in_load(scope)))
        return self._owns()

    def _owns(self) -> bool | None:
        """Whether the server's own processes listen at its port; None for other hosts."""
        scope = self._entered
        if not scope.started or (server := scope.started[-1]).role != "server":
            return None
        part, running = server.part, server.running
        if running is None or not isinstance(part, Server):
            return None
        return scope.sandbox.owns(running, address(part.url(server.site))[1])

    def tick(self) -> str:
        """Look once; return why the trial cannot go on, or nothing."""
        try:
            if self._watching is not None:
                self._watching.sample()
            for serving in () if self._scope is None else self._scope.started:
                if serving.running is not None:
                    self._entered.sandbox.finished(serving.running)
        except TrialFailed as error:
            return error.message
        return ""

    def load(self, begins_s: float | None = None) -> Moment:
        """Run the load to its end, from a moment of this host's clock on; return when it began."""
        self._loaded = load(self._entered, self._warm, self._tool, begins_s)
        return self._recorder.load_began_s

    def observed(self) -> bool | None:
        """End what `watch` began, once the server idles; the services still have to be there."""
        scope = self._entered
        self._open_windows.close()
        if self._watching is not None:
            scope.recorder.observation = self._watching.observation(self._folder)
            look_after([(scope, part) for part in self._watching.servers()])
            scope.recorder.placement = scope.placement.placed()
            self._watching = None
        still_there(scope, scope.started, "during the load", "drive")
        return self._owns()

    def captured(self) -> SentWindows:
        """Return what the windows of the load got, once they have ended."""
        return SentWindows(windows=() if self._windows is None else tuple(self._windows.end()))

    def finish(self, captured: str = "", ahead_s: float = 0.0) -> None:
        """Read what the load tool says, send the request again, and judge the load's answers.

        Another host, whose clock is ahead, may have `captured` them.
        """
        if captured:
            windows = self._loaded.warm.windows
            windows.windows += SentWindows.model_validate_json(captured).windows
            windows.ahead_s = ahead_s
        finish(self._entered, self._loaded)

    def leave(self, failure: dict[str, Any] | None) -> HostPartOfTrial:
        """Stop all that runs here; return the host's part of the trial, and its files."""
        self._watching = None
        if not self._recorder.exhaustions:
            self._recorder.exhaustions = complaints(self._recorder.started, str)
        if self._scope is not None:  # its keeper may have been killed before it was ready
            with contextlib.suppress(TrialFailed):
                stop([self._scope])
        self._stack.close()
        reason = None if failure is None else Failure.model_validate(failure)
        measured = trial_of(self._inputs, self._context, self._recorder, reason)
        files = tuple(door.files(self._folder))
        return HostPartOfTrial(trial=measured.trial, body=measured.body, files=files)

    def fetch(self, name: str, offset: int) -> Piece:
        """Return a piece of a file of the trial."""
        with door.stream(self._folder, name) as file:
            size = file.seek(0, 2)
            file.seek(offset)
            return Piece(data=file.read(wire.CHUNK), size=size)

    def clear(self) -> None:
        """End all, and remove all files."""
        with contextlib.suppress(TrialFailed):
            self._stack.close()
        self._lasting.close()
