"""The answer to each comparison in a sentence, with what is not shown and what is ruled out."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter
from typing import Final, Literal

from benchforge.plugin import (
    CLOSE,
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
from benchforge_reporters.terminal.paint import Meaning
from benchforge_reporters.text.search import found_rates, rate_in_words

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
    return [_answer(item, summary, trials) for item in summary.comparisons]


def side(comparison: Comparison) -> str:
    """Return what a comparison compares: "server" or "client"."""
    return "server" if comparison.driver else "client"


def label_of(comparison: Comparison, summary: Summary) -> str:
    """Return the scenario, with the driver and varied options where it has several of them.

    It says where servers took turns: their levels are then no absolute values.
    """
    alike = [item for item in summary.comparisons if item.scenario == comparison.scenario]
    several = comparison.driver and len({item.driver for item in alike}) > 1
    driver = [comparison.driver] if several else []
    vary = [f"{path.rpartition('.')[2]}={value}" for path, value in comparison.vary.items()]
    turns = ["(in turns)"] if any(item.in_turns for item in summary.cases_of(comparison)) else []
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
    remarks = [f"{item.server} is not ranked: {item.why}." for item in ranked.left_out]
    order = [item.server for item in sorted(ranked.ranking.order, key=attrgetter("best"))]
    tied = ranked.ranking.leaders
    beaten = [item for item in order if item not in tied]
    title = titled(ranked.metric, ranked.of)
    phrase = _Phrase(ranked.ranking, title, summary.measurand(ranked))
    if len(order) == 1:
        return f"No answer: only {order[0]} has values that count", remarks
    if len(tied) > 1:
        _, headline = tie(ranked.ranking, tied)
        ahead = [f"{phrase.of(tied[0], beaten)}."] if beaten else []
        return headline, [*ahead, *remarks]
    between = [f"{text}." for _, text in ties(ranked.ranking, beaten)]
    if len(beaten) == _BY_NAME and not between:
        between = [f"{phrase.of(beaten[0], beaten[1:])}."]
    return phrase.of(order[0], beaten), [*between, *remarks]


@dataclass(frozen=True)
class _Phrase:
    """How a difference of a metric is said."""

    ranking: Ranking
    metric: str
    measurand: str

    def of(self, first: str, beaten: Sequence[str]) -> str:
        """Return by how much the first is better than others: of many, the nearest and the last."""
        if len(beaten) > _BY_NAME:
            nearest, last = self._than(first, beaten[:1]), self._than(first, beaten[-1:])
            return f"{first} {nearest}, and {last}, the last of {len(self.ranking.order)}"
        times = [_times([_ratio(self.ranking, first, server)]) for server in beaten]
        if len({item.partition(" (")[0] for item in times}) > 1 and self.measurand == RATE:
            second = f"{times[1].replace(', 95 %', '')} as many as {beaten[1]}"
            return f"{first} serves {times[0]} as many requests as {beaten[0]}, and {second}"
        return f"{first} {self._than(first, beaten)}"

    def _than(self, first: str, beaten: Sequence[str]) -> str:
        times = _times([_ratio(self.ranking, first, item) for item in beaten])
        who = readable.conjoined(beaten)
        if self.measurand == RATE:
            return f"serves {times} as many requests as {who}"
        if self.measurand == "response time":
            return f"answers in {times} the time of {who} ({self.metric})"
        return f"has {times} the {self.metric} of {who}"


def _ratio(ranking: Ranking, first: str, second: str) -> Estimate:
    """Return the interval with all other pairs, or that of the pair where only it excludes 1."""
    pair = ranking.pair(first, second)
    ends = pair.simultaneous.interval
    return pair.simultaneous if ends is not None and not ends[0] <= 1 <= ends[1] else pair.ratio


def _times(estimates: Sequence[Estimate]) -> str:
    """Return ratios with the interval that holds all of theirs."""
    values = sorted(item.value for item in estimates if item.value is not None)
    ends = sorted(end for item in estimates if item.interval is not None for end in item.interval)
    digits = _digits(values, ends)
    texts = list(dict.fromkeys(readable.figure(value, digits) for value in values))
    ratio_text = f"about {texts[0]}" if len(texts) == 1 else f"{texts[0]} to {texts[-1]}"
    if not ends:
        return f"{ratio_text} times (no interval)"
    low, high = (readable.figure(end, digits) for end in (ends[0], ends[-1]))
    return f"{ratio_text} times ({low} to {high}, 95 %)"


def _digits(values: Sequence[float], ends: Sequence[float]) -> int:
    """Return how many digits tell the ratios from 1, and from the ends of their interval.

    They also move no end by more than a tenth of the interval.
    """
    different = {*values, *ends[:1], *ends[-1:], 1.0}
    most = (ends[-1] - ends[0]) / 10 if ends else math.inf
    for digits in _DIGITS:
        texts = {item: _shown_as(item, digits) for item in different}
        near = all(abs(as_text - item) <= most for item, as_text in texts.items())
        if near and len({*texts.values()}) == len(different):
            return digits
    return _DIGITS[-1]


def _shown_as(value: float, digits: int) -> float:
    return float(readable.figure(value, digits).replace(",", ""))


def _alone(case: CaseSummary) -> str:
    """Return what one server did that is compared with none."""
    name = case.case.server
    if case.capacity is not None:
        return f"{name}, compared with no other: {rate_in_words(case.capacity)}"
    line = next((item for item in case.metrics if item.measurand == RATE), None)
    line = line or next(iter(case.metrics), None)
    if line is None or line.level is None:
        reason = "no trial has a measurement" if line is None else line.why
        return f"{name}, compared with no other: unknown: {reason}"
    return f"{name}, compared with no other: {_levels(line)}"


def _levels(line: MetricSummary) -> str:
    lowest, highest = line.lowest, line.highest
    level = readable.amount(line.unit, line.level or 0.0)
    if lowest is None or highest is None or len(line.samples) == 1:
        return level
    scale = readable.scale(line.unit, [line.level or 0.0])
    return f"{level} (trials {scale.text(lowest)} to {scale.text(highest)})"


def _placebo(comparison: Comparison, summary: Summary) -> list[str]:
    subject, drivers = side(comparison), {case.driver for case in comparison.cases}
    return [
        f"The same {subject} twice: {interval(item.ratio)}."
        for item in summary.placebos
        if item.case.scenario == comparison.scenario and item.case.driver in drivers
    ]


def interval(ratio: Estimate) -> str:
    """Return a ratio with its interval: 0.89 (0.75 to 1.06)."""
    if ratio.value is None:
        return f"unknown: {ratio.why}"
    if ratio.low is None or ratio.high is None:
        return f"{readable.figure(ratio.value)} (no interval)"
    figures = (readable.figure(item) for item in (ratio.value, ratio.low, ratio.high))
    return "{} ({} to {})".format(*figures)


_PAIR = 2


def used_doubts(cases: Sequence[CaseSummary]) -> tuple[int, int]:
    """Return the numbers of doubted trials behind the levels: disturbed ones, and the others."""
    used = [item for case in cases for item in case.used_doubts]
    disturbed = sum(item.disturbed for item in used)
    return disturbed, len(used) - disturbed


def rests_on(cases: Sequence[CaseSummary], ranking: Ranking | None) -> list[str]:
    """Return on which blocks the ratios of servers rest, where noise met some of them.

    A disturbed trial counts next to one of the same block that was disturbed, too.
    """
    if ranking is None or not sum(used_doubts(cases)):
        return []
    counts = sorted({pair.ratio.n for pair in ranking.pairs})
    blocks = max(case.trials for case in cases)
    if not counts:
        return []
    total = readable.counted(blocks, "block")
    number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    ratio = "ratio rests" if len(ranking.pairs) == 1 else "ratios rest"
    text = f"The {ratio} on {number} of {total}"
    if alike := _disturbed_alike(cases):
        pair = len(cases) == _PAIR
        share_text, who = (alike, "both servers") if pair else ("some", "the servers")
        text += f"; in {share_text} of these, noise met {who} alike, and cancels out"
    return [f"{text}. The other blocks do not count." if counts[0] < blocks else f"{text}."]


def of_level(cases: Sequence[CaseSummary]) -> list[str]:
    """Return what doubted trials mean for a server that is compared with none."""
    disturbed, others = used_doubts(cases)
    total = readable.counted(sum(case.trials for case in cases), "trial")
    if others:
        return [f"{others + disturbed} of {total} cannot be believed: the level may be another."]
    if disturbed:
        return [f"Noise met {disturbed} of {total}: a quiet machine may show more."]
    return []


def _disturbed_alike(cases: Sequence[CaseSummary]) -> int:
    """Return the number of blocks in which at least two servers were disturbed."""
    blocks = Counter(
        block
        for case in cases
        for block in {item.block for item in case.doubted if item.used and item.disturbed}
    )
    return sum(number >= _PAIR for number in blocks.values())


_TWICE: Final = 2.0  # from there on a difference is a factor, and below it a share


def tie(ranking: Ranking, servers: Sequence[str]) -> tuple[bool, str]:
    """Return whether servers are close together, and a sentence on how far apart they may be."""
    names, most = readable.conjoined(servers), ranking.most_apart(servers)
    if most is None:
        return False, f"Undecided between {names}: no interval, so no difference is ruled out"
    share = readable.figure(100 * (most - 1), 2)
    if most < CLOSE:
        return (
            True,
            f"No difference seen between {names}: any difference is below {share} % (95 % sure)",
        )
    size = f"{share} %" if most < _TWICE else f"a factor of {readable.figure(most, 2)}"
    return False, f"Undecided between {names}: they may differ by up to {size}"


def ties(ranking: Ranking, servers: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yield what `tie` returns for each run of servers, in their order, of which no two differ."""
    run: list[str] = []
    for server in servers:
        if any(ranking.pair(server_, server).differ for server_ in run):
            if len(run) > 1:
                yield tie(ranking, run)
            run = []
        run.append(server)
    if len(run) > 1:
        yield tie(ranking, run)


def far_apart(ranking: Ranking | None) -> bool:
    """Return whether servers may be far apart although they were not shown to differ."""
    names = [] if ranking is None else [ranked.server for ranked in ranking.order]
    return ranking is not None and any(not close for close, _ in ties(ranking, names))


def scatter(cases: Sequence[CaseSummary], ranked: MetricRanking, side: str) -> list[str]:
    """Return how much the trials of one side differ, in a sentence; none if that is unknown."""
    if all(case.in_turns for case in cases):
        return _of_ratios(cases, ranked)
    lines = (line for case in cases for line in case.metrics)
    ratios = [
        line.highest / line.lowest
        for line in lines
        if (line.metric, line.of) == (ranked.metric, ranked.of) and line.highest and line.lowest
    ]
    most = max(ratios, default=1.0)
    if most <= 1:
        return []
    share = readable.figure(100 * (most - 1), 2)
    blocks = readable.counted(max(case.trials for case in cases), "block")
    return [
        f"Why: the trials of one {side} differ by up to {share} %, and there are {blocks} only."
    ]


def _of_ratios(cases: Sequence[CaseSummary], ranked: MetricRanking) -> list[str]:
    """Return how much the ratio of two servers in turns differs between blocks.

    Noise of the machine meets all servers of a block alike: it is in their values, not in ratios.
    """
    values = [
        {sample.block: sample.sample.value for sample in line.samples if sample.sample.value}
        for case in cases
        for line in case.metrics
        if (line.metric, line.of) == (ranked.metric, ranked.of)
    ]
    ratios = [
        [first[block] / theirs[block] for block in first.keys() & theirs.keys()]
        for first, theirs in combinations(values, 2)
    ]
    most, blocks = max(
        ((max(ratio) / min(ratio), len(ratio)) for ratio in ratios if ratio), default=(1.0, 0)
    )
    if most <= 1:
        return []
    share = readable.figure(100 * (most - 1), 2)
    counted = readable.counted(blocks, "block")
    return [f"Why: from block to block the ratio differs by up to {share} %; there are {counted}."]
