"""One trial under way: its place, what it measures, and its record, which stays however it ends."""

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import JsonValue

from benchforge.errors import KeeperGone, TrialFailed
from benchforge.model.suite.placement import ActualPlacement, AppliedTuning
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.answers.monitor import (
    Exhaustion,
    Listener,
    LoadAnswers,
    Monitor,
    Probes,
)
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import Observation
from benchforge.model.trial.reading import Load, Reading
from benchforge.model.trial.stream import Stream
from benchforge.model.trial.trial import Link, StartedProcess
from benchforge.model.trial.turns import Turns
from benchforge.model.values.case_name import Role
from benchforge.parts.command import Finished
from benchforge.parts.part import Part, ServesCode, Service
from benchforge.parts.site import Site
from benchforge.run.http.sniffers import Tap
from benchforge.run.machine.placement import Stay
from benchforge.run.sandbox.host import Network, Wishes
from benchforge.run.sandbox.sandbox import Mode, Running, Sandbox
from benchforge.run.trial.context import TrialContext, TrialInputs
from benchforge.suite.cases.case import Case

Outcome = TypeVar("Outcome")
Steps = Generator[None, None, Outcome]
"Pauses after each process that it started, so that another trial can start its processes."
_STAGES = {
    **dict.fromkeys(("ask", "probes", "finish"), "ask"),
    **dict.fromkeys(("warm-up", "freeze", "rates", "load", "end", "stop"), "drive"),
}
"Stage of a failure by the phase in which the keeper was lost."


@dataclass
class TrialRecorder:
    """The parts of a Trial, gathered one after another; those that it has too have its names."""

    tell: Callable[[str], None]
    "Hears what is done now; never called between the start of the load and its end."
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    begun_s: float = field(default_factory=time.monotonic)
    "Start of the trial on the monotonic clock."
    hard_facts: dict[str, JsonValue] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    load: Load | None = None
    probes: Probes | None = None
    listener: Listener | None = None
    exhaustions: tuple[Exhaustion, ...] = ()
    namespaces: dict[str, JsonValue] = field(default_factory=dict)
    tuning: AppliedTuning | None = None
    placement: ActualPlacement | None = None
    checks: list[Check] = field(default_factory=list)
    reading: Reading | None = None
    good_response: GoodResponse | None = None
    observation: Observation | None = None
    monitor: Monitor | None = None
    load_answers: LoadAnswers | None = None
    stream: Stream | None = None
    turns: Turns | None = None
    encryption: dict[str, Link] = field(default_factory=dict)
    url: str = ""
    "URL that the load tool receives."
    body: bytes | None = None
    "Body of the answer before the load."
    load_began_s: float = 0.0
    "Start of the load on the monotonic clock."
    error: Exception | None = None
    "Error that ended the trial, where it was this one's fault."
    _processes: list[tuple[Running, str | None]] = field(default_factory=list)
    _finished: dict[str, Finished] = field(default_factory=dict)
    _cut: dict[str, tuple[Literal["stdout", "stderr"], ...]] = field(default_factory=dict)
    _executables: dict[str, str] = field(default_factory=dict)

    @contextlib.contextmanager
    def phase(self, name: str, *, tells: bool = True) -> Iterator[None]:
        """Say what is done now, and note how long it took."""
        if tells:
            self.tell(name)
        begun = time.monotonic()
        try:
            yield
        except KeeperGone as gone:
            gone.stage = _STAGES.get(name, gone.stage)
            raise
        finally:
            self.phases[name] = self.phases.get(name, 0.0) + time.monotonic() - begun

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """Note what is raised as what ended this trial, of several that are measured together."""
        try:
            yield
        except Exception as error:
            self.error = error
            raise

    def runs(self, running: Running, interpreter: str | None = None) -> None:
        """Note a process that was started, and the interpreter that it is meant to run on."""
        self._processes.append((running, interpreter))

    @property
    def started(self) -> tuple[Running, ...]:
        """All that was started, in that order."""
        return tuple(running for running, _ in self._processes)

    def ready(self, sandbox: Sandbox) -> None:
        """Note what the processes that run really are: a script has become its program by now."""
        for running in self.started:
            if (executable := sandbox.executable(running)) is not None:
                self._executables[running.label] = executable

    def ended(self, sandbox: Sandbox) -> None:
        """Note how the processes ended, of those that did, and whose output was cut."""
        for running in self.started:
            self._cut[running.label] = sandbox.cut(running)
            if (finished := sandbox.finished(running)) is not None:
                self._finished[running.label] = finished

    @property
    def processes(self) -> tuple[StartedProcess, ...]:
        """All that was started."""
        return tuple(self._started(*process) for process in self._processes)

    def _started(self, running: Running, interpreter: str | None) -> StartedProcess:
        finished = self._finished.get(running.label)
        return StartedProcess(
            label=running.label,
            argv=running.command.argv,
            environment=dict(running.command.environment),
            stdout=running.stdout.name,
            stderr=running.stderr.name,
            exit_code=finished.code if finished else None,
            seconds=finished.seconds if finished else None,
            user_s=finished.user_s if finished else None,
            system_s=finished.system_s if finished else None,
            truncated=self._cut.get(running.label, ()),
            executable=self._executables.get(running.label),
            interpreter=interpreter,
        )


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
            spaces = ("network", "shared_memory", "files", "sockets")
            recorder.namespaces = {
                "pid": sandbox.mode.pid_namespace,
                **{name: getattr(sandbox.mode, name) for name in spaces},
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
