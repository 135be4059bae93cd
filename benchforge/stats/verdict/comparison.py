"""The one verdict on each comparison, from its cases, checks and rankings."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from benchforge.model.summary.ranking import MetricRanking, Ranking
from benchforge.model.summary.summary import CaseSummary, Comparison, MetricSummary, Summary
from benchforge.model.summary.verdict import CLOSE, ComparisonState, ComparisonVerdict, Objection
from benchforge.model.trial.check import Check
from benchforge.stats.verdict.objections import Sides, against, spoiled
from benchforge.text.readable import percent

_ADVICE = re.compile(r": (?=(?:[^']*'[^']*')*[^']*$)")
"Where the advice of a message begins: not within a text that it quotes."
IsGrave = Callable[[Check], bool]
"Tells whether a failed check makes the numbers of its trial invalid."
CROWDED = 0.05
"""Share of the CPUs from which on nobody may quote a ratio: others slow one server more than \
another, mostly through the load tool. Measured: docs/decisions/verdicts.md."""
# Upper end of the 95 % interval of the largest difference of three pairs, in 34 blocks each:
# docs/explanation/what-turns-gain.md, measured anew by benchmarks/turns_bias.py.
BIAS_IN_TURNS = (
    "ratios in turns may differ by up to 7 % from those of the same loads alone: aiohttp and Flask "
    "over 34 blocks, 95 % (explanation/what-turns-gain.md)"
)


def never(check: Check) -> bool:
    """Return that a check is not grave: for who has no limits of checks."""
    del check
    return False


def wrong_answers(case: CaseSummary, line: MetricSummary | None = None) -> Iterator[str]:
    """Yield how a server answered wrongly, in any attempt of its trials: expected and received.

    A question about failures has them as its value: `line` counts them. So does a search.
    """
    for trial in case.failed:
        if trial.failure.by_answer:
            yield trial.failure.message
    counted = case.capacity is not None or (line is not None and line.of_failures)
    for check in (finding.check for finding in case.findings):
        if check.wrong_answers and not (counted and check.topic == "failures"):
            yield f"{case.case.server}: {check.message}"


def unlike(objections: Iterable[Objection], is_grave: IsGrave) -> list[Check]:
    """Return the checks that say that the sides did other work than one another, or than asked."""
    return [
        objection.check
        for objection in objections
        if not objection.check.wrong_answers and _is_unlike(objection.check, is_grave)
    ]


def in_short(checks: Iterable[Check]) -> tuple[str, ...]:
    """Return the message of each check, without its advice, and its id; each text once."""
    texts = (f"{_ADVICE.split(check.message)[0]} ({check.id})" for check in checks)
    return tuple(dict.fromkeys(texts))


def _is_unlike(check: Check, is_grave: IsGrave) -> bool:
    if check.invalidates != "all" or check.of_noise or check.topic == "blocks":
        return False
    if check.of_work:
        return check.status in {"warn", "fail"}
    if check.status != "fail" or check.subject != "behaviour":
        return False
    return check.scope == "comparison" or is_grave(check)


class Moves(NamedTuple):
    """Shares by which findings may move the ratios of a comparison, at most."""

    by_id: Mapping[str, float] = {}
    "Size by the id of the check; without those that are unknown."
    together: float = 0.0
    "All of them: what several checks say of one cause counts once."
    others: float | None = 0.0
    "Share of the CPUs that other programs used in the trials of the side with most; None: unknown."


class ComparisonEvidence(NamedTuple):
    """All that decides about a comparison."""

    smoke: bool
    several: bool
    "True if at least two servers are compared."
    wrong: tuple[str, ...]
    "Wrong answers of servers that have numbers, a sentence each."
    missing: tuple[str, ...]
    "Reasons why servers have no number at all."
    unlike: tuple[str, ...]
    "Differences between the work of the servers."
    grave: tuple[str, ...]
    "Reasons why a server's numbers are not those of the work that the suite asks for."
    spoiled: tuple[str, ...]
    "Lasting faults of load tool and machine, because of which no number is believed."
    undecided: str
    "Reason why the numbers decide nothing; empty if they do."
    pairs: tuple[tuple[str, str], ...]
    believed: bool
    "True if each trial behind the levels is believed."
    timed: bool
    "True if the response times of each trial are believed."
    in_turns: bool
    works_on: bool
    "True if a server spends CPU time after its load that its responses caused."
    sizes: Mapping[str, float] = {}
    "Share by which each finding may move a ratio, by the id of its check."
    others: float | None = 0.0
    "Share of the CPUs that other programs used in the trials of a side; None if it is unknown."


def verdict_on(evidence: ComparisonEvidence) -> ComparisonVerdict:
    """Return the verdict: broken comes before unlike, and unlike before numbers."""
    state, reasons = _state(evidence)
    sound = state in {"decided", "undecided"} and not evidence.smoke
    faults = evidence.wrong or evidence.missing or evidence.grave or evidence.spoiled
    rates = evidence.believed and not (faults or evidence.in_turns or evidence.smoke)
    crowded = _crowded(evidence.others) if sound and evidence.several else ""
    quotable = sound and evidence.several and not crowded
    return ComparisonVerdict(
        state=state,
        reasons=reasons,
        pairs=evidence.pairs if sound else (),
        ratio=quotable and (state == "decided" or bool(evidence.pairs)),
        rates=rates,
        times=rates and evidence.timed,
        cpu=not evidence.works_on,
        sizes=dict(evidence.sizes),
        bias=BIAS_IN_TURNS if evidence.in_turns else "",
        crowded=crowded,
    )


def _crowded(others: float | None) -> str:
    if others is None:
        return "what other programs used of the CPUs is not known"
    return f"other programs used {percent(others)} of the CPUs" if others >= CROWDED else ""


def _state(evidence: ComparisonEvidence) -> tuple[ComparisonState, tuple[str, ...]]:
    if evidence.smoke:
        return "undecided", ("this was a smoke run",)
    if evidence.wrong:
        return "broken", evidence.wrong
    if evidence.missing:
        return "not comparable", evidence.missing
    faults = (*evidence.grave, *evidence.unlike, *evidence.spoiled)
    if faults and evidence.several:  # a server alone has its value, which nobody may quote
        return "not comparable", faults
    return ("undecided", (evidence.undecided,)) if evidence.undecided else ("decided", ())


def evidence_of(
    comparison: Comparison, summary: Summary, is_grave: IsGrave, moves: Moves
) -> ComparisonEvidence:
    """Return the evidence on a comparison.

    A server without any number is left out where two others have some. What findings may move a
    ratio by, together, widens each interval before it tells servers apart.
    """
    cases = summary.cases_of(comparison)
    measured = [case for case in cases if case.trials]
    silent = [case for case in cases if not case.trials]
    several = len(cases) > 1
    has_sides = len(measured) > 1 if several else bool(measured)
    ranked = summary.standing(comparison)
    lines = [case.line(ranked.metric, ranked.of) for case in cases] if ranked else []
    line = next(filter(None, lines), None)
    objections = against(summary, Sides(tuple(measured), ()), line)
    wrong = [text for case in (measured if has_sides else cases) for text in wrong_answers(case)]
    odd = unlike(objections, is_grave)
    faults = [check for check in spoiled(objections) if check not in odd and _lasts(check)]
    ranking, moved = None if ranked is None else ranked.ranking, moves.together
    return ComparisonEvidence(
        smoke=summary.smoke,
        several=several,
        wrong=tuple(dict.fromkeys(wrong)),
        missing=() if has_sides else tuple(dict.fromkeys(map(_without, silent))),
        unlike=in_short(check for check in odd if check.scope == "comparison"),
        grave=in_short(check for check in odd if check.scope != "comparison"),
        spoiled=in_short(faults),
        undecided=_undecided(cases, measured, ranked, moved) if several else "",
        pairs=() if ranking is None else _apart(ranking, ranking.differing, moved),
        believed=not any(case.used_doubts for case in cases),
        timed=not any(case.latency_doubted for case in cases),
        in_turns=any(case.in_turns for case in cases),
        works_on=any((it.status, it.invalidates) == ("fail", "cost") for it in comparison.checks),
        sizes=moves.by_id,
        others=moves.others,
    )


def _apart(
    ranking: Ranking, pairs: Iterable[tuple[str, str]], moved: float
) -> tuple[tuple[str, str], ...]:
    """Return the pairs that differ although findings may move their ratios by a share."""
    if not moved:
        return tuple(pairs)
    ends = {pair: ranking.pair(*pair).ratio.interval for pair in pairs}
    return tuple(
        pair
        for pair, interval in ends.items()
        if interval is not None and max(interval[0], 1 / interval[1]) > 1 + moved
    )


def _lasts(check: Check) -> bool:
    """Whether more blocks would not do without a fault of load tool or machine."""
    return not (check.transient or check.of_noise or check.topic in {"blocks", "placebo"})


def _without(case: CaseSummary) -> str:
    failed = case.failed
    return failed[-1].failure.message if failed else f"{case.case.server} has no trial"


def _undecided(
    cases: Sequence[CaseSummary],
    measured: Sequence[CaseSummary],
    ranked: MetricRanking | None,
    moved: float,
) -> str:
    """Return why the numbers decide nothing; empty if they decide."""
    if any(case.capacity is not None for case in cases):
        return _undecided_rates(cases, measured)
    if ranked is None:
        return "no metric ranks the servers"
    if ranked.ranking is None:
        return ranked.why
    if len(ranked.ranking.order) == 1:
        return f"only {ranked.ranking.order[0].server} has values that count"
    return _open(ranked.ranking, moved)


def _open(ranking: Ranking, moved: float) -> str:
    """Return why intervals decide nothing, once findings widen them by a share; empty if they do.

    Servers that no pair tells from the first may differ by less than matters.
    """
    tied = ranking.leaders
    pairs = [(tied[0], item.server) for item in ranking.order if item.server not in tied]
    share = percent(float(f"{moved:.2g}"))
    if len(tied) == 1:
        hidden = len(_apart(ranking, pairs, moved)) < len(pairs)
        return f"caveats of up to {share} are larger than the difference" if hidden else ""
    most = ranking.most_apart(tied)
    if most is None:
        return "no interval, so no difference is ruled out"
    if most >= CLOSE:
        return "the intervals allow a difference that matters"
    hidden = most * (1 + moved) >= CLOSE
    return f"caveats of up to {share} may hide a difference that matters" if hidden else ""


def _undecided_rates(cases: Sequence[CaseSummary], measured: Sequence[CaseSummary]) -> str:
    if not all(case.capacity is not None and case.capacity.answered for case in cases):
        return "a search found no rate"
    ends = sorted((case.capacity.ends for case in measured if case.capacity), reverse=True)
    apart = all(low > high for (low, _), (_, high) in pairwise(ends))
    return "" if apart else "the intervals have rates in common"
