"""Verdicts on the claims of a suite."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchforge.model.suite.claim import Claim, ClaimInstance
from benchforge.model.summary.summary import MetricSummary, Summary
from benchforge.model.summary.verdict import Estimate, Method, Objection, Verdict
from benchforge.model.trial.check import Check
from benchforge.model.values.case_name import identity
from benchforge.stats.inference.interval import LEAST
from benchforge.stats.inference.joint import PROCEDURES, bonferroni
from benchforge.stats.inference.stopping import BLOCKS, Stop, at_level
from benchforge.stats.summary.line import may_be_it
from benchforge.stats.verdict.answer import (
    LEVEL,
    IntervalErrors,
    Ps,
    Shares,
    VerdictAnswer,
    Weighed,
    answer,
    both,
    ps_of,
    shares,
    weigh,
)
from benchforge.stats.verdict.blocks import Blocks, Cases, blocks_of
from benchforge.stats.verdict.comparison import IsGrave, in_short, never, unlike, wrong_answers
from benchforge.stats.verdict.objections import Sides, against, spoiled
from benchforge.stats.verdict.sentence import VerdictContext, limits, sentence
from benchforge.text.readable import counted

_METHODS: Mapping[str, Method] = {
    "ratio": "paired t of log-ratios",
    "difference": "paired t of differences",
    "value": "t of logs",
}
Family = tuple[str, ...]
"Common key of a family's questions: empty, or a scenario and a metric."


class _Looked(NamedTuple):
    """A question with its values."""

    claim: Claim
    instance: ClaimInstance
    sides: Sides
    of: Blocks
    against: tuple[Objection, ...]
    invalid: str
    "Reason why the data cannot be believed; empty if it can."
    unlike: tuple[str, ...]
    "Ids of the checks that say that the sides did not do the same work."
    weighed: Weighed | None
    "Estimate; None if the data is invalid, or if failures were counted."
    level: Weighed | None
    "The same as if others had left all CPUs to each side; None where they disturbed none."

    @property
    def ps(self) -> Ps:
        """The p of both answers; None for one that the question cannot get."""
        if self.weighed is None or self.of.bounded:
            return Ps(None, None)
        if self.level is not None:
            return both(self.weighed, self.level)
        return ps_of(self.weighed)


def judged(summary: Summary, stop: Stop = BLOCKS, is_grave: IsGrave = never) -> Summary:
    """Return a summary with the verdicts on its claims, of a run that this may end."""
    verdicts = judge(summary, summary.claims, stop, is_grave)
    return summary.model_copy(update={"verdicts": verdicts})


def judge(
    summary: Summary, claims: Sequence[Claim], stop: Stop = BLOCKS, is_grave: IsGrave = never
) -> tuple[Verdict, ...]:
    """Return the answer to each question of each claim, in their order; of a smoke none.

    A side that is broken makes a claim invalid, and so do sides that are not comparable, unless
    the claim repeats a published comparison, whose differences are part of it. Where a decision
    may `stop` the run, all questions are one family and share its error evenly: whoever stops at
    any look errs as seldom as at one. Raises KeyError where a claim is about a case that the
    summary does not have.
    """
    if summary.smoke:
        return ()
    cases = {identity(case.case): case for case in summary.cases}
    looked = [
        _look(claim, instance, summary, cases, (stop, is_grave))
        for claim in claims
        for instance in claim.instances
    ]
    families: dict[Family, list[int]] = {}
    several = stop.method != "decision" and summary.verdict_rules.family == "scenario"
    for number, question in enumerate(looked):
        family = (question.instance.a.case.scenario, question.claim.metric) if several else ()
        families.setdefault(family, []).append(number)
    verdicts: dict[int, Verdict] = {}
    for numbers in families.values():
        questions = [looked[number] for number in numbers]
        together = _judged_together(questions, summary, stop)
        verdicts |= dict(zip(numbers, together, strict=True))
    return tuple(verdicts[number] for number in range(len(looked)))


def _judged_together(questions: Sequence[_Looked], summary: Summary, stop: Stop) -> list[Verdict]:
    """Return the verdicts on one family. A question without a p counts as one whose p is 1."""
    decides, size = stop.method == "decision", len(questions)
    error = stop.error if decides else 1 - LEVEL
    counts = [_counted(question, 1 - error / size) for question in questions]
    ps = [question.ps for question in questions]
    for index, count in enumerate(counts):
        if count is not None:  # an answer by Bonferroni's intervals counts with their error
            answers = count.answer.state != "inconclusive"
            ps[index] = Ps(error / size if answers else None, None)
    procedure = bonferroni if decides else PROCEDURES[summary.verdict_rules.correction]
    apart = procedure([1.0 if p.apart is None else p.apart for p in ps], error)
    same = procedure([1.0 if p.same is None else p.same for p in ps], error)
    errors = IntervalErrors(apart.error, same.error)
    adjusted = [
        None if count else alike if p.apart is None and p.same is not None else differ
        for count, p, differ, alike in zip(counts, ps, apart.adjusted, same.adjusted, strict=True)
    ]
    return [
        _verdict(question, count, errors, size, p, summary)
        for question, count, p in zip(questions, counts, adjusted, strict=True)
    ]


def _counted(question: _Looked, level: float) -> Shares | None:
    """Return the answer to a question about shares of failures, by intervals of this level."""
    if question.weighed is not None or question.invalid:
        return None
    return shares(question.claim.hypothesis, question.of.failures, level)


def _look(
    claim: Claim,
    instance: ClaimInstance,
    summary: Summary,
    cases: Cases,
    rules: tuple[Stop, IsGrave],
) -> _Looked:
    stop, is_grave = rules
    blocks = blocks_of(claim, instance, cases)
    sides = Sides(
        tuple(cases[identity(case)] for case in instance.a.cases),
        tuple(cases[identity(case)] for case in (instance.b.cases if instance.b else ())),
    )
    objections = against(summary, sides, blocks.line)
    odd = unlike(objections, is_grave) if sides.b else []
    strange = odd if claim.published is None else []
    faults = (f"{check.id} {check.name}: {check.message}" for check in spoiled(objections))
    spoilt = "; ".join(dict.fromkeys(faults))
    invalid = _broken(sides, blocks.line) or spoilt or _unlike(strange) or _few(blocks)
    counted = blocks.failures and blocks.line is not None and blocks.line.of_failures
    weighed = None if invalid or counted else weigh(claim, blocks, stop)
    level = None
    if weighed and blocks.disturbed:
        level = weigh(claim, blocks.levelled(), stop)
    ids = tuple(dict.fromkeys(check.id for check in odd))
    return _Looked(claim, instance, sides, blocks, objections, invalid, ids, weighed, level)


def _broken(sides: Sides, line: MetricSummary | None) -> str:
    texts = dict.fromkeys(text for case in sides.all for text in wrong_answers(case, line))
    return f"broken: {next(iter(texts))}" if texts else ""


def _unlike(checks: Sequence[Check]) -> str:
    return f"its sides are not comparable: {'; '.join(in_short(checks))}" if checks else ""


def _few(blocks: Blocks) -> str:
    """Return that too few blocks are left; empty if they are enough."""
    if len(blocks.blocks) >= LEAST:
        return ""
    n = len(blocks.blocks)
    reasons = list(dict.fromkeys(rejected.why for rejected in blocks.rejected))
    reason = f": {reasons[0]}" if reasons else ""
    remaining = len(reasons) - 1
    more = f" (and {counted(remaining, 'more reason')})" if remaining > 0 else ""
    have = "block has" if n == 1 else "blocks have"
    return f"{n or 'no'} {have} believed values, it takes {LEAST}{reason}{more}"


def _verdict(
    question: _Looked,
    count: Shares | None,
    errors: IntervalErrors,
    size: int,
    p_adjusted: float | None,
    summary: Summary,
) -> Verdict:
    estimate, reply = _answered(question, count, errors)
    sides = () if count is None else count.sides
    if reply.state != "inconclusive" and question.of.bounded:
        reason = "of some blocks only a lower bound is known"
        reason += ": without them it would be another question"
        reply = reply._replace(state="inconclusive", why=reason)
    ratio = estimate.method == "paired t of log-ratios"
    unit = question.of.line.unit if question.of.line is not None else "1"
    level = question.level
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
        p_adjusted=None if estimate.p is None else p_adjusted,
        family_size=size,
        detectable_ratio=reply.resolves,
        blocks_needed=reply.needs,
        blocks=question.of.blocks,
        a=question.of.a,
        b=question.of.b,
        disturbed=question.of.disturbed,
        undisturbed=None if level is None else at_level(level.estimate, estimate.level, level.stop),
        rejected_blocks=question.of.rejected,
        objections=question.against,
        unlike=question.unlike,
        limitations=limits(summary, question.sides),
        sentence="-",
    )
    context = VerdictContext(question.claim, question.instance, unit, reply.remark)
    text = sentence(verdict, context, summary, question.sides)
    return verdict.model_copy(update={"sentence": text})


def _answered(
    question: _Looked, count: Shares | None, errors: IntervalErrors
) -> tuple[Estimate, VerdictAnswer]:
    if count is not None:
        return count.estimate, count.answer
    if question.weighed is not None:
        return _answer(question, question.weighed, errors)
    n, method = len(question.of.blocks), _METHODS[question.claim.hypothesis.form]
    none = Estimate(method=method, level=LEVEL, n=n, why=question.invalid)
    return none, VerdictAnswer("inconclusive")


def _answer(
    question: _Looked, weighed: Weighed, errors: IntervalErrors
) -> tuple[Estimate, VerdictAnswer]:
    """Return the answer; where others disturbed blocks only one that levelled values give too."""
    reply, estimate = answer(question.claim, weighed, errors)
    if question.level is None:
        return estimate, reply
    reply = reply._replace(remark="")  # by how much is known beside those others alone
    level, _ = answer(question.claim, question.level, errors)
    if reply.state in {"inconclusive", level.state}:
        return estimate, reply
    reason = may_be_it(("a", "b"), question.of.mean_left)
    return estimate, VerdictAnswer("inconclusive", reason, fragile=reply.fragile)
