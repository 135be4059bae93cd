"""One measured execution of a case, kept whatever its outcome."""

from datetime import datetime
from typing import Literal

from pydantic import JsonValue, NonNegativeFloat, NonNegativeInt, PositiveInt

from benchforge.model.answer import Answer, Request
from benchforge.model.check import Check
from benchforge.model.frozen import Frozen
from benchforge.model.observation import Observation
from benchforge.model.reading import Reading
from benchforge.model.tuning import Tuned

# The history of `format`, of all files of a result: 1, the first.


class CaseName(Frozen):
    """How people speak of a case, and what it is: labels beside its identity."""

    scenario: str
    server: str
    driver: str
    vary: dict[str, JsonValue]
    "The varied options at this point, by their paths in the suite."
    digest: str
    "Of the resolved options and the code; labels do not count."
    arm: PositiveInt = 1

    @property
    def title(self) -> str:
        """For a person: scenario, server, driver and what varies."""
        words = [f"{path.rpartition('.')[2]}={value}" for path, value in self.vary.items()]
        arm = [f"arm {self.arm}"] if self.arm > 1 else []
        return " · ".join([self.scenario, self.server, self.driver, *words, *arm])


class Failure(Frozen):
    """Why a trial has no measurement."""

    stage: str
    "prepare, start, ask, drive or read."
    message: str
    hint: str = ""
    log: str = ""
    "The last lines of the process concerned."
    about: Literal["behaviour", "apparatus"] = "behaviour"


class Started(Frozen):
    """A process of the trial: what was run, for whom, and how it ended."""

    label: str
    argv: tuple[str, ...]
    environment: dict[str, str]
    "What was added to a clean environment; secrets are redacted."
    stdout: str
    "File beside the trial."
    stderr: str
    exit_code: int | None
    "None when it was still running when it was asked for, and was stopped."
    executable: str | None = None
    "What it really was once the server was ready, whatever shim or script was run; None: unknown."
    cut: tuple[Literal["stdout", "stderr"], ...] = ()
    "Of these only the beginning, 64 MiB, was kept: it printed more."


class Trial(Frozen):
    """One trial: trial.json. Files named here stand in the same folder."""

    format: Literal[1] = 1
    kind: Literal["trial"] = "trial"
    number: PositiveInt
    case: CaseName
    block: PositiveInt
    position: PositiveInt
    "In its block."
    attempt: PositiveInt = 1
    seed: NonNegativeInt
    "PYTHONHASHSEED of its servers."
    started: datetime
    seconds: NonNegativeFloat
    "All of it: start, questions, warm-up, load, stop."
    phases: dict[str, NonNegativeFloat]
    "Seconds by phase: keeper, services, ask, warm-up, load, stop."
    request: Request
    processes: tuple[Started, ...]
    answers: tuple[Answer, ...]
    "Before the load and after it."
    namespaces: dict[str, JsonValue]
    "What the trial's namespaces really were, and what was weaker."
    tuned: Tuned | None = None
    "None where the suite asks for no tuning, or the trial's place could not be made."
    reading: Reading | None
    observation: Observation | None
    checks: tuple[Check, ...] = ()
    failure: Failure | None = None

    @property
    def measured(self) -> bool:
        """Whether the trial has a measurement to speak of."""
        return self.failure is None and self.reading is not None
