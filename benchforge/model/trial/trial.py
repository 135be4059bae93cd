"""One measured execution of a case, kept whatever its outcome."""

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from benchforge.model.suite.placement import ActualPlacement
from benchforge.model.suite.search import SearchOutcome
from benchforge.model.suite.tuning import AppliedTuning
from benchforge.model.trial.answer import Answer, Request
from benchforge.model.trial.check import Check
from benchforge.model.trial.good_response import GoodResponse
from benchforge.model.trial.observation import Observation
from benchforge.model.trial.probes import Exhaustion, Listener, Probes
from benchforge.model.trial.reading import Reading
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.file_names import Below
from benchforge.model.values.frozen import Frozen

# The history of `format`, of all files of a result:
# 1: the first, of benchforge 0.1.0.
# 2: of 0.2.0. Fields, columns and folders have the names of docs/glossary.md.


ATTEMPTS = 3
"How often a place of the plan is measured at most, where the apparatus fails."

Link = Literal["plain", "tls", "mixed", "none"]
"Of connections: none that speaks TLS, all, some; no connection was seen."


class Failure(Frozen):
    """Why a trial has no measurement."""

    stage: str
    "prepare, start, ask, drive or read."
    message: str
    "One line: where, and what."
    hint: str = ""
    "What to do; may be empty."
    log: str = ""
    "The last lines of the process concerned."
    subject: Literal["behaviour", "apparatus"] = "behaviour"
    "Behaviour of the server is a finding; a fault of the apparatus is tried again."


class Load(Frozen):
    """What the load tool was told to do; None where that is not known."""

    connections: PositiveInt | None = None
    "Open at a time."
    keep_alive: bool | None = None
    "Whether a connection was to be used for several requests."
    processes: PositiveInt | None = None
    "Threads or processes that make the load."
    declared_s: NonNegativeFloat = 0.0
    "How long it was to take, by its options."
    kind: Literal["loader", "client"] = "loader"
    "A client is what is measured; a load tool is the apparatus."
    rate: PositiveFloat | None = None
    "Requests per second that were asked for; None for a closed loop."
    concurrency: PositiveInt | None = None
    "Requests under way at a time in a closed loop, on all connections together."
    think_s: NonNegativeFloat = 0.0
    "In a closed loop: from a response to its connection's next request."
    method: str | None = None
    "In which of several ways it was to make its requests, where it tells in which it made them."
    protocol: str | None = None
    "The version of HTTP that it speaks, such as HTTP/1.1."
    sleeps: bool = True
    "Whether it waits without using a CPU; where not, its CPU time does not tell its limit."
    options_digest: str = ""
    "Digest of its options and its script."


class StartedProcess(Frozen):
    """A process of the trial: what was run, for whom, and how it ended."""

    label: str
    "Of the part in the suite."
    argv: tuple[str, ...]
    "The program and its words; secrets are redacted."
    environment: dict[str, str]
    "What was added to a clean environment; secrets are redacted."
    stdout: Below
    "File beside the trial."
    stderr: Below
    "File beside the trial."
    exit_code: int | None
    "None when it was still running when it was asked for, and was stopped."
    seconds: NonNegativeFloat | None = None
    "From its start to its end; None when it had not ended."
    user_s: NonNegativeFloat | None = None
    "CPU time in user mode, its own and that of children that it waited for."
    system_s: NonNegativeFloat | None = None
    "As `user_s`, in the kernel."
    executable: str | None = None
    "What it really was once the server was ready, whatever shim or script was run; None: unknown."
    interpreter: str | None = None
    "The file of the interpreter that it was meant to run on; None where it is no Python."
    truncated: tuple[Literal["stdout", "stderr"], ...] = ()
    "Streams of which only the first 64 MiB were kept: it printed more."


class Trial(Frozen):
    """One trial: trial.json. Files named here stand in the same folder."""

    format: Literal[2] = 2
    "The number of this format."
    kind: Literal["trial"] = "trial"
    "What this file is."
    number: PositiveInt
    "In the order of time, from 1: the name of its folder."
    case: CaseName
    "What was measured."
    block: PositiveInt
    "The pass over all cases that it belongs to, from 1."
    position: PositiveInt
    "In its block."
    attempt: PositiveInt = 1
    "Above 1 after a fault of the apparatus."
    seed: NonNegativeInt
    "PYTHONHASHSEED of its servers."
    started: datetime
    "With its time zone."
    seconds: NonNegativeFloat
    "All of it: waiting for quiet, start, questions, warm-up, load, stop."
    phases: dict[str, NonNegativeFloat]
    "Seconds by phase: quiet (waiting for it), keeper, services, ask, warm-up, load, stop."
    request: Request
    "What was asked."
    url: str = ""
    "What the load tool was given; secrets are redacted. Empty: the trial ended before."
    processes: tuple[StartedProcess, ...]
    "In the order of their start."
    files: tuple[Below, ...] = ()
    """All that stood in its folder when it was kept, beside trial.json: what `clean` removes."""
    answers: tuple[Answer, ...]
    "Before the load and after it."
    probes: Probes | None = None
    "What many questions one by one were answered; None where it did not come to that."
    listener: Listener | None = None
    "Who answered them; None where it did not come to that."
    exhaustions: tuple[Exhaustion, ...] = ()
    "Processes that said to have run out of something, as far as their output was read."
    namespaces: dict[str, JsonValue]
    "What the trial's namespaces really were, and what was weaker."
    load: Load | None = None
    "The load that the driver's options ask for; None where the trial ended before."
    driver_digest: str | None = None
    """Digest of the load tool's options and of the request, by which a ceiling belongs to trials;
    empty for a client: that is itself what is measured. None where it is not known."""
    workers: dict[str, PositiveInt] = Field(default_factory=dict)
    "How many workers times threads each service was told to have, by label, where it has such."
    workers_declared: tuple[str, ...] = ()
    "Of whom the suite says it, and who has no option for it; the others have what they come with."
    fingerprint: str = ""
    "Of the machine's hard facts, as they were when it began; empty where that was not looked at."
    changed_facts: tuple[str, ...] = ()
    "Hard facts that changed since the run began, each with what it was and is."
    encryption: dict[str, Link] = Field(default_factory=dict)
    """Encryption of the TCP connections to each backend, from the server's start to the load, by
    the backend's label; other backends were not looked at."""
    tuning: AppliedTuning | None = None
    "None where the suite asks for no tuning, or the trial's place could not be made."
    placement: ActualPlacement | None = None
    "On which CPUs its processes were put, and ran; None where all may use all."
    good_response: GoodResponse | None = None
    "What counts as a good response of the load; None where the trial ended before."
    reading: Reading | None
    "What the load tool says; None without a measurement."
    observation: Observation | None
    "What was seen from outside; None without a measurement."
    checks: tuple[Check, ...] = ()
    "What was found when it was looked at."
    failure: Failure | None = None
    "None when it was measured."
    search_outcome: SearchOutcome | None = None
    "Its outcome for the search that it belongs to; None without a search."

    @property
    def measured(self) -> bool:
        """Whether the trial has a measurement to speak of."""
        return self.failure is None and self.reading is not None

    @property
    def doubts(self) -> tuple[Check, ...]:
        """Why its numbers are not to be believed: failed checks of the apparatus."""
        return self._failures_of_apparatus("all")

    @property
    def latency_doubts(self) -> tuple[Check, ...]:
        """Why its response times are not to be believed, whatever else is."""
        return self._failures_of_apparatus("latency")

    def _failures_of_apparatus(self, numbers: Literal["all", "latency"]) -> tuple[Check, ...]:
        failed = (one for one in self.checks if (one.status, one.subject) == ("fail", "apparatus"))
        return tuple(check for check in failed if check.invalidates == numbers)

    @property
    def worth_repeating(self) -> bool:
        """Whether another attempt may do better: a fault of the apparatus that comes and goes."""
        if self.failure is not None:
            return self.failure.subject == "apparatus"
        if self.doubts or self.search_outcome is None:
            return any(check.transient for check in self.doubts)
        return self.search_outcome.transient

    @property
    def noisy(self) -> bool:
        """Whether noise keeps it from being believed, whatever else may; it may have gone later."""
        return self.measured and any(one.transient and one.of_noise for one in self.doubts)

    @property
    def disturbed(self) -> bool:
        """Whether noise alone keeps it from being believed, and others are known to have made it.

        It has no value of its own, and a ratio to what was disturbed alike in the same block.
        """
        took = [one for one in self.checks if one.topic == "others"]
        others_known = any(one.status in {"warn", "fail"} and one.value is not None for one in took)
        # Who waited for a disk or memory is not known to have waited for others.
        of_cpus = all(check.topic in {"others", "waiting"} for check in self.doubts)
        return self.measured and bool(self.doubts) and others_known and of_cpus

    @property
    def believed(self) -> bool:
        """Whether it has a measurement that is to be believed."""
        return self.measured and not self.doubts
