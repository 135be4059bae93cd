"""Answers while a run goes on, with intervals that hold at all looks together.

A stop once an interval of 95 % excludes a bound, after any block, finds a false difference in 17 to
25 % of runs. These intervals are wider, so that a stop at any of them errs in 5 % at most.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from benchforge.model.summary.summary import Comparison, Summary
from benchforge.model.summary.verdict import Estimate, Verdict
from benchforge.model.values.units import titled
from benchforge.stats.inference.region import Region, lies
from benchforge.text.readable import listed

State = Literal["holds", "fails", "open", "differ"]
_STATES: dict[str, State] = {"holds": "holds", "fails": "fails"}
_VERBS = {"holds": "hold", "fails": "fail", "differ": "differ", "open": "are undecided"}


class InterimAnswer(NamedTuple):
    """The answer so far to a claim, or about two servers of a comparison."""

    about: str
    state: State
    estimate: Estimate
    unit: str


def in_short(answers: Sequence[InterimAnswer]) -> str:
    """For a person, in a line: of 10 questions: 2 hold so far (C1, C2), 8 are undecided."""
    parts: list[str] = []
    for state, verb in _VERBS.items():
        labels = [answer_.about for answer_ in answers if answer_.state == state]
        if not labels:
            continue
        soon, names = "" if parts else " so far", f" ({listed(labels)})"
        parts.append(f"{len(labels)} {verb}{soon}{names if state != 'open' else ''}")
    return f"of {len(answers)} questions: {', '.join(parts)}"


def interim(summary: Summary) -> Iterator[InterimAnswer]:
    """Yield the answer to each claim so far; without claims, to each comparison.

    The verdicts and ranks of the summary have to hold while the run goes on (`Stop`).
    """
    yield from map(_of_claim, summary.verdicts)
    if not summary.claims:
        for comparison in summary.comparisons:
            yield from _of_comparison(comparison)


def _of_claim(verdict: Verdict) -> InterimAnswer:
    position = ", ".join(f"{axis} {value}" for axis, value in verdict.at.items())
    about = f"{verdict.claim} ({position})" if position else verdict.claim
    state = _STATES.get(verdict.state, "open")
    return InterimAnswer(about, state, verdict.estimate, verdict.unit)


def _of_comparison(comparison: Comparison) -> Iterator[InterimAnswer]:
    """Yield the best server and each other by the first metric: that it is the best is chance, too.

    The intervals hold for all pairs.
    """
    ranked = next((ranking for ranking in comparison.rankings if ranking.ranking is not None), None)
    if ranked is None or ranked.ranking is None or len(ranked.ranking.order) <= 1:
        return
    best, *others = (ranked_server.server for ranked_server in ranked.ranking.order)
    where = f"{comparison.scenario}, {titled(ranked.metric, ranked.of)}: " * (len(others) == 1)
    for other in others:
        estimate = ranked.ranking.pair(best, other).simultaneous
        ends = estimate.interval
        apart = ends is not None and lies(ends, Region(1, 1)) == "outside"
        state: Literal["differ", "open"] = "differ" if apart else "open"
        yield InterimAnswer(f"{where}{best} / {other}", state, estimate, "1")
