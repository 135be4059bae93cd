"""One measured execution of a case, kept whatever its outcome."""

from datetime import datetime
from typing import Literal

from pydantic import (
    Field,
    JsonValue,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)

from benchforge.model.answer import Answer, Request
from benchforge.model.check import Check
from benchforge.model.find import Sought
from benchforge.model.frozen import Frozen
from benchforge.model.observation import Observation
from benchforge.model.placement import Placed
from benchforge.model.probes import Complaint, Listener, Probes
from benchforge.model.reading import Reading
from benchforge.model.tuning import Tuned

# The history of `format`, of all files of a result: 1, the first.


ATTEMPTS = 3
"How often a place of the plan is measured at most, where the apparatus fails."

Link = Literal["plain", "tls", "mixed", "none"]
"Of connections: none that speaks TLS, all, some; no connection was seen."


class CaseName(Frozen):
    """How people speak of a case, and what it is: labels beside its identity."""

    scenario: str
    "Its label."
    server: str
    "Its label."
    driver: str
    "The label of the loader or client."
    vary: dict[str, JsonValue]
    "The varied options at this point, by their paths in the suite."
    digest: str
    "Of the resolved options and the code; labels do not count."
    arm: PositiveInt = 1
    "Above 1 where the suite names the same thing twice: an A/A comparison."
    placebo: bool = False
    "Whether it is the first case of its scenario once more, to see what differs by itself."

    @property
    def title(self) -> str:
        """For a person: scenario, server, driver and what varies."""
        words = [f"{path.rpartition('.')[2]}={value}" for path, value in self.vary.items()]
        arm = [f"arm {self.arm}"] if self.arm > 1 else []
        if self.placebo:
            arm = ["placebo"]
        return " · ".join([self.scenario, self.server, self.driver, *words, *arm])


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
    about: Literal["behaviour", "apparatus"] = "behaviour"
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
    at_once: PositiveInt | None = None
    "Requests that are under way at a time in a closed loop, on all connections together."
    think_s: NonNegativeFloat = 0.0
    "In a closed loop: from a response to its connection's next request."
    method: str | None = None
    "In which of several ways it was to make its requests, where it tells in which it made them."
    protocol: str | None = None
    "The version of HTTP that it speaks, such as HTTP/1.1."
    sleeps: bool = True
    "Whether it waits without using a CPU; where not, its CPU time does not tell its limit."
    stream: str = ""
    "A digest of its options and its script, as they were then; empty in older results."


class Started(Frozen):
    """A process of the trial: what was run, for whom, and how it ended."""

    label: str
    "Of the part in the suite."
    argv: tuple[str, ...]
    "The program and its words; secrets are redacted."
    environment: dict[str, str]
    "What was added to a clean environment; secrets are redacted."
    stdout: str
    "File beside the trial."
    stderr: str
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
    cut: tuple[Literal["stdout", "stderr"], ...] = ()
    "Of these only the beginning, 64 MiB, was kept: it printed more."


class Trial(Frozen):
    """One trial: trial.json. Files named here stand in the same folder."""

    format: Literal[1] = 1
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
    processes: tuple[Started, ...]
    "In the order of their start."
    answers: tuple[Answer, ...]
    "Before the load and after it."
    probes: Probes | None = None
    "What many questions one by one were answered; None where it did not come to that."
    listener: Listener | None = None
    "Who answered them; None where it did not come to that."
    complaints: tuple[Complaint, ...] = ()
    "Processes that said to have run out of something, as far as their output was read."
    namespaces: dict[str, JsonValue]
    "What the trial's namespaces really were, and what was weaker."
    load: Load | None = None
    "None in a result of an older benchforge."
    driven: str | None = None
    """Digest of the load tool's options and of the request, by which a ceiling belongs to trials;
    empty for a client: that is itself what is measured. None in a result of an older benchforge."""
    workers: dict[str, PositiveInt] = Field(default_factory=dict)
    "How many workers times threads each service was told to have, by label, where it has such."
    workers_declared: tuple[str, ...] = ()
    "Of whom the suite says it, and who has no option for it; the others have what they come with."
    fingerprint: str = ""
    "Of the machine's hard facts, as they were when it began; empty where that was not looked at."
    changed: tuple[str, ...] = ()
    "Those that were others when the run began, each with what it was and is."
    links: dict[str, Link] = Field(default_factory=dict)
    """How each backend was spoken to over TCP from the server's start to the load, by its label;
    one that is not there was not looked at."""
    tuned: Tuned | None = None
    "None where the suite asks for no tuning, or the trial's place could not be made."
    placed: Placed | None = None
    "On which CPUs its processes were put, and ran; None where all may use all."
    reading: Reading | None
    "What the load tool says; None without a measurement."
    observation: Observation | None
    "What was seen from outside; None without a measurement."
    checks: tuple[Check, ...] = ()
    "What was found when it was looked at."
    failure: Failure | None = None
    "None when it was measured."
    sought: Sought | None = None
    "What it gave to the search that it belongs to; None where there is none."

    @property
    def measured(self) -> bool:
        """Whether the trial has a measurement to speak of."""
        return self.failure is None and self.reading is not None

    @property
    def doubts(self) -> tuple[Check, ...]:
        """Why its numbers are not to be believed: failed checks of the apparatus."""
        return tuple(
            check
            for check in self.checks
            if check.status == "fail" and check.about == "apparatus" and check.numbers == "all"
        )

    @property
    def latency_doubts(self) -> tuple[Check, ...]:
        """Why its response times are not to be believed, whatever else is."""
        return tuple(
            check
            for check in self.checks
            if check.status == "fail" and check.about == "apparatus" and check.numbers == "latency"
        )

    @property
    def again(self) -> bool:
        """Whether another attempt may do better: a fault of the apparatus that comes and goes."""
        if self.failure is not None:
            return self.failure.about == "apparatus"
        if self.doubts or self.sought is None:
            return any(check.again for check in self.doubts)
        return self.sought.again

    @property
    def believed(self) -> bool:
        """Whether it has a measurement that is to be believed."""
        return self.measured and not self.doubts
