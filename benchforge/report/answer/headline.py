"""Answers to comparisons, a sentence each: the first words of each form of a result."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from benchforge.model.summary.capacity import Capacity
from benchforge.model.summary.ranking import MetricRanking, Ranking
from benchforge.model.summary.summary import CaseSummary, Comparison, Summary
from benchforge.model.summary.verdict import ComparisonVerdict, Estimate
from benchforge.model.values.case_name import server_names
from benchforge.model.values.units import RATE, titled
from benchforge.report.answer.ratio import LIMIT, interval_text, pair_ratio
from benchforge.text.readable import amount, apart, conjoined, counted, figure, percent

_Silent = Literal["unlike", "wrong", "start", "none"]
Says = Literal["faster", "slightly", "same", "open", "early", "smoke", "alone", "highest", _Silent]
"Kinds of answers: a difference, none that matters, none yet, none at all."
_NAME: Final = 16  # characters of a server's name: two of them fit a line of 80 columns
_NAMED: Final = 3
_OLDER: Final = ComparisonVerdict(state="undecided", reasons=("an older benchforge summed it up",))


@dataclass(frozen=True)
class Headline:
    """The answer to a comparison."""

    says: Says
    sentence: str
    "The answer; in a result of several comparisons it begins with the scenario."
    remark: str = ""
    "Bounds of an undecided difference, or the reason for no answer; may be empty."
    first: str = ""
    second: str = ""
    "Server behind the first, or one of those that no interval tells from it."
    ratio: Estimate | None = None
    "Value of the first by that of the second, as the sentence has it."
    better: Literal["higher", "lower"] = "higher"
    "Better direction of the values."
    bound: str = ""
    "Words for how far apart servers are that no interval tells apart; empty where none bounds it."

    @property
    def unanswered(self) -> bool:
        """True if there is no number: work was unlike, or an answer wrong, or nothing measured."""
        return self.says in get_args(_Silent)

    @property
    def speed(self) -> Estimate | None:
        """The ratio with more as the better: above 1 the first is ahead."""
        if self.ratio is None or self.better == "higher":
            return self.ratio
        return self.ratio.inverse

    @property
    def margin(self) -> float | None:
        """Share that a cause must move the ratio by to change the answer; None if nothing can.

        None, too, where the answer is how far apart servers are at most: each cause moves that.
        """
        speed, edge = self.speed, 1 + LIMIT
        if speed is None or speed.interval is None:
            return None
        low, high = speed.interval
        if self.says == "same":
            share = min(low * edge, edge / high) - 1
        elif self.says in {"faster", "slightly"}:
            share = 1 - (edge if self.says == "faster" else 1) / low
        else:
            return None
        return share if share > 0 else None

    @property
    def against(self) -> str:
        """The error that changes the answer, in words; empty where nothing is decided."""
        if self.margin is None:
            return ""
        same = "they differ too little to matter"
        holds = same if self.says == "same" else f"{short(self.first)} stays ahead"
        return f"{holds} unless the ratio is off by {figure(100 * self.margin, 2)} % or more"


def short(name: str) -> str:
    """Return a name that fits a headline: of a long one both ends."""
    half = _NAME // 2 - 1
    return name if len(name) <= _NAME else f"{name[:half]}…{name[-half:]}"


def in_rounds(text: str) -> str:
    """Return a sentence with the word for people: files and options call a round a block."""
    return re.sub(r"\bblock(s?)\b", r"round\1", text)


def headline(comparison: Comparison, summary: Summary) -> Headline:
    """Return the answer to a comparison, as its verdict says."""
    cases, ranked = summary.cases_of(comparison), summary.standing(comparison)
    names = server_names([case.case for case in cases])
    verdict = comparison.verdict or _OLDER
    failed = any(case.failed and not case.trials for case in cases)
    if summary.smoke and not failed and verdict.state != "broken":
        return Headline("smoke", "Smoke run: all works, and the numbers mean nothing")
    if summary.smoke or verdict.state in {"broken", "not comparable"}:
        return _without(cases, names, verdict)
    if any(case.capacity is not None for case in cases):
        return _rates(cases, names, verdict)
    if len(cases) == 1:
        return _alone(cases[0], verdict)
    if ranked is None or ranked.ranking is None or len(ranked.ranking.order) == 1:
        return Headline("early", f"Undecided: {_reason(verdict)}")
    answer = _compared(ranked, ranked.ranking, summary, verdict)
    beside = f", while {verdict.disturbed}" if verdict.disturbed else ""
    return replace(answer, sentence=answer.sentence + beside)


def _without(
    cases: Sequence[CaseSummary], names: Sequence[str], verdict: ComparisonVerdict
) -> Headline:
    """Return why servers have no ratio: which are wrong, did not start, or did other work."""
    named = [*zip(map(short, names), cases, strict=True)]
    silent = [name for name, case in named if case.failed and not case.trials]
    failures = [case.failed[-1].failure for _, case in named if case.failed and not case.trials]
    undecided = verdict.state == "undecided"  # as a smoke run is: its failure says more
    reason = failures[0].message if undecided and failures else _reason(verdict)
    if any(failure.stage == "start" for failure in failures):
        return Headline("start", f"No answer: {conjoined(silent)} did not start", reason)
    if verdict.state == "broken":
        wrong = [name for name, case in named if _wrong(case)] or [named[-1][0]]
        sentence = f"No answer: {conjoined(wrong)} answered wrongly, so its speed says nothing"
        return Headline("wrong", sentence, reason)
    if silent or not all(case.trials for case in cases):
        who = conjoined(silent) if silent else "a server"
        return Headline("none", f"No answer: {who} could not be measured", reason)
    if len(names) == 1:
        return Headline("none", f"No answer: the numbers of {named[0][0]} cannot be used", reason)
    who = conjoined(name for name, _ in named) if len(named) <= _NAMED else "the servers"
    return Headline("unlike", f"Not comparable: {who} did different work", reason)


def _wrong(case: CaseSummary) -> bool:
    failures = (trial.failure.by_answer for trial in case.failed)
    return any(failures) or any(finding.check.wrong_answers for finding in case.findings)


def _alone(case: CaseSummary, verdict: ComparisonVerdict) -> Headline:
    name = short(case.case.server)
    line = next((line for line in case.metrics if line.measurand == RATE), None)
    if line is None or line.level is None or not verdict.rates:
        return Headline("alone", f"{name}, the only server, was measured")
    level = amount(line.unit, line.level)
    return Headline("alone", f"{name}, the only server, serves {level}", first=name)


def _rates(
    cases: Sequence[CaseSummary], names: Sequence[str], verdict: ComparisonVerdict
) -> Headline:
    searches = {name: case.capacity for name, case in zip(names, cases, strict=True)}
    rates = {name: item for name, item in searches.items() if item is not None and item.answered}
    if len(rates) < len(searches):
        unknown = conjoined(map(short, searches.keys() - rates.keys()))
        return Headline("none", f"No answer: no rate is known of {unknown}")
    best = sorted(rates.items(), key=lambda item: item[1].ends, reverse=True)
    first, *others = (f"{short(name)} {_rate(capacity)}" for name, capacity in best)
    remark = "" if verdict.state == "decided" else f"Undecided: {_reason(verdict)}"
    sentence = f"All objectives are kept up to: {', '.join((first, *others))}"
    return Headline("highest", sentence, remark, best[0][0])


def _rate(capacity: Capacity) -> str:
    value = capacity.safe if capacity.safe is not None else capacity.rate.value
    if value is not None:
        return f"{figure(value)} requests/s"
    low, high = capacity.ends
    return f"at least {figure(low)}/s" if low else f"less than {figure(high)}/s"


def _reason(verdict: ComparisonVerdict) -> str:
    return in_rounds(verdict.reasons[0]) if verdict.reasons else "no number ranks the servers"


def _compared(
    ranked: MetricRanking, ranking: Ranking, summary: Summary, verdict: ComparisonVerdict
) -> Headline:
    order = [item.server for item in sorted(ranking.order, key=lambda item: item.best)]
    tied = ranking.leaders
    first, second = tied[0], (tied[1:] + [name for name in order if name not in tied])[0]
    ratio = pair_ratio(ranking, first, second)
    drawn = Headline("open", "", "", first, second, ratio, ranking.better)
    if len(tied) > 1:
        return _tied(drawn, tied, ranking.most_apart(tied), verdict)
    sentence, _ = difference(ranked, ranking, summary, (first, second))
    if verdict.state == "undecided":
        return replace(drawn, sentence=f"Undecided: {_reason(verdict)}", remark=sentence)
    if order[2:]:
        sentence += ", the runner-up"
    speed = drawn.speed
    if speed is not None and speed.low is not None and speed.low > 1 + LIMIT:
        return replace(drawn, says="faster", sentence=sentence)
    return replace(drawn, says="slightly", sentence=f"{sentence}: perhaps too small to matter")


def _tied(
    drawn: Headline, tied: Sequence[str], most: float | None, verdict: ComparisonVerdict
) -> Headline:
    """Return how far apart servers are at most that are not told apart."""
    who = conjoined(map(short, tied)) if len(tied) <= _NAMED else f"{len(tied)} servers"
    if most is None:
        rounds = counted(0 if drawn.ratio is None else drawn.ratio.n, "round")
        sentence = f"Undecided: after {rounds}, nothing tells {who} apart"
        return replace(drawn, says="early", sentence=sentence)
    if verdict.state == "undecided":
        bound = f"at most {apart(most)}"
        sentence = f"Undecided: {who} differ by {bound}"
        return replace(drawn, sentence=sentence, remark=_bounds(drawn, most), bound=bound)
    bound = f"less than {apart(most) if most > 1 + LIMIT else percent(LIMIT)}"
    small = "" if most > 1 + LIMIT else ": too small to matter"
    return replace(drawn, says="same", sentence=f"{who} differ by {bound}{small}", bound=bound)


def difference(
    ranked: MetricRanking, ranking: Ranking, summary: Summary, servers: tuple[str, str]
) -> tuple[str, str]:
    """Return by how much a server is ahead of another, and the interval; empty if unknown."""
    times, ends = interval_text(pair_ratio(ranking, *servers))
    first, second = map(short, servers)
    measurand, metric = summary.measurand(ranked), titled(ranked.metric, ranked.of)
    if measurand == RATE:
        return f"{first} serves {times} as many requests per second as {second}", ends
    if measurand == "response time":
        return f"{first} answers in {times} the time of {second} ({metric})", ends
    return f"{first} has {times} the {metric} of {second}", ends


def _bounds(drawn: Headline, most: float) -> str:
    """Return how far apart two servers are at most, each way; empty if others bound it, too."""
    speed = drawn.speed
    if speed is None or speed.interval is None:
        return ""
    low, high = speed.interval
    if not math.isclose(max(high, 1 / low), most, rel_tol=0.005):
        return ""
    ways = [
        f"{short(name)} is at most {figure(100 * (end - 1), 2)} % ahead"
        for name, end in ((drawn.first, high), (drawn.second, 1 / low))
        if end > 1
    ]
    return ", ".join(ways)
