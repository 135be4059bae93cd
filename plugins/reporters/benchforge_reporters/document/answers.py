"""The answer to each comparison in a sentence, with what is not shown and what is ruled out."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from operator import attrgetter
from typing import Final, Literal

from benchforge.plugin import (
    CLOSE,
    CaseSummary,
    Comparison,
    ComparisonVerdict,
    Estimate,
    MetricRanking,
    Ranking,
    Summary,
    Trial,
    readable,
    safe,
)
from benchforge.plugin.drawing import Quoted, difference, headline
from benchforge_reporters.document.cpu_time import explained
from benchforge_reporters.terminal.paint import Meaning
from benchforge_reporters.text.search import found_rates

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
    return [_answer(comparison, summary, trials) for comparison in summary.comparisons]


def side(comparison: Comparison) -> str:
    """Return what a comparison compares: "server" or "client"."""
    return "server" if comparison.driver else "client"


def label_of(comparison: Comparison, summary: Summary) -> str:
    """Return the scenario, with driver and varied options if it has several, and `(in turns)`."""
    alike = [other for other in summary.comparisons if other.scenario == comparison.scenario]
    several = comparison.driver and len({other.driver for other in alike}) > 1
    driver = [comparison.driver] if several else []
    vary = [f"{path.rpartition('.')[2]}={value}" for path, value in comparison.vary.items()]
    turns = ["(in turns)"] if any(case.in_turns for case in summary.cases_of(comparison)) else []
    return " ".join([comparison.scenario, *driver, *vary, *turns])


def quoted(answered: Sequence[ComparisonAnswer], summary: Summary) -> list[Quoted]:
    """Return each comparison with its label and its headline; also of a smoke, without answers."""
    labels = [answer.label.removesuffix(" (in turns)") for answer in answered]
    labels = labels or [comparison.scenario for comparison in summary.comparisons]
    return [
        Quoted(f"[{safe.line(label)}]", comparison, headline(comparison, summary))
        for label, comparison in zip(labels, summary.comparisons, strict=True)
    ]


def _answer(comparison: Comparison, summary: Summary, trials: Sequence[Trial]) -> ComparisonAnswer:
    cases, ranked = summary.cases_of(comparison), summary.standing(comparison)
    ranking = None if ranked is None else ranked.ranking
    verdict = comparison.verdict or ComparisonVerdict(state="undecided", reasons=(_OLDER,))
    text, sentences = _shown(comparison, summary, verdict)
    state = _state(verdict, cases, ranking)
    if verdict.state in {"broken", "not comparable"}:
        differ = ranking is not None and ranking.differing
        sentences = [f"{reason}." for reason in verdict.reasons[1:]]
        sentences += [f"Do not quote this: {text}."] if differ else []
        text = f"{verdict.state.capitalize()}: {verdict.reasons[0]}"
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
        headline=text,
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
    comparison: Comparison, summary: Summary, verdict: ComparisonVerdict
) -> tuple[str, list[str]]:
    cases, ranked = summary.cases_of(comparison), summary.standing(comparison)
    if rates := found_rates(cases, apart=verdict.state == "decided"):
        return rates, []
    if len(cases) == 1:
        return headline(comparison, summary).sentence, []
    if ranked is None or ranked.ranking is None:
        return (f"No answer: {verdict.reasons[0]}" if verdict.state == "undecided" else ""), []
    remarks = [f"{unranked.server} is not ranked: {unranked.why}." for unranked in ranked.left_out]
    order = [entry.server for entry in sorted(ranked.ranking.order, key=attrgetter("best"))]
    tied = ranked.ranking.leaders
    beaten = [server for server in order if server not in tied]
    if len(order) == 1:
        return f"No answer: only {order[0]} has values that count", remarks
    if len(tied) > 1:
        _, text = tie(ranked.ranking, tied)
        ahead = [f"{_ahead(ranked, summary, (tied[0], server))}." for server in beaten[:1]]
        return text, [*ahead, *remarks]
    between = [f"{text}." for _, text in ties(ranked.ranking, beaten)]
    if len(beaten) > 1:
        between.insert(0, f"{_ahead(ranked, summary, (order[0], beaten[-1]))}.")
    return _ahead(ranked, summary, (order[0], beaten[0])), [*between, *remarks]


def _ahead(ranked: MetricRanking, summary: Summary, servers: tuple[str, str]) -> str:
    assert ranked.ranking is not None  # noqa: S101 - its caller has looked
    sentence, ends = difference(ranked, ranked.ranking, summary, servers)
    return f"{sentence} ({f'{ends}, 95 %' if ends else 'no interval'})"


def _placebo(comparison: Comparison, summary: Summary) -> list[str]:
    subject, drivers = side(comparison), {case.driver for case in comparison.cases}
    return [
        f"The same {subject} twice: {interval(placebo.ratio)}."
        for placebo in summary.placebos
        if placebo.case.scenario == comparison.scenario and placebo.case.driver in drivers
    ]


def interval(ratio: Estimate) -> str:
    """Return a ratio with its interval: 0.89 (0.75 to 1.06)."""
    if ratio.value is None:
        return f"unknown: {ratio.why}"
    if ratio.interval is None:
        return f"{readable.figure(ratio.value)} (no interval)"
    value, low, high = map(readable.figure, (ratio.value, *ratio.interval))
    return f"{value} ({low} to {high})"


def rests_on(cases: Sequence[CaseSummary], ranking: Ranking | None) -> list[str]:
    """Return on which blocks the ratios of servers rest, where noise met some of them.

    A disturbed trial counts next to one of the same block that was disturbed, too.
    """
    counts = sorted({pair.ratio.n for pair in ranking.pairs}) if ranking else []
    if ranking is None or not counts or not any(case.used_doubts for case in cases):
        return []
    blocks = max(case.trials for case in cases)
    total = readable.counted(blocks, "block")
    number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    ratio = "ratio rests" if len(ranking.pairs) == 1 else "ratios rest"
    text = f"The {ratio} on {number} of {total}"
    if alike := _disturbed_alike(cases):
        share_text, who = ("some", "the servers") if cases[2:] else (alike, "both servers")
        text += f"; in {share_text} of these, noise met {who} alike, and cancels out"
    return [f"{text}. The other blocks do not count." if counts[0] < blocks else f"{text}."]


def of_level(cases: Sequence[CaseSummary]) -> list[str]:
    """Return what doubted trials mean for a server that is compared with none."""
    doubts = [doubt for case in cases for doubt in case.used_doubts]
    share = f"{len(doubts)} of {readable.counted(sum(case.trials for case in cases), 'trial')}"
    if not all(doubt.disturbed for doubt in doubts):
        return [f"{share} cannot be believed: the level may be another."]
    return [f"Noise met {share}: a quiet machine may show more."] if doubts else []


def _disturbed_alike(cases: Sequence[CaseSummary]) -> int:
    noisy = [{each.block for each in case.used_doubts if each.disturbed} for case in cases]
    return sum(number > 1 for number in Counter(chain(*noisy)).values())


def tie(ranking: Ranking, servers: Sequence[str]) -> tuple[bool, str]:
    """Return whether servers are close together, and a sentence on how far apart they may be."""
    names, most = readable.conjoined(servers), ranking.most_apart(servers)
    if most is None:
        return False, f"Undecided between {names}: no interval, so no difference is ruled out"
    if most < CLOSE:
        bound = f"any difference is below {readable.apart(most)} (95 % sure)"
        return True, f"No difference seen between {names}: {bound}"
    return False, f"Undecided between {names}: they may differ by up to {readable.apart(most)}"


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
    lines = [line for case in cases if (line := case.line(ranked.metric, ranked.of))]
    ratios = [line.highest / line.lowest for line in lines if line.highest and line.lowest]
    most = max(ratios, default=1.0)
    if most <= 1:
        return []
    blocks = readable.counted(max(case.trials for case in cases), "block")
    far = f"differ by up to {readable.apart(most)}, and there are {blocks} only"
    return [f"Why: the trials of one {side} {far}."]


def _of_ratios(cases: Sequence[CaseSummary], ranked: MetricRanking) -> list[str]:
    """Return how much the ratio of two servers in turns differs between blocks.

    Noise of the machine meets all servers of a block alike: it is in their values, not in ratios.
    """
    values = [
        {sample.block: sample.sample.value for sample in line.samples if sample.sample.value}
        for case in cases
        if (line := case.line(ranked.metric, ranked.of))
    ]
    ratios = [
        [first[block] / theirs[block] for block in first.keys() & theirs.keys()]
        for first, theirs in combinations(values, 2)
    ]
    spreads = ((max(ratio) / min(ratio), len(ratio)) for ratio in ratios if ratio)
    most, blocks = max(spreads, default=(1.0, 0))
    if most <= 1:
        return []
    far, counted = readable.apart(most), readable.counted(blocks, "block")
    return [f"Why: from block to block the ratio differs by up to {far}; there are {counted}."]
