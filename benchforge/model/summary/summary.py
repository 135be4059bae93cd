"""What a result says: every trial's value of every metric, and the spread."""

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue, NonNegativeInt, PositiveInt

from benchforge.model.capacity import Capacity
from benchforge.model.check import Check
from benchforge.model.claim import Claim
from benchforge.model.code import Code
from benchforge.model.find import Find
from benchforge.model.frozen import Frozen
from benchforge.model.pivot import Pivot
from benchforge.model.runtime import Interpreter
from benchforge.model.sample import Sample
from benchforge.model.sitting import Sitting
from benchforge.model.standing import Standing
from benchforge.model.swept import Swept
from benchforge.model.trial import CaseName, Failure, Load
from benchforge.model.verdict import Enough, Estimate, Verdict
from benchforge.model.window import WHOLE, Settled, Window


class TrialSample(Frozen):
    """A sample and the trial that it is from."""

    trial: PositiveInt
    "Its number."
    block: PositiveInt
    "The pass over all cases, from 1."
    sample: Sample
    "The value, or why there is none."


class Line(Frozen):
    """One metric of one case over its trials. Nothing here is a verdict."""

    metric: str
    "Its label in the suite."
    use: str
    "The name of the metric that stands behind the label."
    of: str | None
    "What part of the metric; None for the whole."
    unit: str
    "Of every value here."
    better: Literal["higher", "lower"]
    "Which values are the better ones."
    estimator: str | None
    "How each value was formed from many measurements."
    samples: tuple[TrialSample, ...]
    "One of each trial."
    median: float | None
    "Of the trials' values; None when one of them is not known. So are the others."
    lowest: float | None
    "Of the trials' values."
    highest: float | None
    "Of the trials' values."
    mean: float | None = None
    "Of the trials' values."
    sd: float | None = None
    "The sample standard deviation (n - 1); None also for one trial and among lower bounds."
    at_least: bool = False
    "Whether the median rests on values that are only lower bounds."
    why: str = ""
    "Why there is no median."


class FailedTrial(Frozen):
    """A trial without a measurement."""

    trial: PositiveInt
    "Its number."
    block: PositiveInt
    "The pass over all cases, from 1."
    attempt: PositiveInt
    "Above 1 after a fault of the apparatus."
    failure: Failure
    "Why there is no measurement."


class DoubtedTrial(Frozen):
    """A trial whose numbers are not to be believed."""

    trial: PositiveInt
    "Its number."
    block: PositiveInt
    "The pass over all cases, from 1."
    attempt: PositiveInt
    "Above 1 after a fault of the apparatus."
    checks: tuple[Check, ...]
    "Those that failed and are about the apparatus."
    used: bool
    "Whether its numbers are shown all the same, marked: no other attempt was any better."


class Comparison(Frozen):
    """Cases that are compared with one another, and what speaks against that."""

    scenario: str
    "Its label."
    driver: str
    "The label of the loader or client."
    vary: dict[str, JsonValue]
    "What varies, without what belongs to the servers."
    cases: tuple[CaseName, ...]
    "In the order of the suite."
    checks: tuple[Check, ...]
    "Asked of all of them together."
    window: Window = WHOLE
    "What counts of their loads: one cut for all that settled."
    settled: tuple[Settled, ...] = ()
    "Of each of `cases`, in their order: its own warm-up, and whether it settled."
    standings: tuple[Standing, ...] = ()
    "By the first metric and those of the suite's tables; none where only one case is compared."


class Finding(Frozen):
    """What a check found in trials of a case: the worst answer stands for those that are alike."""

    check: Check
    "The answer that has the largest value."
    trials: PositiveInt
    "In how many it was found."
    of: PositiveInt
    "Of how many, all attempts."


class CaseSummary(Frozen):
    """A case: its lines in the order of the suite's metrics."""

    case: CaseName
    "What was measured."
    trials: NonNegativeInt
    "With a measurement; of several attempts the believed one counts."
    planned: NonNegativeInt
    "How many measurements were planned."
    failed: tuple[FailedTrial, ...]
    "Trials without a measurement, each with its reason."
    lines: tuple[Line, ...]
    "In the order of the suite's metrics."
    notes: tuple[str, ...]
    "What the checks found, each once."
    findings: tuple[Finding, ...] = ()
    "What the checks found, failures first; those that passed are not here."
    passed: NonNegativeInt = 0
    "How many checks passed in all of its trials."
    doubted: tuple[DoubtedTrial, ...] = ()
    "Trials that are not to be believed."
    latency_doubted: tuple[DoubtedTrial, ...] = ()
    "Believed trials whose response times alone are not to be believed."
    load: Load | None = None
    "What the load tool was told to do; None where that is not known, or was not always the same."
    believed: NonNegativeInt | None = None
    "How many of `trials` are to be believed; None in a result of an older benchforge."
    steady: bool | None = None
    "Whether it settled; where it never did, its numbers are of the whole load. None: unknown."
    capacity: Capacity | None = None
    """The rate that it keeps up with, where that was sought: then it has no lines, since each trial
    was asked for another rate."""

    def answered(self, *, smoke: bool) -> bool:
        """Whether it has a number to speak of; a noisy machine is no error: its numbers are marked.

        A smoke shows that all works: it has numbers. A search has a rate, or a bound of it.
        """
        if self.capacity is not None and not smoke:
            return self.trials > 0 and self.capacity.answered
        if not self.trials:
            return False
        if smoke or self.believed != 0:
            return True
        return any(all(check.again for check in one.checks) for one in self.doubted if one.used)


class Placebo(Frozen):
    """A case that was measured twice as if it were two: what differs there, differs by itself."""

    of: CaseName
    "The case."
    again: CaseSummary
    "Measured once more; it stands in no table."
    metric: str
    "The label of the metric that the two are compared by; empty where none has a value."
    ratio: Estimate
    "Again over first, by block, with its interval of 99 %."
    apart: float | None = None
    """By what share two alike may differ here: how far the interval reaches from 1; None where
    there is no interval."""


class Summary(Frozen):
    """summary.json: everything is recomputable from the header and the trials."""

    format: Literal[1] = 1
    "The number of this format."
    kind: Literal["summary"] = "summary"
    "What this file is."
    name: str
    "Of the suite."
    title: str
    "Of the suite."
    created: datetime
    "When the run began, with its time zone."
    benchforge: str
    "Version that measured."
    profile: str | None
    "None without --profile."
    seed: NonNegativeInt
    "Of the order."
    smoke: bool
    "Whether it was a smoke: then its numbers mean nothing."
    titles: dict[str, str] = Field(default_factory=dict)
    "Of the scenarios that have one."
    finds: dict[str, Find] = Field(default_factory=dict)
    "What the scenarios that search for a rate look for, by label."
    tables: dict[str, Pivot] = Field(default_factory=dict)
    "What the suite draws of the cases, by label."
    complete: bool
    "Whether every planned measurement has its trial, or what there is was enough."
    enough: Enough | None = None
    "Whether as many blocks as it takes are there; None where their number was given."
    cases: tuple[CaseSummary, ...]
    "In the order of the suite."
    versions: dict[str, str]
    "Of each part, as its program told."
    runtimes: dict[str, Interpreter] = Field(default_factory=dict)
    "What each interpreter that a part runs on told, by label; `benchforge` is our own."
    code: tuple[Code, ...] = ()
    "Of the servers whose code lies in a git repository."
    facts: dict[str, JsonValue]
    "Of the machine."
    sittings: tuple[Sitting, ...] = ()
    "Those after the first, where the run was resumed."
    checks: tuple[Check, ...] = ()
    "Asked of the whole result."
    placebos: tuple[Placebo, ...] = ()
    "One of each scenario, where the suite asks for them."
    comparisons: tuple[Comparison, ...] = ()
    "In the order of the suite."
    sweeps: tuple[Swept, ...] = ()
    "Of each server whose driver's concurrency the suite varies; a smoke has none."
    claims: tuple[Claim, ...] = ()
    "What was asked, in the order of the suite."
    verdicts: tuple[Verdict, ...] = ()
    "The answers, in the order of `claims`; a smoke has none."
