"""The answer to each comparison in a sentence, with what is not shown and what is ruled out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Literal

from benchforge.plugin import (
    RATE,
    CaseSummary,
    Comparison,
    ComparisonVerdict,
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
from benchforge_reporters.terminal.paint import Meaning

AnswerState = Literal["differs", "same", "alone", "undecided", "not comparable", "broken"]
"How a verdict is shown: what is decided differs, is the same, or is one server alone."
SIGNS: Final[dict[AnswerState, tuple[str, Meaning, str, str]]] = {
    "differs": ("✔", "good", "better", "differs"),
    "same": ("≈", "heading", "", "no difference seen"),
    "alone": ("·", "aside", "", "no comparison"),
    "undecided": ("?", "limits", "", "undecided"),
    "not comparable": ("!", "limits", "unlike", "not comparable"),
    "broken": ("✕", "bad", "unlike", "broken"),
}
"Each state: its sign and colour on a terminal, its name in the page's style, and its words."
_BY_NAME = 2  # beaten servers that one sentence names with one ratio; of more, the first and last
_DIGITS: Final = (2, 3, 4)
_OLDER: Final = "an older benchforge summed it up: show its folder instead"


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
    verdict: ComparisonVerdict
    "Verdict of the summary."


def answers(summary: Summary, trials: Sequence[Trial]) -> list[ComparisonAnswer]:
    """Return the answer to each comparison, in the order of the suite; none of a smoke."""
    if summary.smoke:
        return []
    return [_answer(one, summary, trials) for one in summary.comparisons]


def side(comparison: Comparison) -> str:
    """Return what a comparison compares: "server" or "client"."""
    return "server" if comparison.driver else "client"


def label_of(comparison: Comparison, summary: Summary) -> str:
    """Return the scenario, with the driver and varied options where it has several of them.

    It says where servers took turns: their levels are then no absolute values.
    """
    alike = [one for one in summary.comparisons if one.scenario == comparison.scenario]
    several = comparison.driver and len({one.driver for one in alike}) > 1
    driver = [comparison.driver] if several else []
    vary = [f"{path.rpartition('.')[2]}={value}" for path, value in comparison.vary.items()]
    turns = ["(in turns)"] if any(one.in_turns for one in summary.cases_of(comparison)) else []
    return " ".join([comparison.scenario, *driver, *vary, *turns])


def _answer(comparison: Comparison, summary: Summary, trials: Sequence[Trial]) -> ComparisonAnswer:
    cases, ranked = summary.cases_of(comparison), summary.standing(comparison)
    ranking = None if ranked is None else ranked.ranking
    verdict = comparison.verdict or ComparisonVerdict(state="undecided", reasons=(_OLDER,))
    headline, sentences = _shown(cases, ranked, summary, verdict)
    state = _state(verdict, cases, ranking)
    if verdict.state in {"broken", "not comparable"}:
        differ = ranking is not None and ranking.differing
        sentences = [f"{reason}." for reason in verdict.reasons[1:]]
        sentences += [f"Do not quote this: {headline}."] if differ else []
        headline = f"{verdict.state.capitalize()}: {verdict.reasons[0]}"
    elif len(cases) > 1 and ranked is not None and ranking is not None:
        scattered = scatter(cases, ranked, side(comparison)) if state == "undecided" else []
        if side(comparison) == "server":  # what a client computes is its own metric
            scattered += explained(cases, trials, differ=state == "differs")
        sentences = [*rests_on(cases, ranking), *scattered, *sentences]
    elif state == "alone":
        sentences = [*of_level(cases), *sentences]
    sentences += _placebo(comparison, summary)
    return ComparisonAnswer(
        scenario=comparison.scenario,
        label=label_of(comparison, summary),
        state=state,
        headline=headline,
        sentences=tuple(sentences),
        undecided=far_apart(ranking),
        verdict=verdict,
    )


def _state(
    verdict: ComparisonVerdict, cases: Sequence[CaseSummary], ranking: Ranking | None
) -> AnswerState:
    if verdict.state != "decided":
        return verdict.state
    if len(cases) == 1:
        return "alone"
    return "same" if ranking is not None and len(ranking.leaders) > 1 else "differs"


def _shown(
    cases: Sequence[CaseSummary],
    ranked: MetricRanking | None,
    summary: Summary,
    verdict: ComparisonVerdict,
) -> tuple[str, list[str]]:
    """Return what the numbers show, in a headline and in sentences below it."""
    if len(cases) == 1:
        return _alone(cases[0]), []
    if rates := found_rates(cases, apart=verdict.state == "decided"):
        return rates, []
    if ranked is None or ranked.ranking is None:
        return (f"No answer: {verdict.reasons[0]}" if verdict.state == "undecided" else ""), []
    left = [f"{one.server} is not ranked: {one.why}." for one in ranked.left_out]
    order = [one.server for one in sorted(ranked.ranking.order, key=attrgetter("best"))]
    tied = ranked.ranking.leaders
    beaten = [one for one in order if one not in tied]
    phrase = _Phrase(ranked, summary.measurand(ranked))
    if len(order) == 1:
        return f"No answer: only {order[0]} has values that count", left
    if len(tied) > 1:
        _, headline = tie(ranked.ranking, tied)
        ahead = [f"{phrase.of(tied[0], beaten)}."] if beaten else []
        return headline, [*ahead, *left]
    between = [f"{text}." for _, text in ties(ranked.ranking, beaten)]
    if len(beaten) == _BY_NAME and not between:
        between = [f"{phrase.of(beaten[0], beaten[1:])}."]
    return phrase.of(order[0], beaten), [*between, *left]


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
    if line is None or line.level is None:
        why = "no trial has a measurement" if line is None else line.why
        return f"{name}, compared with no other: unknown: {why}"
    return f"{name}, compared with no other: {_levels(line)}"


def _levels(line: MetricSummary) -> str:
    lowest, highest = line.lowest, line.highest
    level = readable.amount(line.unit, line.level or 0.0)
    if lowest is None or highest is None or len(line.samples) == 1:
        return level
    scale = readable.scale(line.unit, [line.level or 0.0])
    return f"{level} (trials {scale.text(lowest)} to {scale.text(highest)})"


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
