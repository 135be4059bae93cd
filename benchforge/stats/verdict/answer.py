"""What the numbers say to a question, before the other questions of its family are looked at."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from benchforge.model.suite.claim import Claim, Hypothesis, Relation
from benchforge.model.summary.verdict import Estimate, RatioDecision
from benchforge.stats.inference.decide import decide
from benchforge.stats.inference.hodges_lehmann import hodges_lehmann, of_values, outside
from benchforge.stats.inference.interval import typical
from benchforge.stats.inference.ratio import companion, ratio
from benchforge.stats.inference.region import Region, lies, needs, p_of, region
from benchforge.stats.inference.t_interval import t_of_values
from benchforge.stats.verdict.blocks import Blocks
from benchforge.text.readable import percent

LEVEL = 0.95
State = Literal["holds", "fails", "inconclusive"]


class VerdictAnswer(NamedTuple):
    """An answer, and why it is none."""

    state: State
    why: str = ""
    needs: int | None = None
    remark: str = ""
    "Remark on the size of a difference."
    fragile: bool | None = None
    resolves: float | None = None


class Weighed(NamedTuple):
    """The estimate that a question asks for, with the p of its nearest bound."""

    estimate: Estimate
    where: Region
    "Region in which the answer is yes."
    companion: Estimate | None = None
    equal: bool = False
    "True if both sides, or the side and the bound, are equal to the last bit in every block."


def weigh(question: Hypothesis, of: Blocks) -> Weighed:
    """Return the estimate of a question.

    Where a value has no logarithm, there is no ratio: `a > factor * b` is asked of the difference
    a - factor * b then.
    """
    where, equal = region(question), of.a == of.b
    if question.form == "value":
        estimate, beside = _alone(of.a, where)
        equal = all(value == question.bound for value in of.a)
    elif question.form == "ratio" and (question.relation == "==" or min((*of.a, *of.b)) > 0):
        estimate, beside = ratio(of.a, of.b, LEVEL), companion(of.a, of.b, LEVEL)
    else:
        factor = question.bound if question.form == "ratio" else 1.0
        apart = [a - factor * b for a, b in zip(of.a, of.b, strict=True)]
        estimate = t_of_values(apart, "paired t of differences", LEVEL)
        beside = of_values(apart, LEVEL)
        if question.form == "ratio":
            where = Region(0, math.inf) if where.low > -math.inf else Region(-math.inf, 0)
    estimate = estimate.model_copy(update={"p": p_of(estimate, where)})
    few = outside(len(of.a), LEVEL) is None
    return Weighed(estimate, where, None if few else beside, equal)


def _alone(values: Sequence[float], where: Region) -> tuple[Estimate, Estimate]:
    """Return a typical value, and the same as no outlier can move it.

    It is the geometric mean where values and bounds have logarithms.
    """
    if min(values) > 0 and all(end > 0 for end in where.ends):
        return typical(values, LEVEL), hodges_lehmann([*map(math.log, values)], LEVEL)
    return t_of_values(values, "t of values", LEVEL), of_values(values, LEVEL)


def answer(claim: Claim, of: Weighed, p_adjusted: float | None, family: int = 1) -> VerdictAnswer:
    """Return the answer to one of `family` questions, from three blocks on."""
    question, estimate, where = claim.hypothesis, of.estimate, of.where
    if estimate.value is None or estimate.interval is None:
        return _without_interval(question, of)
    if estimate.method == "paired t of log-ratios" and question.relation != "==":
        return _of_ratio(claim, of, p_adjusted, family)
    how = lies(estimate.interval, where)
    fragile = _otherwise(of.companion, where, how)
    if how == "across":
        return VerdictAnswer("inconclusive", needs=needs(estimate, where), fragile=fragile)
    if not _significant(p_adjusted):
        return VerdictAnswer("inconclusive", _FAMILY, fragile=fragile)
    return VerdictAnswer("holds" if how == "inside" else "fails", fragile=fragile)


def _without_interval(question: Hypothesis, of: Weighed) -> VerdictAnswer:
    """Answer what has no interval: only where the equality itself is the answer."""
    value, where = of.estimate.value, of.where
    if value is None or not of.equal:
        return VerdictAnswer("inconclusive", of.estimate.why)
    at_an_end = value in where and question.relation in {">=", "<=", "=="}
    inside = where.low < value < where.high or at_an_end
    return VerdictAnswer(
        "holds" if inside else "fails", remark="equal to the last bit in every block"
    )


_FAMILY = "one question alone would be answered, among so many it may be chance"


def _significant(p: float | None) -> bool:
    return p is not None and p < 1 - LEVEL


def _otherwise(beside: Estimate | None, where: Region, how: str) -> bool | None:
    if beside is None or beside.interval is None:
        return None
    return lies(beside.interval, where) != how


def _of_ratio(claim: Claim, of: Weighed, p_adjusted: float | None, family: int) -> VerdictAnswer:
    """Answer `a > factor * b` and its like: as a ratio decides that is divided by the factor.

    The same within the margin is no more and no less: then `>` fails, and `>=` holds.
    """
    question, factor = claim.hypothesis, claim.hypothesis.bound
    estimate = _divided(of.estimate, factor)
    beside = None if of.companion is None else _divided(of.companion, factor)
    decided = decide(estimate, beside, margin=claim.margin, p_adjusted=p_adjusted, family=family)
    return _as_answer(decided, question.relation, claim.margin)._replace(
        needs=decided.blocks_needed, fragile=decided.fragile, resolves=decided.detectable_ratio
    )


def _as_answer(decided: RatioDecision, relation: Relation, margin: float) -> VerdictAnswer:
    if decided.state == "inconclusive":
        alone = decide(decided.ratio, margin=margin)
        return VerdictAnswer("inconclusive", "" if alone.state == "inconclusive" else _FAMILY)
    if decided.state == "same":
        holds = relation in {">=", "<="}
        return VerdictAnswer(
            "holds" if holds else "fails", remark=f"the same within {percent(margin)}"
        )
    holds = (decided.state == "faster") == (relation in {">", ">="})
    return VerdictAnswer("holds" if holds else "fails", remark=_by(decided, margin))


def _by(decided: RatioDecision, margin: float) -> str:
    value = decided.ratio.value or 1.0
    if abs(math.log(value)) < math.log1p(margin):
        return f"different, but below your margin of {percent(margin)}"
    least = decided.at_least
    if least is None or not _IN_PERCENT[0] < least < _IN_PERCENT[1]:
        return ""
    return f"by {percent(abs(least - 1))} at least"


_IN_PERCENT = (0.5, 2.0)
"Ratios that percents are read of: the interval says the others."


def _divided(estimate: Estimate, factor: float) -> Estimate:
    ends = {name: getattr(estimate, name) for name in ("value", "low", "high")}
    divided = {name: None if end is None else end / factor for name, end in ends.items()}
    return estimate.model_copy(update=divided)
