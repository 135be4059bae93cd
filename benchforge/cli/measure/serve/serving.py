"""A server with all that it needs, on the host's network, for people and for other tools."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchforge.errors import TrialFailed
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.inputs import TrialInputs
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.scope import TrialScope, trial_scope
from benchforge.run.trial.stages.ask import AnsweringServer, ask
from benchforge.run.trial.stages.start import failed, start, stop
from benchforge.run.trial.stages.steps import together
from benchforge.suite.cases.case import Case
from benchforge.suite.plan import Measurement

LOOK_EVERY_S = 0.5
_HASH_SEED = 0  # nothing is compared with another run


@dataclass(frozen=True)
class Served:
    """What serves; the right answer that it gave is the only one of its scope."""

    scope: TrialScope
    answering: AnsweringServer

    def ended(self) -> TrialFailed:
        """Sleep until one of the services ends by itself, and return what to tell of it."""
        server = self.answering.services[-1].running
        while True:
            for serving in reversed(self.answering.services):
                if serving.running and (end := self.scope.sandbox.finished(serving.running)):
                    return failed(serving, f"ended by itself with exit code {end.code}")
            if server is not None:
                self.scope.sandbox.wait(server, LOOK_EVERY_S)


@contextlib.contextmanager
def serving(
    case: Case, context: TrialContext, folder: Path, ports: Mapping[str, int]
) -> Iterator[Served]:
    """Start a case's services, and stop them on leaving, whatever is the reason.

    Their logs are kept in `folder`; `ports` are those of the server that are not to be any free
    ones, by name. Raises TrialFailed when one cannot be started, or the request of the case is not
    answered rightly.
    """
    # Who starts it for people lets it write where it likes, on the network that they use.
    context = replace(context, network="host", writes=None)
    step = Measurement(block=1, position=1, case=case, seed=_HASH_SEED)
    inputs, recorder = TrialInputs(step, folder.resolve(), number=1), TrialRecorder(lambda _: None)
    with scratch_folder() as scratch, trial_scope(inputs, context, recorder, scratch) as scope:
        try:
            (services,) = together([scope], [start(scope, ports)])
            yield Served(scope, ask(scope, services))
        finally:
            stop([scope])
