"""Record of one trial, noted as it happens: it stays whatever ends the trial."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from pydantic import JsonValue

from benchforge.errors import KeeperGone
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
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.stream import Stream
from benchforge.model.trial.trial import Link, Load, StartedProcess
from benchforge.model.trial.turns import Turns
from benchforge.parts.command import Finished
from benchforge.run.sandbox.sandbox import Running, Sandbox

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
