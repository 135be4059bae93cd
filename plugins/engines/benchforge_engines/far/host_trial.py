"""A host's part of one trial: its services, and on the load tool's host the questions and the load.

What acts is benchforge's own code; a service of another host is one that runs already.
"""

import base64
import contextlib
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from benchforge_null_server.ceiling import against
from benchforge_null_server.process import NullServer

from benchforge import door
from benchforge.errors import TrialFailed, Unusable
from benchforge.graph import Measurement
from benchforge.model.trial.trial import Failure
from benchforge.parts.content import content_of
from benchforge.plugin import Finished, Role, Server, Service, Site
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.http.probes import complaints
from benchforge.run.http.request import Like
from benchforge.run.machine.facts import hard_facts
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.load import drive
from benchforge.run.trial.measure import (
    begin,
    driver_label,
    sandboxed,
    trial_of,
    watched_of,
    why_foreign,
)
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.served import (
    TrialInputs,
    WarmServices,
    asked_again,
    made_ready,
    still_there,
)
from benchforge.run.trial.services import Serving, Steps, launched, port_of, site_of, stop, verified
from benchforge.run.watch.sampler import Watch
from benchforge.suite.cases.case import Case
from benchforge.suite.scenarios.search import rated


class HostTrial:
    """One host during one trial."""

    CALLS: ClassVar[tuple[str, ...]] = (
        *("service", "ready", "watch", "load", "observed", "again", "leave"),
    )

    def __init__(self, label: str, address: str, case: Case, context: TrialContext) -> None:
        self._label, self._address = label, address
        self._case, self._context = case, context
        self._tool = driver_label(case)
        self._kept, self._stack = contextlib.ExitStack(), contextlib.ExitStack()
        self._story = TrialRecorder(lambda _: None)
        self._services: list[Serving] = []
        self._watching: Watch | None = None
        self._there: WarmServices | None = None
        self._finished: tuple[Finished, ...] = ()
        self._entered = False

    def enter(
        self,
        block: int,
        position: int,
        seed: int,
        run_seed: int,
        number: int,
        attempt: int,
        like: list[str] | None,
        share: list[int] | None,
        rate: float | None,
        null: dict[str, Any] | None,
    ) -> dict[str, object]:
        """Start the keeper; return the machine's hard facts.

        `share` is this host's place among those that divide the load, and their number; `rate` is
        that of a search. `null` is the null server, of a load tool that is measured against it.
        """
        if null is not None:
            server = NullServer.model_validate(null["server"])
            self._case = against(self._case, server, tuple(null["share"]))
        if rate is not None:
            self._case = self._case._replace(driver=rated(self._case.driver, rate, block))
        whole, divided = self._case.driver, None
        if share is not None and (driver := whole.divided(*share)) is not None:
            divided = whole, share[0], share[1]
            mix = self._case.workload and self._case.workload.at(share[0])
            self._case = self._case._replace(driver=driver, workload=mix)
            if share[0]:
                self._tool = f"{self._label}-{self._tool}"
        self._scratch = self._kept.enter_context(scratch_folder())
        self._folder = self._scratch / "kept"
        self._folder.mkdir()
        body = None if like is None else Like(like[0], base64.b64decode(like[1]))
        step = Measurement(block, position, self._case, seed, run_seed)
        self._inputs = TrialInputs(step, self._folder, number, attempt, body, divided=divided)
        self._stay = begin(self._case, self._context, self._story)
        self._sandbox = self._stack.enter_context(
            sandboxed(self._inputs, self._context, self._scratch, self._story)
        )
        self._sandbox.address = self._address
        self._entered = True
        return {"facts": hard_facts()}

    def service(
        self, name: str, backends: dict[str, Any], upstreams: dict[str, Any]
    ) -> dict[str, object]:
        """Start a service; return where it is and what it gives to those that use it."""
        role, label, part = self._named()[name]
        site = site_of(
            *(self._sandbox, self._context, label, part),
            *((self._folder, self._scratch), len(self._services), {}),
        )
        site = replace(site, backends=backends, upstreams=upstreams)
        serving = Serving(name, role, part, site, None, None)

        def note(started: Serving) -> None:
            if started.running is not None and started.command is not None:
                interpreter = self._context.interpreter_of(started.part)
                self._story.runs(started.command, started.running, interpreter)

        started = launched(self._sandbox, self._context, self._seed, serving, note)
        verified(self._sandbox, self._context, self._case, started)
        self._services.append(started)
        pem = part.certificate(site) if isinstance(part, Server) else None
        return {
            "address": site.address,
            "ports": dict(site.ports),
            "gives": dict(part.gives(site)),
            "certificate": None if pem is None else content_of(pem).decode(),
        }

    @property
    def _seed(self) -> int:
        return self._inputs.step.seed

    def _named(self) -> dict[str, tuple[Role, str, Service]]:
        case = self._case
        parts: list[tuple[Role, str, Service]] = [
            *(("backend", label, part) for label, part in case.backends),
            *(("upstream", label, part) for label, part in case.upstreams),
            ("server", case.name.server, case.server),
        ]
        return {f"{role}-{label}": (role, label, part) for role, label, part in parts}

    def ready(self, services: dict[str, dict[str, Any]]) -> dict[str, object]:
        """Send the request from here until it is answered rightly, and warm the server up."""
        own = {serving.name: serving for serving in self._services}
        servings = [
            own.get(name) or self._elsewhere(name, services[name]) for name in self._named()
        ]

        def started_before(*_: object, **__: object) -> Steps[list[Serving]]:
            yield from ()
            return servings

        self._there = made_ready(
            *(self._sandbox, self._inputs, self._context, self._scratch, self._story),
            start=started_before,
        )
        self._story.links = {}  # connections of servers to backends are on other hosts
        return {"url": self._story.url}

    def _elsewhere(self, name: str, given: Mapping[str, Any]) -> Serving:
        role, label, part = self._named()[name]
        scratch = self._scratch / name
        scratch.mkdir(mode=0o700)
        site = Site(
            label=label,
            folder=self._folder,
            scratch=scratch,
            address=str(given["address"]),
            ports={key: int(port) for key, port in given["ports"].items()},
            python=self._context.python,
            programs=self._context.programs,
            backends={},
            suite_folder=self._context.suite_folder,
            as_root=self._context.as_root,
        )
        pem = part.certificate(site) if isinstance(part, Server) else None
        if pem is not None and given["certificate"] is not None:
            pem.write_text(given["certificate"])
        return Serving(name, role, part, site, None, None)

    def watch(self) -> dict[str, object]:
        """Look at the host's parts from now on, four times a second."""
        self._story.ready(self._sandbox)
        still_there(self._sandbox, self._services, "before the load", "ask")
        self._watching = self._stack.enter_context(self._watch())
        return {"owns": self._owns()}

    def _watch(self) -> Watch:
        why = why_foreign(self._sandbox, self._services)
        return Watch(self._sandbox, watched_of(self._services), why, self._stay)

    def _owns(self) -> bool | None:
        """Whether the server's own processes listen where it is asked; None for other hosts."""
        if not self._services or (server := self._services[-1]).role != "server":
            return None
        part, running = server.part, server.running
        if running is None or not isinstance(part, Server):
            return None
        return self._sandbox.owns(running, port_of(part.url(server.site)))

    def tick(self) -> str:
        """Look once; return why the trial cannot go on, or nothing."""
        try:
            if self._watching is not None:
                self._watching.sample()
            for serving in self._services:
                if serving.running is not None:
                    self._sandbox.finished(serving.running)
        except TrialFailed as error:
            return error.message
        return ""

    def load(self, at: float | None = None) -> dict[str, object]:
        """Run the load to its end, at once or from a moment of this host's clock on."""
        there = self._ready_there()
        with self._story.phase("load"), self._watch() as watched:
            watched.leave_out(there.monitor)
            if at is not None:
                time.sleep(max(0.0, at - time.monotonic()))
            began = time.monotonic()
            self._finished = drive(
                *(self._sandbox, self._case.driver, there.target, self._tool),
                *(self._story, watched, self._context.places.get("loader"), there.monitor),
            )
            self._story.observation = watched.observation(self._folder)
        self._story.placed = self._stay.placed()
        return {"began": began}

    def _ready_there(self) -> WarmServices:
        if self._there is None:
            raise Unusable("no server was asked from this host")
        return self._there

    def observed(self) -> dict[str, object]:
        """End what `watch` began; the services still have to be there."""
        if self._watching is not None:
            self._story.observation = self._watching.observation(self._folder)
            self._story.placed = self._stay.placed()
            self._watching = None
        still_there(self._sandbox, self._services, "during the load", "drive")
        return {"owns": self._owns()}

    def again(self) -> None:
        """Read what the load tool says, and send the request again."""
        asked_again(
            *(self._sandbox, self._inputs, self._context),
            *(self._ready_there(), self._finished, self._story),
        )

    def leave(self, failure: dict[str, Any] | None) -> dict[str, object]:
        """Stop all that runs here; return the host's part of the trial, and its files."""
        self._watching = None
        if not self._story.complaints:
            self._story.complaints = complaints(self._story.started, str)
        if self._entered:  # its keeper may have been killed before it was ready
            with contextlib.suppress(TrialFailed):
                stop(self._sandbox, self._services)
        self._stack.close()
        why = None if failure is None else Failure.model_validate(failure)
        measured = trial_of(self._inputs, self._context, self._story, why)
        body = None if measured.body is None else base64.b64encode(measured.body).decode()
        return {
            "trial": measured.trial.model_dump_json(),
            "body": body,
            "files": list(door.files(self._folder)),
        }

    def content(self, name: str, offset: int, most: int) -> tuple[bytes, int]:
        """Return a piece of a file, and the file's size."""
        with door.stream(self._folder, name) as file:
            size = file.seek(0, 2)
            file.seek(offset)
            return file.read(most), size

    def clear(self) -> None:
        """End all, and remove all files."""
        with contextlib.suppress(TrialFailed):
            self._stack.close()
        self._kept.close()
