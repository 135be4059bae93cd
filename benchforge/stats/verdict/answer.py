"""Answers to questions: from the values of blocks, and from exact counts of failed requests."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, Self

from benchforge.model.suite.claim import Claim, Hypothesis, Relation
from benchforge.model.summary.verdict import Estimate, RatioDecision
from benchforge.stats.inference.hodges_lehmann import companion, hodges_lehmann, of_values, ratio
from benchforge.stats.inference.interval import failing, t_of_values, typical, worst
from benchforge.stats.inference.joint import simultaneous
from benchforge.stats.inference.region import (
    Region,
    decide,
    decided,
    lies,
    needs,
    of_differences,
    p_of,
    region,
)
from benchforge.stats.inference.stopping import BLOCKS, Stop, at_level, guarded
from benchforge.stats.verdict.blocks import Blocks
from benchforge.text.readable import exact, percent

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
    "Estimate with the interval of this question alone."
    where: Region
    "Region in which the answer is yes."
    companion: Estimate | None = None
    equal: bool = False
    "True if both sides, or the side and the bound, are equal to the last bit in every block."
    stop: Stop = BLOCKS
    "Rule that may end the run."

    def at(self, error: float) -> Self:
        """Return it with the interval of this error: 1 - its level."""
        return self._replace(estimate=at_level(self.estimate, 1 - error, self.stop))


class IntervalErrors(NamedTuple):
    """The error of intervals that show a difference, and of those that show an equality.

    Each is a family of its own: of one question at most one of the two answers can be false, so
    the errors of both together are those of one family.
    """

    apart: float
    same: float


class Ps(NamedTuple):
    """The p of each answer, were it false; None for one that a question cannot get."""

    apart: float | None
    same: float | None


def weigh(question: Hypothesis, blocks: Blocks, stop: Stop = BLOCKS) -> Weighed:
    """Return the estimate of a question.

    Where a value has no logarithm, there is no ratio: `a > factor * b` is asked of the difference
    a - factor * b then.
    """
    where, equal = region(question), blocks.a == blocks.b
    if question.form == "value":
        estimate, companion_ = _alone(blocks.a, where)
        equal = all(value == question.bound for value in blocks.a)
    elif question.form == "ratio" and (
        question.relation == "==" or min((*blocks.a, *blocks.b)) > 0
    ):
        estimate = guarded(ratio(blocks.a, blocks.b, LEVEL), blocks.explained, stop)
        companion_ = companion(blocks.a, blocks.b, LEVEL)
    else:
        factor = question.bound if question.form == "ratio" else 1.0
        apart = [a - factor * b for a, b in zip(blocks.a, blocks.b, strict=True)]
        estimate = t_of_values(apart, "paired t of differences", LEVEL)
        companion_ = of_values(apart, LEVEL)
        if question.form == "ratio":
            where = of_differences(where)
    estimate = estimate.model_copy(update={"p": p_of(estimate, where)})
    few = 2.0 ** -len(blocks.a) > (1 - LEVEL) / 2  # the chance that all signs are alike
    return Weighed(estimate, where, None if few else companion_, equal, stop).at(1 - LEVEL)


def ps_of(claim: Claim, weighed: Weighed) -> Ps:
    """Return the p of both answers that a question may get, each by the nearest bound of it."""
    estimate, where = weighed.estimate, weighed.where
    if estimate.value is None or estimate.p is None:
        return Ps(None, None)
    apart = weighed.stop.p(estimate.p, estimate.n)
    if _has_margin(claim, weighed):
        around = _around(claim)
        same = p_of(estimate, around) if around.holds(estimate.value) else None
        return Ps(apart, None if same is None else weighed.stop.p(same, estimate.n))
    equality = len(where.ends) > 1 and where.holds(estimate.value)
    return Ps(None, apart) if equality else Ps(apart, None)


def both(claim: Claim, weighed: Weighed, level: Weighed) -> Ps:
    """Return the p of answers that levelled values give, too: the larger one of each."""
    values = weighed.estimate.value, level.estimate.value
    if None in values or len({weighed.where.holds(value or 0.0) for value in values}) > 1:
        return Ps(None, None)
    of_claim, theirs = ps_of(claim, weighed), ps_of(claim, level)
    return Ps(_larger(of_claim.apart, theirs.apart), _larger(of_claim.same, theirs.same))


def _larger(p: float | None, other: float | None) -> float | None:
    return None if p is None or other is None else max(p, other)


def _has_margin(claim: Claim, weighed: Weighed) -> bool:
    ratio = weighed.estimate.method == "paired t of log-ratios"
    return ratio and claim.hypothesis.relation != "=="


def _around(claim: Claim) -> Region:
    """Return the values that are the same as the factor of a claim, within its margin."""
    factor, wide = claim.hypothesis.bound, 1 + claim.margin
    return Region(factor / wide, factor * wide)


def _alone(values: Sequence[float], where: Region) -> tuple[Estimate, Estimate]:
    """Return a typical value, and the same as no outlier can move it.

    It is the geometric mean where values and bounds have logarithms.
    """
    if min(values) > 0 and all(end > 0 for end in where.ends):
        return typical(values, LEVEL), hodges_lehmann([*map(math.log, values)], LEVEL)
    return t_of_values(values, "t of values", LEVEL), of_values(values, LEVEL)


def answer(
    claim: Claim, weighed: Weighed, errors: IntervalErrors
) -> tuple[VerdictAnswer, Estimate]:
    """Return the answer to a question from three blocks on, and the interval that gives it."""
    question, apart, same = claim.hypothesis, weighed.at(errors.apart), weighed.at(errors.same)
    if weighed.estimate.value is None or weighed.estimate.interval is None:
        return _without_interval(question, weighed), weighed.estimate
    if _has_margin(claim, weighed):
        return _of_ratio(claim, weighed, apart.estimate, same.estimate)
    how = lies(weighed.estimate.interval, weighed.where)
    fragile = _otherwise(weighed.companion, weighed.where, how)
    by, state = _of_region(weighed.where, apart.estimate, same.estimate)
    if state != "across":
        return VerdictAnswer("holds" if state == "inside" else "fails", fragile=fragile), by
    reason = "" if how == "across" else _FAMILY
    needed = needs(by, weighed.where)
    return VerdictAnswer("inconclusive", reason, needs=needed, fragile=fragile), by


def _of_region(where: Region, apart: Estimate, same: Estimate) -> tuple[Estimate, str]:
    """Return the interval that gives an answer, else the widest, and how it lies to the region."""
    how = lies(apart.interval, where) if apart.interval else "across"
    if len(where.ends) == 1 or how == "outside":
        return apart, how
    if same.interval and lies(same.interval, where) == "inside":
        return same, "inside"
    return max(apart, same, key=lambda estimate: estimate.level), "across"


def _without_interval(question: Hypothesis, weighed: Weighed) -> VerdictAnswer:
    """Answer a question without an interval: only equality itself is an answer."""
    value, where = weighed.estimate.value, weighed.where
    if value is None or not weighed.equal:
        return VerdictAnswer("inconclusive", weighed.estimate.why)
    at_an_end = value in where and question.relation in {">=", "<=", "=="}
    state: State = "holds" if where.holds(value) or at_an_end else "fails"
    return VerdictAnswer(state, remark="equal to the last bit in every block")


_FAMILY = "one question alone would be answered, among so many it may be chance"


def _otherwise(companion_: Estimate | None, where: Region, how: str) -> bool | None:
    if companion_ is None or companion_.interval is None:
        return None
    return lies(companion_.interval, where) != how


def _of_ratio(
    claim: Claim, weighed: Weighed, apart: Estimate, same: Estimate
) -> tuple[VerdictAnswer, Estimate]:
    """Answer `a > factor * b` and its like: as a ratio decides that is divided by the factor.

    The same within the margin is no more and no less: then `>` fails, and `>=` holds.
    """
    question, margin, factor = claim.hypothesis, claim.margin, claim.hypothesis.bound
    apart_by, same_by = _divided(apart, factor), _divided(same, factor)
    alone_by = _divided(weighed.estimate, factor)
    companion_ = None if weighed.companion is None else _divided(weighed.companion, factor)
    decision = decide(apart_by, margin=margin, for_same=same_by)
    alone = decide(alone_by, companion_, margin=margin)
    reply = _as_answer(decision, alone, question.relation)
    bounded = decided(question, margin, apart.interval) if apart.interval else None
    if weighed.stop.method == "decision" and reply.state == "inconclusive" and bounded:
        less = "less" if question.relation in {">=", "<"} else "more"
        reply = VerdictAnswer(bounded, remark=f"not {less} by more than {percent(margin)}")
    needed = decision.blocks_needed if reply.state == "inconclusive" else None
    reply = reply._replace(needs=needed, fragile=alone.fragile, resolves=decision.detectable_ratio)
    return reply, same if decision.ratio is same_by else apart


def _as_answer(decided: RatioDecision, alone: RatioDecision, relation: Relation) -> VerdictAnswer:
    if decided.state == "inconclusive":
        return VerdictAnswer("inconclusive", "" if alone.state == "inconclusive" else _FAMILY)
    margin = decided.margin
    if decided.state == "same":
        same: State = "holds" if relation in {">=", "<="} else "fails"
        return VerdictAnswer(same, remark=f"the same within {percent(margin)}")
    holds = (decided.state == "faster") == (relation in {">", ">="})
    return VerdictAnswer("holds" if holds else "fails", remark=_by(decided, margin))


def _by(decided: RatioDecision, margin: float) -> str:
    if abs(math.log(decided.ratio.value or 1.0)) < math.log1p(margin):
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


APART = 0.001
"Largest difference of equal shares: the method allows it between sides of a comparison (E1)."

Failures = Sequence[tuple[int, int]]
"One of each block: how many failed, of how many requests."


class Shares(NamedTuple):
    """The answer to a question about shares, and its estimates."""

    estimate: Estimate
    "Estimate of a - factor * b, or of a alone."
    sides: tuple[Estimate, ...]
    answer: VerdictAnswer


def shares(question: Hypothesis, failures: Sequence[Failures], level: float) -> Shares:
    """Return the answer to a question about shares of failed requests, at this level.

    The interval of each side is that of Clopper and Pearson; those of both hold together. They
    take requests as independent, which failures in bursts are not: so the worst trial has to say
    the same.
    """
    each = simultaneous(level, len(failures))
    sides = tuple(failing(*_counts(failure), each) for failure in failures)
    where = region(question)
    if question.form != "ratio":
        estimate = _apart(sides, 1.0, level)
        return Shares(estimate, sides, _answer(estimate, where, 1.0, failures))
    if question.relation != "==":
        where = of_differences(where)
        estimate = _apart(sides, question.bound, level)
        answer = _answer(estimate, where, question.bound, failures)
        if answer.state == "inconclusive" and _same(estimate, question.bound, failures):
            holds = question.relation in {">=", "<="}
            remark = f"less than {exact(100 * APART)} points apart"
            answer = VerdictAnswer("holds" if holds else "fails", remark=remark)
        return Shares(estimate, sides, answer)
    below = _answer(_apart(sides, where.high, level), Region(-math.inf, 0), where.high, failures)
    higher = _answer(_apart(sides, where.low, level), Region(0, math.inf), where.low, failures)
    answer = next((answer for answer in (below, higher) if answer.state != "holds"), below)
    if "fails" in {below.state, higher.state}:
        answer = VerdictAnswer("fails")
    return Shares(_apart(sides, question.bound, level), sides, answer)


def _counts(failures: Failures) -> tuple[list[int], list[int]]:
    return [failed for failed, _ in failures], [requests for _, requests in failures]


def _apart(sides: Sequence[Estimate], factor: float, level: float) -> Estimate:
    """Return the first share, or how much it is above factor times the second."""
    if len(sides) == 1:
        return sides[0].model_copy(update={"level": level})
    a, b = sides
    n = a.n + b.n
    if a.value is None or b.value is None or a.interval is None or b.interval is None:
        return Estimate(method="Clopper-Pearson", level=level, n=n, why="one side had no request")
    return Estimate(
        method="Clopper-Pearson",
        level=level,
        n=n,
        value=a.value - factor * b.value,
        low=a.interval[0] - factor * b.interval[1],
        high=a.interval[1] - factor * b.interval[0],
    )


def _answer(
    estimate: Estimate, where: Region, factor: float, failures: Sequence[Failures]
) -> VerdictAnswer:
    if estimate.interval is None or estimate.value is None:
        return VerdictAnswer("inconclusive", estimate.why)
    how = lies(estimate.interval, where)
    if how == "across":
        return VerdictAnswer("inconclusive", "it takes more requests to tell")
    state = VerdictAnswer("holds" if how == "inside" else "fails")
    extremes = _extremes(factor, failures)
    if all(lies((extreme, extreme), where) == how for extreme in extremes):
        return state
    reason = "all requests together tell it, the worst trial says otherwise"
    return VerdictAnswer("inconclusive", reason)


def _extremes(factor: float, failures: Sequence[Failures]) -> tuple[float, ...]:
    """Return the extreme values, if each side as a whole were as its worst trial."""
    highest = [worst(*_counts(failure)) or 0.0 for failure in failures]
    if len(highest) == 1:
        return tuple(highest)
    a, b = (failing(*_counts(failure)).value or 0.0 for failure in failures)
    return highest[0] - factor * b, a - factor * highest[1]


def _same(estimate: Estimate, factor: float, failures: Sequence[Failures]) -> bool:
    around = Region(-APART, APART)
    intervals = [estimate.interval, *((end, end) for end in _extremes(factor, failures))]
    return all(ends is not None and lies(ends, around) == "inside" for ends in intervals)
