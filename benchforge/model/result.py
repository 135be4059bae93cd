"""The header of a result: what was asked, with what, on what."""

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveInt

from benchforge.model.frozen import Frozen
from benchforge.model.pivot import Pivot
from benchforge.model.runtime import Interpreter
from benchforge.model.trial import CaseName


class MetricUse(Frozen):
    """A metric as the suite declared it: enough to compute it again from the trials."""

    label: str
    use: str
    options: dict[str, JsonValue]
    unit: str
    better: Literal["higher", "lower"]


class Planned(Frozen):
    """One measurement of the plan."""

    block: PositiveInt
    position: PositiveInt
    case: CaseName
    seed: NonNegativeInt
    declared_s: NonNegativeFloat
    "What the suite declares: warm-up and load, without start and stop."


class Header(Frozen):
    """result.json: written before the first trial, and never changed."""

    format: Literal[1] = 1
    kind: Literal["result"] = "result"
    name: str
    title: str
    created: datetime
    benchforge: str
    "Version."
    profile: str | None
    smoke: bool
    "Whether the suite calls this profile a smoke: it shows that all works, and measures nothing."
    settings: dict[str, str]
    "What was given by --set."
    only: tuple[str, ...]
    suite: str
    "The suite as written; secrets are redacted."
    suite_sha256: str
    seed: NonNegativeInt
    cases: tuple[CaseName, ...]
    "In the order of the suite: the plan is shuffled."
    plan: tuple[Planned, ...]
    titles: dict[str, str] = Field(default_factory=dict)
    "Of the scenarios that have one."
    metrics: tuple[MetricUse, ...]
    takes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    "Labels of the metrics of each scenario that names its own; the others take all."
    tables: dict[str, Pivot] = Field(default_factory=dict)
    "Those of the suite that have a case here, by label."
    versions: dict[str, str]
    "Of each part, as its program told; the label of its runtime stands behind it."
    runtimes: dict[str, Interpreter] = Field(default_factory=dict)
    "What each interpreter that a part runs on told, by label; `benchforge` is our own."
    facts: dict[str, JsonValue]
    "Of the machine."
