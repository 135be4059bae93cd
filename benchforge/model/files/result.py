"""The header of a result: what was asked, with what, on what."""

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveInt

from benchforge.model.suite.claim import Claim
from benchforge.model.suite.code import Code
from benchforge.model.suite.pivot import Pivot
from benchforge.model.suite.runtime import Interpreter
from benchforge.model.suite.search import RateSearch
from benchforge.model.suite.until import Until
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.file_names import FileName
from benchforge.model.values.frozen import Frozen


class MetricUse(Frozen):
    """A metric as the suite declared it: enough to compute it again from the trials."""

    label: str
    "Its name in the suite."
    use: str
    "The part's own name."
    options: dict[str, JsonValue]
    "As the suite gives them."
    unit: str
    "Of its values."
    better: Literal["higher", "lower"]
    "Which values are the better ones."


class Planned(Frozen):
    """One measurement of the plan."""

    block: PositiveInt
    "The pass over all cases, from 1."
    position: PositiveInt
    "In its block, from 1."
    case: CaseName
    "What is measured."
    seed: NonNegativeInt
    "PYTHONHASHSEED of its servers."
    declared_s: NonNegativeFloat
    "What the suite declares: warm-up and load, without start and stop."


class Header(Frozen):
    """result.json: written before the first trial, and never changed."""

    format: Literal[2] = 2
    "The number of this format."
    kind: Literal["result"] = "result"
    "What this file is."
    name: str
    "Of the suite: the first part of the folder's name."
    title: str
    "Of the suite."
    created: datetime
    "When the run began, with its time zone."
    benchforge: str
    "Version."
    profile: str | None
    "None without --profile."
    smoke: bool
    "Whether the suite calls this profile a smoke: it shows that all works, and measures nothing."
    settings: dict[str, str]
    "What was given by --set."
    only: tuple[str, ...]
    "The scenarios that were chosen; empty for all."
    suite: str
    "The suite as written; secrets are redacted."
    suite_file: str = ""
    "Where it stood, so that `--resume` finds it."
    suite_sha256: str
    "Of the suite as written."
    seed: NonNegativeInt
    "Of the order: the same one gives the same plan."
    cases: tuple[CaseName, ...]
    "In the order of the suite: the plan is shuffled."
    plan: tuple[Planned, ...]
    "In the order of measurement; with `until`, all that may be measured; of a search the most."
    until: Until | None = None
    "What ends the run before the plan does; None where the number of blocks was given."
    searches: dict[str, RateSearch] = Field(default_factory=dict)
    "Searches for a rate, by the label of their scenario."
    titles: dict[str, str] = Field(default_factory=dict)
    "Of the scenarios that have one."
    metrics: tuple[MetricUse, ...]
    "In the order of the report."
    scenario_metrics: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    "Labels of the metrics of each scenario that names its own; other scenarios have all metrics."
    tables: dict[FileName, Pivot] = Field(default_factory=dict)
    "Those of the suite that have a case here, by label."
    claims: tuple[Claim, ...] = ()
    "Those of the suite whose cases are all here."
    placement: dict[str, str] = Field(default_factory=dict)
    "The CPUs of each role that has its own; empty where all share all."
    versions: dict[str, str]
    "Of each part, as its program told; the label of its runtime stands behind it."
    runtimes: dict[FileName, Interpreter] = Field(default_factory=dict)
    "What each interpreter that a part runs on told, by label; `benchforge` is our own."
    code: tuple[Code, ...] = ()
    "Of the servers whose code lies in a git repository."
    facts: dict[str, JsonValue]
    "Of the machine."
    fingerprint: str = ""
    "Of the hard facts: where it is another, numbers are not to be compared."
    thresholds_version: str = ""
    "Version of the checks' thresholds."
    loosened_thresholds: dict[str, float] = Field(default_factory=dict)
    "Thresholds by check that the calibration of this machine loosened."
