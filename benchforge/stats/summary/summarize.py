"""Summaries of results from their trials: each value, the median and the spread."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePath

from benchforge.errors import InvalidFile
from benchforge.model.files.result import Header
from benchforge.model.suite.pivot import crowded
from benchforge.model.summary.doubts import disturbed, doubted
from benchforge.model.summary.latency import LatencyAtRate
from benchforge.model.summary.ranking import MetricRanking
from benchforge.model.summary.summary import (
    CaseSummary,
    Comparison,
    MetricSummary,
    Placebo,
    Summary,
)
from benchforge.model.summary.verdict import Estimate
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName, Identity, among, groups, identity, shared
from benchforge.parts.part import Metric
from benchforge.stats.inference.hodges_lehmann import paired, ratio
from benchforge.stats.inference.stopping import Stop
from benchforge.stats.summary.case import course, of_case, of_search
from benchforge.stats.summary.completeness import missing
from benchforge.stats.summary.concurrency_sweeps import swept
from benchforge.stats.summary.latency import latency_at_rate
from benchforge.stats.summary.line import by_place
from benchforge.stats.summary.metric_ranking import standings
from benchforge.stats.summary.precision import labels_of, precise
from benchforge.stats.timeseries.windows import together, window_of

LEVEL = 0.99
_OF_HEADER = Summary.model_fields.keys() & Header.model_fields.keys() - {
    *("format", "kind", "cases", "suite_file")
}
"Fields that a summary copies."


def summarize(
    header: Header,
    trials: Sequence[Trial],
    metrics: Mapping[str, Metric],
    sessions: Sequence[Session] = (),
    stop: Stop | None = None,
) -> Summary:
    """Return the summary of trials, case by case in the order of the suite.

    `stop` is the rule that may end the run, if it is not the header's. Raises InvalidFile for a
    trial or a claim of an unknown case, and for a table with several cases in one cell.
    """
    for message in _contradictions(header):
        raise InvalidFile(f"the result's header: {message}", "the header was changed")
    by_case = _by_case(header, trials)
    decision = precise(header, trials, metrics)
    complete = not missing(header, trials, decision)
    blocks = decision.blocks if decision is not None and complete else math.inf
    planned = Counter(identity(step.case) for step in header.plan if step.block <= blocks)
    comparisons = tuple(
        _comparison(group, by_case, searches=group[0].scenario in header.searches)
        for group in groups(header.cases, header.clients)
    )
    looked_at = {
        identity(case): (steady, window_of(steady, group.window))
        for group in comparisons
        for case, steady in zip(group.cases, group.steady_states, strict=False)  # a search has none
    }

    def summed(case: CaseName, like: CaseName) -> CaseSummary:
        key, labels = identity(case), header.scenario_metrics.get(case.scenario, metrics)
        inputs = case, by_case[key], planned[key], {label: metrics[label] for label in labels}
        if find := header.searches.get(case.scenario):
            return of_search(*inputs, find)
        return of_case(*inputs, *looked_at[identity(like)])

    cases = tuple(summed(case, case) for case in header.cases if not case.placebo)
    believed = frozenset(trial.number for trial in trials if trial.believed)
    by_name = {identity(summary.case): summary for summary in cases}
    ranked = partial(_standings, header, cases=by_name, believed=believed, stop=stop)
    return Summary(
        **{name: getattr(header, name) for name in _OF_HEADER},
        suite_file=PurePath(header.suite_file).name,
        complete=complete,
        stop_decision=decision,
        cases=cases,
        sessions=tuple(sessions),
        comparisons=tuple(
            group.model_copy(
                update={"rankings": ranked(group), "latency": _latency(header, group, by_case)}
            )
            for group in comparisons
            if group.scenario not in header.latencies
        ),
        sweeps=() if header.smoke else swept(cases, trials, believed, header.seed),
        placebos=tuple(
            placebo(first, summed(again, first.case), believed)
            for again in header.cases
            if again.placebo
            for first in [summary for summary in cases if _twin(summary.case, again)][:1]
        ),
    )


def _twin(case: CaseName, placebo: CaseName) -> bool:
    labels = ("scenario", "server", "driver", "digest")
    return all(getattr(case, label) == getattr(placebo, label) for label in labels)


def _standings(
    header: Header,
    group: Comparison,
    cases: Mapping[Identity, CaseSummary],
    believed: frozenset[int],
    stop: Stop | None,
) -> tuple[MetricRanking, ...]:
    """Return the standings of a comparison, by its first metric and those of the tables."""
    if header.smoke:
        return ()
    pivots = [pivot for pivot in header.tables.values() if group.scenario in pivot.scenarios]
    drawn = (label for pivot in pivots for label in pivot.metrics)
    first = labels_of(header, group.scenario)[:1]
    members = [cases[identity(case)] for case in group.cases]
    ranked, stop = [*dict.fromkeys([*first, *drawn])], stop or Stop.of(header.until)
    return standings(members, ranked, believed, header.until, stop)


def _latency(
    header: Header, group: Comparison, by_case: Mapping[Identity, Sequence[Trial]]
) -> LatencyAtRate | None:
    labels = [label for label, about in header.latencies.items() if about == group.scenario]
    return latency_at_rate(group, labels[0], by_case) if labels else None


def _contradictions(header: Header) -> Iterator[str]:
    for label, pivot in header.tables.items():
        if forgotten := crowded(pivot, header.cases):
            yield f"tables.{label}: several cases in one cell: {', '.join(forgotten)} differ"
    identities = {identity(case) for case in header.cases if not case.placebo}
    for claim in header.claims:
        for case in claim.cases:
            if identity(case) not in identities:
                yield f"claims.{claim.label}: {case.title}: no such case"


def _by_case(header: Header, trials: Sequence[Trial]) -> dict[Identity, list[Trial]]:
    by_case: dict[Identity, list[Trial]] = {identity(case): [] for case in header.cases}
    for trial in sorted(trials, key=lambda trial: trial.number):
        if identity(trial.case) not in by_case:
            where = f"trial {trial.number}: {trial.case.title}"
            hint = "the trial was copied from another result, or the header was changed"
            raise InvalidFile(f"{where}: the result's header has no such case", hint)
        by_case[identity(trial.case)].append(trial)
    return by_case


def _comparison(
    cases: Sequence[CaseName], by_case: Mapping[Identity, Sequence[Trial]], *, searches: bool
) -> Comparison:
    subject = among(cases)
    comparison = Comparison(
        scenario=cases[0].scenario,
        driver=cases[0].driver if subject == "servers" else "",
        vary=shared(cases[0], subject),
        cases=tuple(cases),
        checks=(),
    )
    if searches:  # trials at several rates have no common course
        return comparison
    courses = tuple(course(by_case[identity(case)]) for case in cases)
    return comparison.model_copy(update={"window": together(courses), "steady_states": courses})


def placebo(first: CaseSummary, again: CaseSummary, believed: frozenset[int]) -> Placebo:
    """Return the ratio of a case to itself, by the first metric that has values in both.

    `believed` has the numbers of the trials that count.
    """
    for line in first.metrics:
        if other := again.line(line.metric, line.of):
            first_values, theirs = paired(
                by_place(other, believed - doubted(again, other), disturbed(again, other)),
                by_place(line, believed - doubted(first, line), disturbed(first, line)),
            )
            if first_values:
                return _placebo(first, again, line, ratio(first_values, theirs, LEVEL))
    reason = "no block has believed values of both"
    none = Estimate(method="paired t of log-ratios", level=LEVEL, n=0, why=reason)
    return _placebo(first, again, None, none)


def _placebo(
    first: CaseSummary, again: CaseSummary, line: MetricSummary | None, estimate: Estimate
) -> Placebo:
    apart = None
    if estimate.low is not None and estimate.high is not None:
        apart = max(estimate.high, 1 / estimate.low) - 1
    metric = "" if line is None else line.metric
    return Placebo(case=first.case, repeated=again, metric=metric, ratio=estimate, noise=apart)
