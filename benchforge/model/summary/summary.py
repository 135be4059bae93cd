"""What a result says: every trial's value of every metric, and the spread."""

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue, NonNegativeInt, PositiveInt

from benchforge.model.suite.claim import Claim
from benchforge.model.suite.code import Code
from benchforge.model.suite.pivot import Pivot
from benchforge.model.suite.runtime import Interpreter
from benchforge.model.suite.search import RateSearch
from benchforge.model.summary.capacity import Capacity
from benchforge.model.summary.concurrency_sweep import ConcurrencySweep
from benchforge.model.summary.metric_ranking import MetricRanking
from benchforge.model.summary.verdict import Estimate, StopDecision, Verdict
from benchforge.model.trial.check import Check
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Failure, Load
from benchforge.model.trial.window import WHOLE, SteadyState, Window
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.file_names import FileName
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.measurand import FAILURES, Measurand

_LEAST_LEFT = 0.01
"""Of the CPUs: a share that is known to about a hundredth has no use as a divisor below it."""


class TrialSample(Frozen):
    """A sample and the trial that it is from."""

    trial: PositiveInt
    "Its number."
    block: PositiveInt
    "The pass over all cases, from 1."
    sample: Sample
    "The value, or why there is none."


class MetricSummary(Frozen):
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
    lower_bound: bool = False
    "Whether the median rests on values that are only lower bounds."
    why: str = ""
    "Why there is no median."
    measurand: Measurand = ""
    "The quantity that the values are of, as the metric declares it; empty for any other."
    percentile: float | None = None
    "The percentile that the part is, in percent."

    @property
    def of_failures(self) -> bool:
        """Whether the values count failed requests, or are a share of them."""
        return self.measurand in FAILURES


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
    disturbed: bool = False
    "Whether others' noise alone is why: beside one that was disturbed alike it has a ratio."

    @property
    def left(self) -> float:
        """What share of the CPUs others left to it, as far as they took enough to fail a check."""
        took = sum(one.value or 0.0 for one in self.checks if one.topic == "others")
        return max(_LEAST_LEFT, 1.0 - took)


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
    steady_states: tuple[SteadyState, ...] = ()
    "For each of `cases`, in their order: its warm-up, and whether it reached a steady state."
    rankings: tuple[MetricRanking, ...] = ()
    "Rankings by the first metric and those of the suite's tables; none for a single case."


class CaseFinding(Frozen):
    """What a check found in trials of a case: the worst answer stands for those that are alike."""

    check: Check
    "The answer that has the largest value."
    trials: PositiveInt
    "Number of trials in which the check has this answer."
    attempts: PositiveInt
    "Number of the case's trials, all attempts."


class CaseSummary(Frozen):
    """A case: its metrics, and what its trials showed."""

    case: CaseName
    "What was measured."
    trials: NonNegativeInt
    "With a measurement; of several attempts the believed one counts."
    planned: NonNegativeInt
    "How many measurements were planned."
    failed: tuple[FailedTrial, ...]
    "Trials without a measurement, each with its reason."
    metrics: tuple[MetricSummary, ...]
    "One for each metric and its parts, in the order of the suite's metrics."
    notes: tuple[str, ...]
    "What the checks found, each once."
    findings: tuple[CaseFinding, ...] = ()
    "What the checks found, failures first; those that passed are not here."
    checks_passed: NonNegativeInt = 0
    "Number of checks that passed in all of its trials."
    doubted: tuple[DoubtedTrial, ...] = ()
    "Trials that are not to be believed."
    latency_doubted: tuple[DoubtedTrial, ...] = ()
    "Believed or disturbed trials whose response times are not to be believed whatever else is."
    load: Load | None = None
    "What the load tool was told to do; None where that is not known, or was not always the same."
    believed: NonNegativeInt | None = None
    "Number of `trials` that are to be believed; None where no check was asked."
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
        return any(all(check.transient for check in one.checks) for one in self.doubted if one.used)


class Placebo(Frozen):
    """A case that was measured twice as if it were two: what differs there, differs by itself."""

    case: CaseName
    "The case that was measured twice."
    repeated: CaseSummary
    "The case's second measurement; no table shows it."
    metric: str
    "The label of the metric that the two are compared by; empty where none has a value."
    ratio: Estimate
    "Second measurement over first, by block, with its interval of 99 %."
    noise: float | None = None
    """The noise of the apparatus, as a share: how far the interval reaches from 1; None where there
    is no interval."""


class Summary(Frozen):
    """summary.json: everything is recomputable from the header and the trials."""

    format: Literal[2] = 2
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
    searches: dict[str, RateSearch] = Field(default_factory=dict)
    "Searches for a rate, by the label of their scenario."
    tables: dict[FileName, Pivot] = Field(default_factory=dict)
    "What the suite draws of the cases, by label."
    complete: bool
    "Whether every planned measurement has its trial, or what there is was enough."
    stop_decision: StopDecision | None = None
    "The decision of `until` after the last block; None where the number of blocks was given."
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
    sessions: tuple[Session, ...] = ()
    "Sessions after the first, where the run was resumed."
    checks: tuple[Check, ...] = ()
    "Asked of the whole result."
    placebos: tuple[Placebo, ...] = ()
    "One of each scenario, where the suite asks for them."
    comparisons: tuple[Comparison, ...] = ()
    "In the order of the suite."
    sweeps: tuple[ConcurrencySweep, ...] = ()
    "Of each server whose driver's concurrency the suite varies; a smoke has none."
    claims: tuple[Claim, ...] = ()
    "What was asked, in the order of the suite."
    verdicts: tuple[Verdict, ...] = ()
    "The answers, in the order of `claims`; a smoke has none."
