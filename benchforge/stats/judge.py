"""What the numbers say to the claims of a suite."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchforge.model.claim import Asked, Claim
from benchforge.model.summary import Summary
from benchforge.model.verdict import Against, Estimate, Method, Verdict
from benchforge.stats.against import Sides, against, broken, spoiled
from benchforge.stats.blocks import Blocks, Cases, blocks_of
from benchforge.stats.groups import identity
from benchforge.stats.interval import LEAST
from benchforge.stats.rank import holm
from benchforge.stats.sentence import Told, limits, sentence
from benchforge.stats.shares import shares
from benchforge.stats.weigh import LEVEL, Said, Weighed, answer, weigh

_FAILURES = ("error_rate", "errors")
"Metrics whose values are shares or numbers of failed requests."

_METHODS: Mapping[str, Method] = {
    "ratio": "paired t of log-ratios",
    "difference": "paired t of differences",
    "value": "t of logs",
}
Family = tuple[str, str]
"A scenario and a metric: their questions are one family."


class _Looked(NamedTuple):
    """A question with what there is to answer it."""

    claim: Claim
    asked: Asked
    sides: Sides
    of: Blocks
    against: tuple[Against, ...]
    invalid: str
    "Why nothing is to be believed; empty where it is."
    weighed: Weighed | None
    "None where it is invalid, or of failures that were counted."

    @property
    def family(self) -> Family:
        return self.asked.a.case.scenario, self.claim.metric


def judged(summary: Summary) -> Summary:
    """Return a summary with the verdicts on its claims."""
    return summary.model_copy(update={"verdicts": judge(summary, summary.claims)})


def judge(summary: Summary, claims: Sequence[Claim]) -> tuple[Verdict, ...]:
    """Return the answer to each question of each claim, in their order; of a smoke none.

    Raises KeyError where a claim is about a case that the summary does not have.
    """
    if summary.smoke:
        return ()
    cases = {identity(one.case): one for one in summary.cases}
    looked = [_look(claim, asked, summary, cases) for claim in claims for asked in claim.asked]
    sizes = Counter(one.family for one in looked)
    adjusted = _adjusted(looked)
    return tuple(
        _verdict(one, adjusted.get(number), sizes[one.family], summary)
        for number, one in enumerate(looked)
    )


def _look(claim: Claim, asked: Asked, summary: Summary, cases: Cases) -> _Looked:
    of = blocks_of(claim, asked, cases)
    sides = Sides(
        tuple(cases[identity(case)] for case in asked.a.cases),
        tuple(cases[identity(case)] for case in (asked.b.cases if asked.b else ())),
    )
    found = against(summary, sides, of.line)
    invalid = _invalid(of, sides, found)
    counted = of.failures and of.line is not None and of.line.use in _FAILURES
    weighed = None if invalid or counted else weigh(claim.question, of)
    return _Looked(claim, asked, sides, of, found, invalid, weighed)


def _invalid(of: Blocks, sides: Sides, found: Sequence[Against]) -> str:
    """Return why nothing is to be believed: what was asked for broke, or too little is left."""
    if said := broken(sides):
        return f"what is expected was broken: {said}"
    if checks := spoiled(found):
        return "; ".join(dict.fromkeys(f"{one.id} {one.name}: {one.says}" for one in checks))
    if len(of.blocks) >= LEAST:
        return ""
    n = len(of.blocks)
    reasons = list(dict.fromkeys(one.why for one in of.rejected))
    why = f": {reasons[0]}" if reasons else ""
    left = len(reasons) - 1
    more = f" (and {left} more reason{'s' if left > 1 else ''})" if left else ""
    have = "block has" if n == 1 else "blocks have"
    return f"{n or 'no'} {have} believed values, it takes {LEAST}{why}{more}"


def _adjusted(looked: Sequence[_Looked]) -> Mapping[int, float]:
    """Return the p of each question in its family; one without a p counts as one of 1."""
    families: dict[Family, list[int]] = {}
    for number, one in enumerate(looked):
        families.setdefault(one.family, []).append(number)
    found: dict[int, float] = {}
    for numbers in families.values():
        own = [
            None if one is None else one.estimate.p for one in (looked[n].weighed for n in numbers)
        ]
        ps = holm([1.0 if p is None else p for p in own])
        found |= {n: p for n, p, first in zip(numbers, ps, own, strict=True) if first is not None}
    return found


def _verdict(one: _Looked, p: float | None, family: int, summary: Summary) -> Verdict:
    estimate, sides, said = _answered(one, p, family)
    if said.state != "inconclusive" and one.of.bounded:
        why = (
            "of some blocks only a lower bound is known: without them it would be another question"
        )
        said = said._replace(state="inconclusive", why=why)
    ratio = estimate.method == "paired t of log-ratios"
    unit = one.of.line.unit if one.of.line is not None else "1"
    verdict = Verdict(
        claim=one.claim.label,
        at=one.asked.at,
        state="invalid" if one.invalid else said.state,
        why=one.invalid or said.why,
        unit="1" if ratio or sides else unit,
        estimate=estimate,
        sides=sides,
        companion=None if one.weighed is None else one.weighed.companion,
        fragile=said.fragile,
        p_adjusted=p,
        family=family,
        resolves=said.resolves,
        needs=said.needs,
        blocks=one.of.blocks,
        a=one.of.a,
        b=one.of.b,
        rejected=one.of.rejected,
        against=one.against,
        limits=limits(summary, one.sides),
        sentence="-",
    )
    told = Told(one.claim, one.asked, unit, said.remark)
    return verdict.model_copy(update={"sentence": sentence(verdict, told, summary, one.sides)})


def _answered(
    one: _Looked, p: float | None, family: int
) -> tuple[Estimate, tuple[Estimate, ...], Said]:
    if one.weighed is not None:
        return one.weighed.estimate, (), answer(one.claim, one.weighed, p, family)
    if one.invalid:
        none = Estimate(
            method=_METHODS[one.claim.question.form],
            level=LEVEL,
            n=len(one.of.blocks),
            why=one.invalid,
        )
        return none, (), Said("inconclusive")
    return shares(one.claim.question, one.of.failures, family)
