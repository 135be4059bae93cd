"""The answer to each comparison in a sentence, with what is not shown and what is ruled out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter
from typing import Final, Literal

from benchforge.plugin import (
    CaseSummary,
    Check,
    Comparison,
    Estimate,
    MetricRanking,
    MetricSummary,
    Ranking,
    Summary,
    Trial,
    readable,
    titled,
)
from benchforge_reporters.document.cpu_time import explained
from benchforge_reporters.document.doubts import of_level, rests_on
from benchforge_reporters.document.found_rates import found_rates, rate_in_words
from benchforge_reporters.document.ties import far_apart, scatter, tie, ties

AnswerState = Literal[
    "differs", "not comparable", "disturbed", "same", "undecided", "alone", "unknown"
]
_BY_NAME = 2  # beaten servers that one sentence names with one ratio; of more, the first and last
RATE: Final = "responses per second"
_DIGITS: Final = (2, 3, 4)


@dataclass(frozen=True)
class ComparisonAnswer:
    """What a comparison shows."""

    scenario: str
    label: str
    "Scenario, and what tells the comparison from others of it."
    state: AnswerState
    headline: str
    sentences: tuple[str, ...]
    "Sentences on what speaks against it, what is not shown, and why."
    undecided: bool
    "True if servers may be far apart although they were not shown to differ."
    decided: tuple[tuple[str, str], ...] = ()
    "Pairs of servers that differ, where others are undecided and all did the same work."


def answers(summary: Summary, trials: Sequence[Trial]) -> list[ComparisonAnswer]:
    """Return the answer to each comparison, in the order of the suite; none of a smoke."""
    if summary.smoke:
        return []
    return [_answer(one, summary, trials) for one in summary.comparisons]


def standing(comparison: Comparison, summary: Summary) -> MetricRanking | None:
    """Return the ranking that a comparison is answered by: of the throughput, or else the first."""
    rates = (one for one in comparison.rankings if _measurand(one, summary) == RATE)
    return next(rates, comparison.rankings[0] if comparison.rankings else None)


def side(comparison: Comparison) -> str:
    """Return what a comparison compares: "server" or "client"."""
    return "server" if comparison.driver else "client"


def cases_of(comparison: Comparison, summary: Summary) -> list[CaseSummary]:
    """Return the summaries of a comparison's cases."""
    by_title = {case.case.title: case for case in summary.cases}
    return [by_title[case.title] for case in comparison.cases if case.title in by_title]


def label_of(comparison: Comparison, summary: Summary) -> str:
    """Return the scenario, with the driver and varied options where it has several of them.

    It says where servers took turns: their levels are then no absolute values.
    """
    alike = [one for one in summary.comparisons if one.scenario == comparison.scenario]
    several = comparison.driver and len({one.driver for one in alike}) > 1
    driver = [comparison.driver] if several else []
    vary = [f"{path.rpartition('.')[2]}={value}" for path, value in comparison.vary.items()]
    turns = ["(in turns)"] if any(one.in_turns for one in cases_of(comparison, summary)) else []
    return " ".join([comparison.scenario, *driver, *vary, *turns])


def _measurand(ranked: MetricRanking, summary: Summary) -> str:
    lines = (line for case in summary.cases for line in case.metrics)
    names = ranked.metric, ranked.of
    return next((one.measurand for one in lines if (one.metric, one.of) == names), "")


def _answer(comparison: Comparison, summary: Summary, trials: Sequence[Trial]) -> ComparisonAnswer:
    cases = cases_of(comparison, summary)
    ranked = standing(comparison, summary)
    ranking = None if ranked is None else ranked.ranking
    state, headline, sentences = _shown(cases, ranked, summary)
    searched = any(case.capacity is not None for case in cases)
    decided = _decided(ranking) if state == "undecided" else ()
    faults = _faults(comparison, summary) if state == "differs" or decided else []
    messages = dict.fromkeys(f"{one.message.partition(': ')[0]} ({one.id})" for one in faults)
    if faults and state == "differs":
        sentences = [f"Do not quote this: {headline}.", *sentences]
        state, headline = "not comparable", f"Not comparable: {'; '.join(messages)}"
    elif state in {"differs", "same", "undecided"} and not searched:
        why = (
            scatter(cases, ranked, side(comparison))
            if state == "undecided" and ranked is not None
            else []
        )
        if side(comparison) == "server":  # what a client computes is its own metric
            why += explained(cases, trials, differ=state == "differs")
        sentences = [*why, *sentences]
    if faults and decided:
        sentences += [f"Do not quote the differences: {'; '.join(messages)}."]
        decided = ()
    sentences += _placebo(comparison, summary)
    if state in {"differs", "same", "undecided"} and (doubts := rests_on(cases, ranking)):
        state = "disturbed" if state == "differs" else state
        sentences = [*doubts, *sentences]
    if state == "alone" and (doubts := of_level(cases)):
        state, sentences = "disturbed", [*doubts, *sentences]
    label = label_of(comparison, summary)
    return ComparisonAnswer(
        comparison.scenario, label, state, headline, tuple(sentences), far_apart(ranking), decided
    )


def _decided(ranking: Ranking | None) -> tuple[tuple[str, str], ...]:
    """Return the pairs of servers that differ, the better first."""
    order = [] if ranking is None else [one.server for one in ranking.order]
    return tuple(
        (first, second)
        for first, second in combinations(order, 2)
        if ranking is not None and ranking.pair(first, second).differ
    )


def _shown(
    cases: Sequence[CaseSummary], ranked: MetricRanking | None, summary: Summary
) -> tuple[AnswerState, str, list[str]]:
    """Return what the ranking shows, in a headline and in sentences below it."""
    if len(cases) == 1:
        return ("alone", _alone(cases[0]), [])
    if (rates := found_rates(cases)) is not None:
        return (*rates, [])
    if ranked is None or ranked.ranking is None:
        why = "no metric ranks the servers" if ranked is None else ranked.why
        return ("unknown", f"No answer: {why}", [])
    # Nothing that another is shown to beat comes before it, whatever their typical values are.
    by_rank = sorted(ranked.ranking.order, key=attrgetter("best"))
    order = [one.server for one in by_rank]
    left = [f"{one.server} is not ranked: {one.why}." for one in ranked.left_out]
    first, others = order[0], order[1:]
    tied = [one for one in others if not ranked.ranking.pair(first, one).differ]
    beaten = [one for one in others if one not in tied]
    phrase = _Phrase(ranked, _measurand(ranked, summary))
    if not others:
        return ("unknown", f"No answer: only {first} has values that count", left)
    if tied:
        close, headline = tie(ranked.ranking, [first, *tied])
        ahead = [f"{phrase.of(first, beaten)}."] if beaten else []
        return ("same" if close else "undecided", headline, [*ahead, *left])
    between = [f"{text}." for _, text in ties(ranked.ranking, beaten)]
    if len(beaten) == _BY_NAME and not between:
        between = [f"{phrase.of(beaten[0], beaten[1:])}."]
    return ("differs", phrase.of(first, beaten), [*between, *left])


@dataclass(frozen=True)
class _Phrase:
    """How a difference of a metric is said."""

    ranked: MetricRanking
    measurand: str

    def of(self, first: str, beaten: Sequence[str]) -> str:
        """Return by how much the first is better than others: of many, the nearest and the last."""
        if len(beaten) > _BY_NAME:
            nearest, last = self._than(first, beaten[:1]), self._than(first, beaten[-1:])
            return f"{first} {nearest}, and {last}, the last of {len(self._order)}"
        times = [self._times(first, server) for server in beaten]
        if len({one.partition(" (")[0] for one in times}) > 1 and self.measurand == RATE:
            second = f"{times[1].replace(', 95 %', '')} as many as {beaten[1]}"
            return f"{first} serves {times[0]} as many requests as {beaten[0]}, and {second}"
        return f"{first} {self._than(first, beaten)}"

    def _times(self, first: str, beaten: str) -> str:
        ranking = self.ranked.ranking
        return _times([] if ranking is None else [_ratio(ranking, first, beaten)])

    @property
    def _order(self) -> Sequence[object]:
        return () if self.ranked.ranking is None else self.ranked.ranking.order

    def _than(self, first: str, beaten: Sequence[str]) -> str:
        ranking = self.ranked.ranking
        times = _times([] if ranking is None else [_ratio(ranking, first, one) for one in beaten])
        who = readable.conjoined(beaten)
        if self.measurand == RATE:
            return f"serves {times} as many requests as {who}"
        metric = titled(self.ranked.metric, self.ranked.of)
        if self.measurand == "response time":
            return f"answers in {times} the time of {who} ({metric})"
        return f"has {times} the {metric} of {who}"


def _ratio(ranking: Ranking, first: str, second: str) -> Estimate:
    """Return the interval with all other pairs, or that of the pair where only it excludes 1."""
    pair = ranking.pair(first, second)
    ends = pair.simultaneous.interval
    return pair.simultaneous if ends is not None and not ends[0] <= 1 <= ends[1] else pair.ratio


def _times(estimates: Sequence[Estimate]) -> str:
    """Return ratios with the interval that holds all of theirs."""
    values = sorted(one.value for one in estimates if one.value is not None)
    ends = sorted(end for one in estimates if one.interval is not None for end in one.interval)
    digits = _digits(values, ends)
    texts = list(dict.fromkeys(readable.figure(value, digits) for value in values))
    shown = f"about {texts[0]}" if len(texts) == 1 else f"{texts[0]} to {texts[-1]}"
    if not ends:
        return f"{shown} times (no interval)"
    low, high = (readable.figure(end, digits) for end in (ends[0], ends[-1]))
    return f"{shown} times ({low} to {high}, 95 %)"


def _digits(values: Sequence[float], ends: Sequence[float]) -> int:
    """Return how many digits tell the ratios from 1, and from the ends of their interval.

    They also move no end by more than a tenth of the interval.
    """
    different = {*values, *ends[:1], *ends[-1:], 1.0}
    most = (ends[-1] - ends[0]) / 10 if ends else math.inf
    for digits in _DIGITS:
        shown = {one: _shown_as(one, digits) for one in different}
        near = all(abs(as_text - one) <= most for one, as_text in shown.items())
        if near and len({*shown.values()}) == len(different):
            return digits
    return _DIGITS[-1]


def _shown_as(value: float, digits: int) -> float:
    return float(readable.figure(value, digits).replace(",", ""))


def _alone(case: CaseSummary) -> str:
    """Return what one server did that is compared with none."""
    name = case.case.server
    if case.capacity is not None:
        return f"{name}, compared with no other: {rate_in_words(case.capacity)}"
    line = next((one for one in case.metrics if one.measurand == RATE), None)
    line = line or next(iter(case.metrics), None)
    if line is None or line.median is None:
        why = "no trial has a measurement" if line is None else line.why
        return f"{name}, compared with no other: unknown: {why}"
    return f"{name}, compared with no other: {_levels(line)}"


def _levels(line: MetricSummary) -> str:
    lowest, highest = line.lowest, line.highest
    median = readable.amount(line.unit, line.median or 0.0)
    if lowest is None or highest is None or len(line.samples) == 1:
        return median
    scale = readable.scale(line.unit, [line.median or 0.0])
    return f"{median} (trials {scale.text(lowest)} to {scale.text(highest)})"


def _faults(comparison: Comparison, summary: Summary) -> list[Check]:
    """Return the checks that say that the sides were not alike, or have no level to compare.

    Of several with one cause, the one at the root.
    """
    faults = [
        one
        for one in comparison.checks
        if one in comparison.unlike
        or (one.invalidates == "all" and one.status == "fail" and one.topic != "blocks")
    ]
    causes = {cause.id for cause in summary.causes}
    return [one for one in faults if one.id in causes] or faults


def _placebo(comparison: Comparison, summary: Summary) -> list[str]:
    what, drivers = side(comparison), {case.driver for case in comparison.cases}
    return [
        f"The same {what} twice: {interval(one.ratio)}."
        for one in summary.placebos
        if one.case.scenario == comparison.scenario and one.case.driver in drivers
    ]


def interval(ratio: Estimate) -> str:
    """Return a ratio with its interval: 0.89 (0.75 to 1.06)."""
    if ratio.value is None:
        return f"unknown: {ratio.why}"
    if ratio.low is None or ratio.high is None:
        return f"{readable.figure(ratio.value)} (no interval)"
    shown = (readable.figure(one) for one in (ratio.value, ratio.low, ratio.high))
    return "{} ({} to {})".format(*shown)
