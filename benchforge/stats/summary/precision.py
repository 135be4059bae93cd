"""Precision of a result: the widths and the decisions that `until` waits for.

A pure function of the header and the trials, by whole blocks: a run that goes on after a kill
decides as if there had been none.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from benchforge.model.files.result import Header
from benchforge.model.suite.claim import Claim, ClaimInstance
from benchforge.model.summary.doubts import speaks_of
from benchforge.model.summary.summary import MetricSummary
from benchforge.model.summary.verdict import Estimate, StopDecision
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName, Identity, groups, identity
from benchforge.model.values.units import RATE, titled
from benchforge.parts.part import Metric
from benchforge.stats.inference.hodges_lehmann import paired, ratio
from benchforge.stats.inference.interval import typical
from benchforge.stats.inference.joint import simultaneous
from benchforge.stats.inference.region import decided, lies, region
from benchforge.stats.inference.stopping import (
    Stop,
    at_level,
    earlier_sequence,
    enough,
    guarded,
    half_width,
)
from benchforge.stats.summary.case import course, used_of
from benchforge.stats.summary.completeness import whole
from benchforge.stats.summary.line import Place, by_place, lines
from benchforge.stats.timeseries.windows import together, window_of
from benchforge.stats.turns import explained, rounds_by_block


class PrecisionTarget(NamedTuple):
    """A quantity that `until` waits for: a ratio of two cases, or the value of one alone."""

    metric: str
    of: str | None
    "The part of the metric; None for its first."
    ours: CaseName
    theirs: CaseName | None

    @property
    def same(self) -> object:
        """A key that is the same whichever side stands first."""
        sides = (case for case in (self.ours, self.theirs) if case is not None)
        return self.metric, self.of, frozenset(map(identity, sides))

    @property
    def title(self) -> str:
        """For a person: the sides, and the metric."""
        metric_title = titled(self.metric, self.of)
        if self.theirs is None:
            return f"{self.ours.title} in {metric_title}"
        if self.ours.scenario != self.theirs.scenario:
            return f"{self.ours.title} / {self.theirs.title} in {metric_title}"
        theirs = self.theirs.title.removeprefix(f"{self.theirs.scenario} · ")
        return f"{self.ours.title} / {theirs} in {metric_title}"


def sought(header: Header) -> tuple[PrecisionTarget, ...]:
    """Return each compared pair of cases, by the metrics of its scenario's claims.

    Without a claim it is the first metric of the scenario; a case that is compared with none has
    its value instead of a ratio. A claim across groups makes a pair, too.
    """
    targets: dict[object, PrecisionTarget] = {}
    for group in groups(header.cases, header.clients):
        scenario = group[0].scenario
        if scenario in header.bridges or scenario in header.latencies:  # they have fewer blocks
            continue
        pairs: list[tuple[CaseName, CaseName | None]] = [*combinations(group, 2)]
        for metric, part in _metrics(header, scenario):
            for first_case, theirs in pairs or [(group[0], None)]:
                target = PrecisionTarget(metric, part, first_case, theirs)
                targets[target.same] = target
    for claim in header.claims:
        for instance in claim.instances:
            target = _target(claim, instance)
            targets.setdefault(target.same, target)
    return tuple(targets.values())


def _target(claim: Claim, instance: ClaimInstance) -> PrecisionTarget:
    theirs = None if instance.b is None else instance.b.case
    return PrecisionTarget(claim.metric, claim.of, instance.a.case, theirs)


def precise(
    header: Header, trials: Sequence[Trial], metrics: Mapping[str, Metric]
) -> StopDecision | None:
    """Return whether the whole blocks of a result are enough; None where their number was given.

    Only believed trials count, and in ratios those that others disturbed alike, each pair by the
    blocks that have both. The run waits neither for a case without any measured trial, nor for
    response times that no trial makes believable: too few requests stay too few. It waits for a
    case whose trials are not believed: noise may go.
    """
    until = header.until
    if until is None:
        return None
    n, stop = whole(header, trials), Stop.of(until)
    questions = sought(header)
    by_case: dict[Identity, list[Trial]] = {identity(case): [] for case in header.cases}
    for trial in trials:
        if trial.block <= n:
            by_case[identity(trial.case)].append(trial)
    used = {case: used_of(of_case) for case, of_case in by_case.items()}
    values = _values(header, used, metrics, questions)
    rounds = {case: rounds_by_block(of_case) for case, of_case in used.items()}
    claims = sum(len(claim.instances) for claim in header.claims)
    level = simultaneous(until.level, claims if stop.method == "decision" else 1)
    estimates = []
    for target in questions:
        estimate = _estimate(target, values, n)
        if target.theirs is not None and metrics[target.metric].measurand == RATE:
            sides = (rounds[identity(case)] for case in (target.ours, target.theirs))
            estimate = guarded(estimate, explained(*sides), stop)
        estimates.append(at_level(estimate, level, stop))
    pairs = zip(questions, estimates, strict=True)
    open_ = [estimate for target, estimate in pairs if not _decided(header, target, estimate)]
    widths = [half_width(estimate) for estimate in estimates]
    if estimates and not open_ and n >= until.least:
        widest = max((width for width in widths if width is not None), default=None)
        reason = "every claim is decided, at all looks together"
        return StopDecision(blocks=n, stop=True, reached=True, half_width=widest, why=reason)
    decision = enough(open_, n, until)
    widest = decision.half_width
    title = "" if widest is None else questions[widths.index(widest)].title
    return decision.model_copy(update={"widest": title})


def _decided(header: Header, target: PrecisionTarget, estimate: Estimate) -> bool:
    """Whether each claim on a pair is decided, at any look.

    A pair without a claim counts as decided where its scenario has claims.
    """
    questions = [(claim, instance) for claim in header.claims for instance in claim.instances]
    earlier = header.until is None or header.until.method is None
    same = target.same
    about = [question for question in questions if _target(*question).same == same]
    if not about and not earlier:
        return any(_about(claim, target.ours.scenario) for claim in header.claims)
    ends = earlier_sequence(estimate, len(questions)) if earlier else estimate.interval
    early = header.until is not None and not earlier and estimate.n < header.until.least
    if ends is None or not about or early:
        return False
    for claim, question in about:
        if claim.hypothesis.form != "ratio" or len(question.cases) > len(("a", "b")):
            return False
        swapped = identity(question.a.case) != identity(target.ours)
        interval = (1 / ends[1], 1 / ends[0]) if swapped else ends
        across = lies(interval, region(claim.hypothesis)) == "across"
        if across if earlier else decided(claim.hypothesis, claim.margin, interval) is None:
            return False
    return True


def _metrics(header: Header, scenario: str) -> list[tuple[str, str | None]]:
    claimed = {(claim.metric, claim.of): None for claim in header.claims if _about(claim, scenario)}
    return [*claimed] or [(label, None) for label in labels_of(header, scenario)[:1]]


def labels_of(header: Header, scenario: str) -> tuple[str, ...]:
    """Return the labels of a scenario's metrics, in the order of the suite."""
    return header.scenario_metrics.get(scenario, tuple(metric.label for metric in header.metrics))


def _about(claim: Claim, scenario: str) -> bool:
    return any(instance.a.case.scenario == scenario for instance in claim.instances)


_Values = dict[tuple[Identity, str, str | None], dict[Place, float] | None]
"By case and metric: of each place the value that counts there; None where there will be none."


def _values(
    header: Header,
    used: Mapping[Identity, Sequence[Trial]],
    metrics: Mapping[str, Metric],
    questions: Sequence[PrecisionTarget],
) -> _Values:
    by_case: _Values = {}
    for group in groups(header.cases, header.clients):
        settled = [course(used[identity(case)]) for case in group]
        window = together(settled)
        for case, steady in zip(group, settled, strict=True):
            me = identity(case)
            targets = [target for target in questions if case in (target.ours, target.theirs)]
            for metric, part in {(target.metric, target.of) for target in targets}:
                made = lines(used[me], {metric: metrics[metric]}, window_of(steady, window))
                line = next((candidate for candidate in made if part in (None, candidate.of)), None)
                times = {trial.number for trial in used[me] if _no_times(trial, line)}
                believed = {trial.number for trial in used[me] if trial.believed} - times
                disturbed = {trial.number for trial in used[me] if trial.disturbed} - times
                values = {} if line is None else by_place(line, believed, disturbed)
                doubted = any(not trial.believed for trial in used[me])
                by_case[me, metric, part] = values if values or doubted else None
    return by_case


def _no_times(trial: Trial, line: MetricSummary | None) -> bool:
    """Whether a trial's response times are not to be believed, and the line is one of them."""
    return any(speaks_of(check, line) for check in trial.latency_doubts)


def _estimate(target: PrecisionTarget, values: _Values, n: int) -> Estimate:
    metric, part = target.metric, target.of
    first = values[identity(target.ours), metric, part]
    theirs = first if target.theirs is None else values[identity(target.theirs), metric, part]
    if first is None or theirs is None:
        case = target.ours if first is None else target.theirs or target.ours
        reason = f"{case.title} has no {target.metric}"
        return Estimate(method="paired t of log-ratios", level=0.95, n=n, why=reason)
    if target.theirs is None:
        alone = [first[block, False] for block, disturbed in sorted(first) if not disturbed]
        return typical(alone)
    return ratio(*paired(first, theirs))
