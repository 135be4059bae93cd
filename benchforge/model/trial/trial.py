"""A trial: one measured execution of a case, kept whatever its outcome."""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt
from pydantic.dataclasses import dataclass

from benchforge.model.suite.placement import ActualPlacement, AppliedTuning
from benchforge.model.suite.search import SearchOutcome
from benchforge.model.trial.answers.answer import Answer, Request
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.answers.monitor import (
    Exhaustion,
    Listener,
    LoadAnswers,
    Monitor,
    Probes,
)
from benchforge.model.trial.check import Check
from benchforge.model.trial.hosts import TrialHost
from benchforge.model.trial.observation import Observation
from benchforge.model.trial.reading import Load, Reading
from benchforge.model.trial.stream import Stream
from benchforge.model.trial.turns import Turns
from benchforge.model.values.bounds import Below, Facts, Moment
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.frozen import ROW, Frozen
from benchforge.text.safe import HIDDEN

ATTEMPTS = 3
"How often a place of the plan is measured at most, where the apparatus fails."

Link = Literal["plain", "tls", "mixed", "none"]
"Of connections: none that speaks TLS, all, some; no connection was seen."


class Failure(Frozen):
    """Reason why a trial has no measurement."""

    stage: str
    "Stage that failed: prepare, start, ask, drive or read."
    message: str
    "Place and cause in one line."
    hint: str = ""
    "Advice on what to do; may be empty."
    log: str = ""
    "Last lines of output of the process concerned."
    subject: Literal["behaviour", "apparatus"] = "behaviour"
    "Cause: the server's behaviour, which is a finding, or a fault of the apparatus."
    broken: bool = False
    "True if the server answered wrongly, or ended; not for a load tool, a time limit or a machine."

    @property
    def by_answer(self) -> bool:
        """True if the server failed the trial by what it answered, also in an older result."""
        return self.subject == "behaviour" and (self.broken or self.stage == "ask")


@dataclass(frozen=True, slots=True, kw_only=True, config=ROW)
class StartedProcess:
    """A process of the trial: its command, its part and its end."""

    label: str
    "Label of the part."
    argv: tuple[str, ...]
    "Program and arguments, with secrets redacted."
    environment: dict[str, str]
    "Variables added to a clean environment, with secrets redacted."
    stdout: Below
    "Name of the file with its standard output."
    stderr: Below
    "Name of the file with its standard error."
    exit_code: int | None
    "Exit code; None if benchforge stopped the process."
    seconds: NonNegativeFloat | None = None
    "Time from start to end; None if the process had not ended."
    user_s: NonNegativeFloat | None = None
    "User CPU time of the process and of the children that it waited for."
    system_s: NonNegativeFloat | None = None
    "System CPU time of the process and of the children that it waited for."
    executable: str | None = None
    "Program that really ran once the server was ready, behind any shim or script; None: unknown."
    interpreter: str | None = None
    "Path of the intended interpreter; None if the program is not Python."
    truncated: tuple[Literal["stdout", "stderr"], ...] = ()
    "Streams whose output was longer than 64 MiB. Only their beginning was kept."


class Trial(Frozen):
    """A trial. The files that it names are in the same folder."""

    format: Literal[2] = 2
    "Version of the file format."
    kind: Literal["trial"] = "trial"
    "Kind of this file."
    number: PositiveInt
    "Number of the trial in order of time, from 1: the name of its folder."
    case: CaseName
    "Case that was measured."
    block: PositiveInt
    "Number of the trial's block, from 1."
    position: PositiveInt
    "Position of the trial in its block, from 1."
    attempt: PositiveInt = 1
    "Number of the attempt; above 1 after a fault of the apparatus."
    seed: NonNegativeInt
    "Value of PYTHONHASHSEED for the servers."
    started: Moment
    "Start of the trial, with its time zone."
    seconds: NonNegativeFloat
    "Time of the whole trial: wait for quiet, start, probes, warm-up, load, stop."
    phases: dict[str, NonNegativeFloat]
    """Seconds of each phase: quiet (the wait for it), keeper, services, ask, probes, stream, \
warm-up, load, finish, stop, leave; on hosts also links; in turns also freeze, rates, end, which \
are those of the whole launch, as are load and stop."""
    request: Request
    "Request of the scenario."
    url: str = ""
    "URL that the load tool received, with secrets redacted; empty if the trial ended before."
    processes: tuple[StartedProcess, ...]
    "Processes in the order of their start."
    files: tuple[Below, ...] = ()
    "Names of the other files in the trial's folder when it was kept. `clean` removes these."
    answers: tuple[Answer, ...]
    "Answers before and after the load."
    probes: Probes | None = None
    "Answers to the probes; None if the trial ended before."
    listener: Listener | None = None
    "Process that answered the probes; None if the trial ended before."
    exhaustions: tuple[Exhaustion, ...] = ()
    "Processes whose output reports that a resource ran out, as far as it was read."
    namespaces: Facts
    "Namespaces that the trial really had, and which isolation was weaker."
    load: Load | None = None
    "Declared load of the driver; None if the trial ended before."
    driver_digest: str | None = None
    "Digest of the load tool's options and request, as of its ceiling; empty for a client."
    workers: dict[str, PositiveInt] = Field(default_factory=dict)
    "Declared number of workers times threads of each service that has such options, by label."
    workers_declared: tuple[str, ...] = ()
    "Labels of services whose workers the suite sets, or that have no such option."
    fingerprint: str = ""
    "Digest of the machine's hard facts at the trial's start; empty if they were not read."
    changed_facts: tuple[str, ...] = ()
    "Hard facts that changed since the run began, each with its old and new value."
    encryption: dict[str, Link] = Field(default_factory=dict)
    "Encryption of the observed TCP connections to each backend, before the load, by label."
    tuning: AppliedTuning | None = None
    "Outcome of the suite's tuning; None without a tuning, or if the sandbox failed."
    placement: ActualPlacement | None = None
    "CPUs on which the processes were placed and ran; None if all may use all CPUs."
    good_response: GoodResponse | None = None
    "Definition of a good response of the load; None if the trial ended before."
    reading: Reading | None
    "Numbers that the load tool reports; None without a measurement."
    observation: Observation | None
    "Observations from outside; None without a measurement."
    monitor: Monitor | None = None
    "Answers at random moments of the load; None if no request was sent then."
    load_answers: LoadAnswers | None = None
    "Answers on the load's own connections; None if nobody listened."
    hosts: dict[str, TrialHost] = Field(default_factory=dict)
    "Machines that ran the parts, by label; empty if all parts ran on benchforge's own machine."
    stream: Stream | None = None
    "Stream of a mix of requests; None if the scenario has one request."
    turns: Turns | None = None
    "Turns of the server; None if it had a load without pauses, or failed before."
    checks: tuple[Check, ...] = ()
    "Outcomes of the checks."
    failure: Failure | None = None
    "Reason why there is no measurement; None if there is one."
    search_outcome: SearchOutcome | None = None
    "Outcome for the search that the trial belongs to; None without a search."

    @property
    def measured(self) -> bool:
        """True if the trial has a measurement."""
        return self.failure is None and self.reading is not None

    def hosts_of(self, process: str) -> tuple[str, ...]:
        """Return the labels of the hosts that ran a process, such as server-flask, or share it."""
        hosts = self.hosts.items()
        return tuple(k for k, host in hosts if {process, f"{k}-{process}"} & {*host.parts})

    def of_kind(self, label: str) -> "Trial":
        """Return the trial as if it had sent one kind of its mix alone; some tools tell none."""
        kind = self.stream.kinds[label] if self.stream is not None else None
        if kind is None:
            return self
        reading = self.reading.kinds.get(label) if self.reading is not None else None
        rest = {"stream": None, "good_response": kind.good_response}
        return self.like(request=kind.request, probes=kind.probes, reading=reading, **rest)

    def of_stage(self, number: int) -> "Trial":
        """Return the trial as if it had been one stage of its load, from 1 on."""
        stages = self.reading.stages if self.reading is not None else ()
        reading_of_stage = stages[number - 1].of(self.reading) if self.reading and stages else None
        return self.model_copy(update={"reading": reading_of_stage, "stream": None})

    @property
    def doubts(self) -> tuple[Check, ...]:
        """Failed checks of the apparatus, because of which the numbers cannot be believed."""
        return self._failures_of_apparatus("all")

    @property
    def latency_doubts(self) -> tuple[Check, ...]:
        """Failed checks because of which only the response times cannot be believed."""
        return self._failures_of_apparatus("latency")

    def _failures_of_apparatus(self, numbers: Literal["all", "latency"]) -> tuple[Check, ...]:
        failed = [check for check in self.checks if check.status == "fail"]  # most trials have none
        of_apparatus = (failure for failure in failed if failure.subject == "apparatus")
        return tuple([check for check in of_apparatus if check.invalidates == numbers])

    @property
    def worth_repeating(self) -> bool:
        """True if another attempt may succeed: a fault of the apparatus that comes and goes."""
        if self.failure is not None:
            return self.failure.subject == "apparatus"
        if (doubts := self.doubts) or self.search_outcome is None:
            return any(check.transient for check in doubts)
        return self.search_outcome.transient

    @property
    def noisy(self) -> bool:
        """True if noise is a reason not to believe the trial, alone or with others."""
        return self.measured and any(doubt.transient and doubt.of_noise for doubt in self.doubts)

    @property
    def disturbed(self) -> bool:
        """True if others' noise is the only doubt; ratios to trials disturbed alike hold."""
        if not self.measured or not (doubts := self.doubts):
            return False
        took = [check for check in self.checks if check.topic == "others"]
        others_known = any(c.status in {"warn", "fail"} and c.value is not None for c in took)
        # Who waited for a disk or memory is not known to have waited for others.
        return others_known and all(check.topic in {"others", "waiting"} for check in doubts)

    @property
    def believed(self) -> bool:
        """True if the trial has a measurement that can be believed."""
        return self.measured and not self.doubts


def exposed(trials: Iterable[Trial]) -> str:
    """Return a sentence with the programs that received secrets as arguments; empty if none."""
    names = {
        PurePath(process.argv[0]).name
        for trial in trials
        for process in trial.processes
        if any(HIDDEN in word for word in process.argv[1:])
    }
    reason = "while they ran, every user of this machine could read them there"
    return f"in arguments of {', '.join(sorted(names))}: {reason}" if names else ""
