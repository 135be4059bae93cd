"""A server with all that it needs, on the host's network, for people and for other tools."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchforge.errors import TrialFailed
from benchforge.model.trial.answers.answer import Answer
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.http.request import until_right
from benchforge.run.sandbox.host import Mode, Sandbox, Wishes
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.measure import host_names
from benchforge.run.trial.services import (
    Serving,
    completed,
    failed,
    is_ours,
    port_of,
    question,
    starting,
    stop,
)
from benchforge.suite.cases.case import Case

LOOK_EVERY_S = 0.5
_HASH_SEED = 0  # nothing is compared with another run


@dataclass(frozen=True)
class Served:
    """What serves, and the right answer that it gave; the server is the last of `services`."""

    mode: Mode
    services: list[Serving]
    root: str
    answer: Answer
    sandbox: Sandbox

    def ended(self) -> TrialFailed:
        """Sleep until one of the services ends by itself, and return what to tell of it."""
        server = self.services[-1].running
        while True:
            for serving in reversed(self.services):
                if serving.running and (end := self.sandbox.finished(serving.running)):
                    return failed(serving, f"ended by itself with exit code {end.code}")
            if server is not None:
                self.sandbox.wait(server, LOOK_EVERY_S)


@contextlib.contextmanager
def serving(
    case: Case, ground: TrialContext, folder: Path, ports: Mapping[str, int]
) -> Iterator[Served]:
    """Start a case's services, and stop them on leaving, whatever is the reason.

    Their logs are kept in `folder`; `ports` are those of the server that are not to be any free
    ones, by name. Raises TrialFailed when one cannot be started, or the request of the case is not
    answered rightly.
    """
    folder = folder.resolve()
    tuning = case.tuning
    with (
        scratch_folder() as scratch,
        ground.host.trial(
            folder, "host", Wishes(tuning.sysctl, tuning.limits, scratch, host_names(case))
        ) as sandbox,
    ):
        running: list[Serving] = []
        try:
            folders = folder, scratch
            services = completed(
                starting(sandbox, ground, case, _HASH_SEED, folders, running.append, ports=ports)
            )
            asking = question(case, services[-1], None, ground.secrets)
            reply = until_right(sandbox, asking, float(case.server.ready_within))
            is_ours(sandbox, services[-1], port_of(asking.root))
            yield Served(sandbox.mode, services, asking.root, reply.answer, sandbox)
        finally:
            stop(sandbox, running)
