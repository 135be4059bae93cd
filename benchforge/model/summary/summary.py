"""Summary of a result: every trial's value of every metric, and the spread."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, NonNegativeInt, PositiveInt
from pydantic.dataclasses import dataclass

from benchforge.model.suite.claim import Claim, VerdictRules
from benchforge.model.suite.code import Code, Interpreter
from benchforge.model.suite.pivot import Pivot
from benchforge.model.suite.search import RateSearch
from benchforge.model.summary.capacity import Capacity, ConcurrencySweep
from benchforge.model.summary.cause import Cause
from benchforge.model.summary.latency import LatencyAtRate
from benchforge.model.summary.ranking import MetricRanking
from benchforge.model.summary.verdict import ComparisonVerdict, Estimate, StopDecision, Verdict
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import Load
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Failure
from benchforge.model.trial.window import WHOLE, SteadyState, Window
from benchforge.model.values.bounds import FileName, Moment
from benchforge.model.values.case_name import KIND, STAGE, CaseName
from benchforge.model.values.frozen import ROW, Frozen
from benchforge.model.values.units import FAILURES, RATE, Measurand

_LEAST_LEFT = 0.01
"""Of the CPUs: a share that is known to about a hundredth has no use as a divisor below it."""

_MOST_PLANNED = 2_000_000
"Of a case: a million blocks, or the steps of a search and what finds where they are."


@dataclass(frozen=True, slots=True, kw_only=True, config=ROW)
class TrialSample:
    """A sample and its trial."""

    trial: PositiveInt
    "Number of the trial."
    block: PositiveInt
    "Number of the trial's block, from 1."
    sample: Sample
    "Value, or the reason why there is none."


class MetricSummary(Frozen):
    """One metric of one case over its trials. It is not a verdict."""

    metric: str
    "Label of the metric."
    use: str
    "Name of the metric's part."
    of: str | None
    "Part of the metric, such as p99; None for the whole."
    unit: str
    "Unit of all values."
    better: Literal["higher", "lower"]
    "Better direction of the values."
    estimator: str | None
    "Method by which each trial's value was formed from many measurements."
    samples: tuple[TrialSample, ...]
    "Samples of the trials, one for each."
    typical: float | None = None
    "Geometric mean of the values that ratios are made of, or median if a value is not above 0."
    median: float | None
    "Median of the trials' values. This and the other statistics are None if a value is unknown."
    lowest: float | None
    "Lowest of the trials' values."
    highest: float | None
    "Highest of the trials' values."
    mean: float | None = None
    "Mean of the trials' values."
    sd: float | None = None
    "Sample standard deviation (n - 1); None also for a single trial and with lower bounds."
    lower_bound: bool = False
    "True if the median rests on values that are only lower bounds."
    why: str = ""
    "Reason why there is no median."
    measurand: Measurand = ""
    "The quantity that the values are of, as the metric declares it; empty for any other."
    percentile: float | None = None
    "The percentile that the part is, in percent."

    @property
    def level(self) -> float | None:
        """The value that stands for a server: the typical one; of an older result, the median."""
        return self.median if self.typical is None else self.typical

    @property
    def at_least(self) -> bool:
        """True if that value rests on lower bounds."""
        if self.typical is None:
            return self.lower_bound
        return any(sample.sample.lower_bound for sample in self.samples)

    @property
    def of_failures(self) -> bool:
        """True if the values count failed requests, or are a share of them."""
        return self.measurand in FAILURES


class FailedTrial(Frozen):
    """A trial without a measurement."""

    trial: PositiveInt
    "Number of the trial."
    block: PositiveInt
    "Number of the trial's block, from 1."
    attempt: PositiveInt
    "Number of the attempt; above 1 after a fault of the apparatus."
    failure: Failure
    "Reason why there is no measurement."


class DoubtedTrial(Frozen):
    """A trial whose numbers cannot be believed."""

    trial: PositiveInt
    "Number of the trial."
    block: PositiveInt
    "Number of the trial's block, from 1."
    attempt: PositiveInt
    "Number of the attempt; above 1 after a fault of the apparatus."
    checks: tuple[Check, ...]
    "Failed checks of the apparatus."
    used: bool
    "True if tables show its numbers, marked, because no other attempt was better."
    disturbed: bool = False
    "True if other processes' noise is the only reason. Two such trials may have a ratio."

    @property
    def failed(self) -> tuple[str, ...]:
        """Ids and names of the failed checks, such as N1 foreign-cpu."""
        return tuple(dict.fromkeys(f"{check.id} {check.name}".strip() for check in self.checks))

    @property
    def left(self) -> float:
        """Share of the CPUs that others left, if they took enough to fail a check."""
        took = sum(check.value or 0.0 for check in self.checks if check.topic == "others")
        return max(_LEAST_LEFT, 1.0 - took)


class Comparison(Frozen):
    """Cases that are compared with each other, and the checks of that comparison."""

    scenario: str
    "Label of the scenario."
    driver: str
    "Label of the load tool or client; empty if clients are compared with one another."
    vary: dict[str, JsonValue]
    "Varied options at this point, without those of the servers or clients that are compared."
    cases: tuple[CaseName, ...]
    "Cases in the order of the suite."
    checks: tuple[Check, ...]
    "Checks of all these cases together."
    window: Window = WHOLE
    "Part of each load that counts: the same cut for all cases with a steady state."
    steady_states: tuple[SteadyState, ...] = ()
    "Steady state and warm-up of each of `cases`, in their order."
    rankings: tuple[MetricRanking, ...] = ()
    "Rankings by the first metric and by those of the suite's tables; none for a single case."
    verdict: ComparisonVerdict | None = None
    "Verdict on the comparison; None in a summary that an older version wrote."
    latency: LatencyAtRate | None = None
    "Response times of its servers at one rate; None if no scenario measures them."


class CaseFinding(Frozen):
    """A finding in trials of a case, with the largest value of all equal findings."""

    check: Check
    "Outcome of the check with the largest value."
    trials: PositiveInt
    "Number of trials in which the check has this outcome."
    attempts: PositiveInt
    "Number of the case's trials, all attempts."


class CaseSummary(Frozen):
    """A case: its metrics, trials and findings."""

    case: CaseName
    "Case that was measured."
    trials: NonNegativeInt
    "Number of trials with a measurement. Of several attempts, only one counts."
    planned: Annotated[NonNegativeInt, Field(le=_MOST_PLANNED)]
    "Number of planned measurements."
    failed: tuple[FailedTrial, ...]
    "Trials without a measurement, each with its reason."
    metrics: tuple[MetricSummary, ...]
    "Summaries of each metric and its parts, in the order of the suite's metrics."
    kinds: dict[str, tuple[MetricSummary, ...]] = Field(default_factory=dict)
    "Summaries of the metrics of each kind of a mix, by label; `metrics` are of all kinds together."
    stages: tuple[tuple[MetricSummary, ...], ...] = ()
    "Summaries of the metrics of each stage of a load whose rate changes by plan."
    notes: tuple[str, ...]
    "Messages of the checks, without repetition."
    findings: tuple[CaseFinding, ...] = ()
    "Findings of the checks, failures first."
    checks_passed: NonNegativeInt = 0
    "Number of checks that passed in all trials of the case."
    doubted: tuple[DoubtedTrial, ...] = ()
    "Trials that cannot be believed."
    latency_doubted: tuple[DoubtedTrial, ...] = ()
    "Believed or disturbed trials whose response times cannot be believed."
    load: Load | None = None
    "Declared load of the driver; None if unknown, or if it differs between trials."
    believed: NonNegativeInt | None = None
    "Number of `trials` that can be believed; None if no check ran."
    steady: bool | None = None
    "True for a steady state; if false, the numbers cover the whole load. None: unknown."
    capacity: Capacity | None = None
    "Rate that the server sustains, for a search; the case then has no metrics."
    in_turns: bool = False
    "True if the server took turns with others: only its ratios to them are valid."
    rounds: dict[int, tuple[float, ...]] = Field(default_factory=dict)
    "Logarithm of the rate in each round of slices and its mirror, by block; empty without turns."

    def line(self, metric: str, part: str | None) -> MetricSummary | None:
        """Return the summary of a metric and its part; None if the case has none."""
        names = metric, part
        return next((line for line in self.metrics if (line.metric, line.of) == names), None)

    @property
    def used_doubts(self) -> tuple[DoubtedTrial, ...]:
        """Doubted trials behind its numbers: none of a search that has an answer."""
        if self.capacity is not None and self.capacity.answered:
            return ()
        return tuple(doubted for doubted in self.doubted if doubted.used)

    def by_part(self, axis: str) -> "tuple[CaseSummary, ...]":
        """Return the case once for each kind of its mix, or stage of its load, with its metrics."""
        names = [*map(self.case.of_kind, self.kinds)] if axis == KIND else []
        names += map(self.case.of_stage, range(1, len(self.stages) + 1)) if axis == STAGE else ()
        return tuple(map(self.named_as, names)) if axis else (self,)

    def named_as(self, name: CaseName) -> "CaseSummary":
        """Return the case with the metrics that a name is about: of the whole, or of a part."""
        if not name.part:
            return self
        lines = self.kinds.get(str(name.vary.get(KIND)), ())
        for number, of_stage in enumerate(self.stages, 1):
            lines = of_stage if name.vary.get(STAGE) == number else lines
        parts = {"metrics": lines, "kinds": {}, "stages": (), "rounds": {}}
        return self.model_copy(update={"case": name, **parts})

    def answered(self, *, smoke: bool) -> bool:
        """Return True if the case has a number, noisy or of a smoke run; a search needs a bound."""
        if self.capacity is not None and not smoke:
            return self.trials > 0 and self.capacity.answered
        if not self.trials:
            return False
        if smoke or self.believed != 0:
            return True
        return any(all(row.transient for row in it.checks) for it in self.doubted if it.used)


class Placebo(Frozen):
    """A case that was measured twice under two names. The difference is noise of the apparatus."""

    case: CaseName
    "Case that was measured twice."
    repeated: CaseSummary
    "Summary of the second measurement, which is in no table."
    metric: str
    "Label of the metric that compares the two; empty if none has a value."
    ratio: Estimate
    "Ratio of the second measurement to the first, by block, with its 99 % interval."
    noise: float | None = None
    "Noise of the apparatus: largest distance of the interval from 1, as a share."


class Summary(Frozen):
    """Summary of a result. Everything in it can be recomputed from the header and the trials."""

    format: Literal[2] = 2
    "Version of the file format."
    kind: Literal["summary"] = "summary"
    "Kind of this file."
    name: str
    "Name of the suite."
    title: str
    "Title of the suite."
    created: Moment
    "Start of the run, with its time zone."
    benchforge: str
    "Version of benchforge that measured."
    profile: str | None
    "Name of the profile; None without --profile."
    seed: NonNegativeInt
    "Seed of the measurement order."
    smoke: bool
    "True for a smoke run: its numbers mean nothing."
    suite_file: str = ""
    "Name of the suite's file, without its folder; empty if it is not known."
    titles: dict[str, str] = Field(default_factory=dict)
    "Titles of scenarios, by label; without those that have none."
    searches: dict[str, RateSearch] = Field(default_factory=dict)
    "Searches for a rate, by the label of their scenario."
    tables: dict[FileName, Pivot] = Field(default_factory=dict)
    "Tables of the suite, by label."
    complete: bool
    "True if no measurement is missing; with `until` or a search, fewer may be enough."
    stop_decision: StopDecision | None = None
    "Decision of `until` after the last block; None if the number of blocks is given."
    cases: tuple[CaseSummary, ...]
    "Cases in the order of the suite."
    versions: dict[str, str]
    "Version that each part's program reports."
    runtimes: dict[str, Interpreter] = Field(default_factory=dict)
    "Reports of the interpreters that parts run on, by label. `benchforge` is benchforge's own."
    code: tuple[Code, ...] = ()
    "Code of each server that is in a git repository."
    facts: dict[str, JsonValue]
    "Facts about the machine."
    sessions: tuple[Session, ...] = ()
    "Sessions after the first, if the run was resumed."
    checks: tuple[Check, ...] = ()
    "Checks of the whole result."
    placebos: tuple[Placebo, ...] = ()
    "Placebo of each scenario, if the suite has them."
    comparisons: tuple[Comparison, ...] = ()
    "Comparisons in the order of the suite."
    sweeps: tuple[ConcurrencySweep, ...] = ()
    "Sweeps of each server whose driver's concurrency the suite varies; a smoke run has none."
    claims: tuple[Claim, ...] = ()
    "Claims in the order of the suite."
    verdict_rules: VerdictRules = VerdictRules()
    "Rules that adjust the verdicts for the number of questions in `claims`."
    verdicts: tuple[Verdict, ...] = ()
    "Verdicts in the order of `claims`; a smoke run has none."
    causes: tuple[Cause, ...] = ()
    "Causes of all findings, those that matter most first. Each finding is in exactly one."

    def cases_of(self, comparison: Comparison) -> list[CaseSummary]:
        """Return the summaries of a comparison's cases."""
        by_title = {case.case.title: case for case in self.cases}
        return [by_title[name.title] for name in comparison.cases if name.title in by_title]

    def standing(self, comparison: Comparison) -> MetricRanking | None:
        """Return the ranking that answers a comparison: by the throughput, or else the first."""
        rates = (ranking for ranking in comparison.rankings if self.measurand(ranking) == RATE)
        return next(rates, comparison.rankings[0] if comparison.rankings else None)

    def measurand(self, ranked: MetricRanking) -> Measurand:
        """Return the quantity by which servers are ranked; empty if the metric declares none."""
        for line in (line for case in self.cases for line in case.metrics):
            if (line.metric, line.of) == (ranked.metric, ranked.of):
                return line.measurand
        return ""
