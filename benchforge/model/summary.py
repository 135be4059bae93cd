"""What a result says: every trial's value of every metric, and the spread."""

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue, NonNegativeInt, PositiveInt

from benchforge.model.frozen import Frozen
from benchforge.model.pivot import Pivot
from benchforge.model.runtime import Interpreter
from benchforge.model.sample import Sample
from benchforge.model.trial import CaseName, Failure


class TrialSample(Frozen):
    """A sample and the trial that it is from."""

    trial: PositiveInt
    block: PositiveInt
    sample: Sample


class Line(Frozen):
    """One metric of one case over its trials. Nothing here is a verdict."""

    metric: str
    "Its label in the suite."
    use: str
    "The name of the metric that stands behind the label."
    of: str | None
    unit: str
    better: Literal["higher", "lower"]
    estimator: str | None
    samples: tuple[TrialSample, ...]
    median: float | None
    "Of the trials' values; None when one of them is not known. So are the others."
    lowest: float | None
    highest: float | None
    mean: float | None = None
    sd: float | None = None
    "The sample standard deviation (n - 1); None also for one trial and among lower bounds."
    at_least: bool = False
    "Whether the median rests on values that are only lower bounds."
    why: str = ""
    "Why there is no median."


class FailedTrial(Frozen):
    """A trial without a measurement."""

    trial: PositiveInt
    block: PositiveInt
    attempt: PositiveInt
    failure: Failure


class CaseSummary(Frozen):
    """A case: its lines in the order of the suite's metrics."""

    case: CaseName
    trials: NonNegativeInt
    "With a measurement."
    planned: NonNegativeInt
    failed: tuple[FailedTrial, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    "What the checks found, each once."


class Summary(Frozen):
    """summary.json: everything is recomputable from the header and the trials."""

    format: Literal[1] = 1
    kind: Literal["summary"] = "summary"
    name: str
    title: str
    created: datetime
    benchforge: str
    "Version that measured."
    profile: str | None
    seed: NonNegativeInt
    smoke: bool
    titles: dict[str, str] = Field(default_factory=dict)
    "Of the scenarios that have one."
    tables: dict[str, Pivot] = Field(default_factory=dict)
    "What the suite draws of the cases, by label."
    complete: bool
    "Whether every planned measurement has its trial."
    cases: tuple[CaseSummary, ...]
    "In the order of the suite."
    versions: dict[str, str]
    runtimes: dict[str, Interpreter] = Field(default_factory=dict)
    "What each interpreter that a part runs on told, by label; `benchforge` is our own."
    facts: dict[str, JsonValue]
    "Of the machine."
