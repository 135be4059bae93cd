"""What the numbers say to the claims of a suite."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchforge.model.suite.claim import Claim, ClaimInstance
from benchforge.model.summary.summary import Summary
from benchforge.model.summary.verdict import Estimate, Method, Objection, Verdict
from benchforge.stats.inference.holm import holm
from benchforge.stats.inference.interval import LEAST
from benchforge.stats.summary.groups import identity
from benchforge.stats.summary.level import may_be_it
from benchforge.stats.verdict.answer import LEVEL, VerdictAnswer, Weighed, answer, weigh
from benchforge.stats.verdict.blocks import Blocks, Cases, blocks_of
from benchforge.stats.verdict.objections import Sides, against, broken, spoiled
from benchforge.stats.verdict.sentence import VerdictContext, limits, sentence
from benchforge.stats.verdict.shares import shares
from benchforge.text.readable import counted

_METHODS: Mapping[str, Method] = {
    "ratio": "paired t of log-ratios",
    "difference": "paired t of differences",
    "value": "t of logs",
}
Family = tuple[str, str]
"A scenario and a metric: their questions are one family."


class _P(NamedTuple):
    """The p of a question in its family."""

    measured: float | None
    level: float | None
    "The same of levelled values."


class _Looked(NamedTuple):
    """A question with what there is to answer it."""

    claim: Claim
    instance: ClaimInstance
    sides: Sides
    of: Blocks
    against: tuple[Objection, ...]
    invalid: str
    "Reason why the data cannot be believed; empty if it can."
    weighed: Weighed | None
    "Estimate; None if the data is invalid, or if failures were counted."
    level: Weighed | None
    "The same as if others had left all CPUs to each side; where they disturbed none, as it is."

    @property
    def family(self) -> Family:
        return self.instance.a.case.scenario, self.claim.metric


def judged(summary: Summary) -> Summary:
    """Return a summary with the verdicts on its claims."""
    return summary.model_copy(update={"verdicts": judge(summary, summary.claims)})


def judge(summary: Summary, claims: Sequence[Claim]) -> tuple[Verdict, ...]:
    """Return the answer to each question of each claim, in their order; of a smoke none.

    Raises KeyError where a claim is about a case that the summary does not have.
    """
    if summary.smoke:
        return ()
    cases = {identity(case.case): case for case in summary.cases}
    looked = [
        _look(claim, instance, summary, cases) for claim in claims for instance in claim.instances
    ]
    sizes = Counter(question.family for question in looked)
    adjusted = _adjusted(looked)
    level = [question._replace(weighed=question.level) for question in looked]
    adjusted_level = _adjusted(level)
    return tuple(
        _verdict(
            question,
            _P(adjusted.get(number), adjusted_level.get(number)),
            sizes[question.family],
            summary,
        )
        for number, question in enumerate(looked)
    )


def _look(claim: Claim, instance: ClaimInstance, summary: Summary, cases: Cases) -> _Looked:
    of = blocks_of(claim, instance, cases)
    sides = Sides(
        tuple(cases[identity(case)] for case in instance.a.cases),
        tuple(cases[identity(case)] for case in (instance.b.cases if instance.b else ())),
    )
    objections = against(summary, sides, of.line)
    invalid = _invalid(of, sides, objections)
    counted = of.failures and of.line is not None and of.line.of_failures
    weighed = None if invalid or counted else weigh(claim.hypothesis, of)
    level = weigh(claim.hypothesis, of.levelled()) if weighed and of.disturbed else weighed
    return _Looked(claim, instance, sides, of, objections, invalid, weighed, level)


def _invalid(of: Blocks, sides: Sides, objections: Sequence[Objection]) -> str:
    """Return why nothing is to be believed: what was asked for broke, or too little is left."""
    if breach := broken(sides):
        return f"what is expected was broken: {breach}"
    if checks := spoiled(objections):
        return "; ".join(
            dict.fromkeys(f"{check.id} {check.name}: {check.message}" for check in checks)
        )
    if len(of.blocks) >= LEAST:
        return ""
    n = len(of.blocks)
    reasons = list(dict.fromkeys(rejected.why for rejected in of.rejected))
    why = f": {reasons[0]}" if reasons else ""
    left = len(reasons) - 1
    more = f" (and {counted(left, 'more reason')})" if left else ""
    have = "block has" if n == 1 else "blocks have"
    return f"{n or 'no'} {have} believed values, it takes {LEAST}{why}{more}"


def _adjusted(looked: Sequence[_Looked]) -> Mapping[int, float]:
    """Return the p of each question in its family; one without a p counts as one of 1."""
    families: dict[Family, list[int]] = {}
    for number, question in enumerate(looked):
        families.setdefault(question.family, []).append(number)
    adjusted: dict[int, float] = {}
    for numbers in families.values():
        own = [
            None if weighed is None else weighed.estimate.p
            for weighed in (looked[n].weighed for n in numbers)
        ]
        ps = holm([1.0 if p is None else p for p in own])
        adjusted |= {
            n: p for n, p, first in zip(numbers, ps, own, strict=True) if first is not None
        }
    return adjusted


def _verdict(question: _Looked, p: _P, family: int, summary: Summary) -> Verdict:
    estimate, sides, reply = _answered(question, p, family)
    if reply.state != "inconclusive" and question.of.bounded:
        why = (
            "of some blocks only a lower bound is known: without them it would be another question"
        )
        reply = reply._replace(state="inconclusive", why=why)
    ratio = estimate.method == "paired t of log-ratios"
    unit = question.of.line.unit if question.of.line is not None else "1"
    verdict = Verdict(
        claim=question.claim.label,
        at=question.instance.at,
        state="invalid" if question.invalid else reply.state,
        why=question.invalid or reply.why,
        unit="1" if ratio or sides else unit,
        estimate=estimate,
        sides=sides,
        robust=None if question.weighed is None else question.weighed.companion,
        fragile=reply.fragile,
        p_adjusted=p.measured,
        family_size=family,
        detectable_ratio=reply.resolves,
        blocks_needed=reply.needs,
        blocks=question.of.blocks,
        a=question.of.a,
        b=question.of.b,
        disturbed=question.of.disturbed,
        undisturbed=question.level.estimate
        if question.level is not None and question.of.disturbed
        else None,
        rejected_blocks=question.of.rejected,
        objections=question.against,
        limitations=limits(summary, question.sides),
        sentence="-",
    )
    context = VerdictContext(question.claim, question.instance, unit, reply.remark)
    return verdict.model_copy(
        update={"sentence": sentence(verdict, context, summary, question.sides)}
    )


def _answer(question: _Looked, weighed: Weighed, p: _P, family: int) -> VerdictAnswer:
    """Return the answer; where others disturbed blocks only one that levelled values give too."""
    reply = answer(question.claim, weighed, p.measured, family)
    if question.level is None or not question.of.disturbed:
        return reply
    reply = reply._replace(remark="")  # by how much is known beside those others alone
    if (
        reply.state == "inconclusive"
        or answer(question.claim, question.level, p.level, family).state == reply.state
    ):
        return reply
    return VerdictAnswer(
        "inconclusive", may_be_it(("a", "b"), question.of.mean_left), fragile=reply.fragile
    )


def _answered(
    question: _Looked, p: _P, family: int
) -> tuple[Estimate, tuple[Estimate, ...], VerdictAnswer]:
    if question.weighed is not None:
        return question.weighed.estimate, (), _answer(question, question.weighed, p, family)
    if question.invalid:
        none = Estimate(
            method=_METHODS[question.claim.hypothesis.form],
            level=LEVEL,
            n=len(question.of.blocks),
            why=question.invalid,
        )
        return none, (), VerdictAnswer("inconclusive")
    return shares(question.claim.hypothesis, question.of.failures, family)
