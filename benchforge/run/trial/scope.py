"""One trial under way: its place, what it measures, and what is known so far."""

import contextlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from benchforge.errors import TrialFailed
from benchforge.model.suite.placement import AppliedTuning
from benchforge.model.trial.observation import Role
from benchforge.parts.part import Part, ServesCode, Service
from benchforge.parts.site import Site
from benchforge.run.http.sniffers import Tap
from benchforge.run.machine.placement import Stay
from benchforge.run.sandbox.host import Network, Wishes
from benchforge.run.sandbox.sandbox import Mode, Running, Sandbox
from benchforge.run.trial.context import TrialContext, TrialInputs
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.suite.cases.case import Case

Outcome = TypeVar("Outcome")
Steps = Generator[None, None, Outcome]
"Pauses after each process that it started, so that another trial can start its processes."


@dataclass(frozen=True)
class Serving:
    """A service of a trial; `running` is None for one that ran already, or runs elsewhere."""

    role: Role
    part: Service
    site: Site
    running: Running | None = None

    @property
    def name(self) -> str:
        """Prefix of its files in the trial's folder."""
        return f"{self.role}-{self.site.label}"


@dataclass(frozen=True)
class TrialScope:
    """What all stages of one trial have in common."""

    sandbox: Sandbox
    scratch: Path
    "Short paths, for sockets; it goes with the trial."
    inputs: TrialInputs
    context: TrialContext
    recorder: TrialRecorder
    placement: Stay
    "Looks at the CPUs of the trial's processes."
    tap: Tap
    "Hears how backends are spoken to, until the load begins."
    started: list[Serving] = field(default_factory=list)
    "Services that were started here, in this order, ready or not."

    @property
    def case(self) -> Case:
        """What is measured."""
        return self.inputs.step.case

    def runs(self, serving: Serving) -> None:
        """Note a service, and its process, as soon as it runs."""
        self.started.append(serving)
        if serving.running is not None:
            self.recorder.runs(serving.running, self.context.interpreter_of(serving.part))


@contextlib.contextmanager
def trial_scope(
    inputs: TrialInputs, context: TrialContext, recorder: TrialRecorder, scratch: Path
) -> Iterator[TrialScope]:
    """Give a trial its place; on leaving, note its state and how processes ended."""
    case = inputs.step.case
    with contextlib.ExitStack() as stack:
        with recorder.phase("keeper"):
            wishes = Wishes(
                *(case.tuning.sysctl, case.tuning.limits, scratch, host_names(case)),
                sockets=context.sockets,
                writes=context.writes,
                copied=_code_folders(context, case),
            )
            outside = any(part.outside() for part in case.services)
            network: Network = "host" if outside else context.network
            trial = context.host.trial(inputs.folder, network, wishes)
            sandbox = stack.enter_context(trial)
            recorder.tuning = tuned(sandbox.mode)
        # On hosts, connections of servers to backends are not this one's.
        tap = Tap(sandbox if case.backends and not case.hosts else None)
        stack.callback(tap.close)
        placement = Stay(context.places)
        try:
            yield TrialScope(sandbox, scratch, inputs, context, recorder, placement, tap)
        finally:
            sandbox.note_late_sockets()
            recorder.namespaces = {
                "pid": sandbox.mode.pid_namespace,
                "network": sandbox.mode.network,
                "shared_memory": sandbox.mode.shared_memory,
                "files": sandbox.mode.files,
                "sockets": sandbox.mode.sockets,
                "named": [*map(str, (*(context.writes or ()), *context.sockets))],
                "weaker": list(sandbox.mode.weaker),
            }
            with contextlib.suppress(TrialFailed):  # the keeper is gone: that is said already
                recorder.ended(sandbox)
            with recorder.phase("leave"):
                stack.close()


def services_of(case: Case) -> list[tuple[Role, str, Service]]:
    """Return role, label and part of each service of a case, in the order of their start."""
    return [
        *(("backend", label, part) for label, part in case.backends),
        *(("upstream", label, part) for label, part in case.upstreams),
        ("server", case.name.server, case.server),
    ]


def driver_label(case: Case) -> str:
    """Return the label of the driver's process."""
    return f"{case.driver.kind}-{case.name.driver}"


def host_names(case: Case) -> list[str]:
    """Return the names at which programs of a trial reach its services."""
    parts = [(label, part) for _, label, part in reversed(services_of(case))]
    return [name for label, part in parts for name in (label, *part.host_names())]


def tuned(mode: Mode) -> AppliedTuning | None:
    """Return what came of the tuning; None where the suite has none."""
    if not mode.applied and not mode.refused:
        return None
    return AppliedTuning(applied=dict(mode.applied), refused=dict(mode.refused))


def _code_folders(context: TrialContext, case: Case) -> list[Path]:
    """Return the folders of the code that services of a case run: they may write there."""
    parts: Sequence[Part] = case.services
    folders = [part.code(context.suite_folder) for part in parts if isinstance(part, ServesCode)]
    trees = [tree.checkout for part in parts if (tree := context.tree_of(part))]
    return [context.suite_folder, *filter(None, folders), *trees]
