"""Answers to questions: from the values of blocks, and from exact counts of failed requests."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from benchforge.model.suite.claim import Claim, Hypothesis
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.hodges_lehmann import companion, hodges_lehmann, ratio
from benchforge.stats.inference.interval import (
    Failures,
    exp,
    failing,
    resolved,
    t_of_values,
    typical,
    worst,
)
from benchforge.stats.inference.joint import simultaneous
from benchforge.stats.inference.region import (
    Region,
    decided,
    lies,
    needs,
    needs_of_ratio,
    of_differences,
    p_of,
    region,
)
from benchforge.stats.inference.stopping import BLOCKS, Stop, at_level, guarded
from benchforge.stats.verdict.blocks import Blocks
from benchforge.text.readable import exact, percent

LEVEL = 0.95
State = Literal["holds", "fails", "inconclusive"]
How = Literal["inside", "outside", "across", "same"]


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
    around: Region | None
    "Ratios that are the factor within the margin; None for an equality, and without a ratio."
    companion: Estimate | None = None
    equal: bool = False
    "True if both sides, or the side and the bound, are equal to the last bit in every block."
    stop: Stop = BLOCKS
    "Rule that may end the run."

    def at(self, error: float) -> Estimate:
        """Return the estimate with the interval of this error: 1 - its level."""
        return at_level(self.estimate, 1 - error, self.stop)

    def how(self, estimate: Estimate | None) -> How | None:
        """Return how an interval lies to `where`: `same` is across its end, but all of `around`."""
        if estimate is None or estimate.interval is None:
            return None
        how = lies(estimate.interval, self.where)
        within = self.around is not None and lies(estimate.interval, self.around) == "inside"
        return "same" if how == "across" and within else how


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


def weigh(claim: Claim, blocks: Blocks, stop: Stop = BLOCKS) -> Weighed:
    """Return the estimate of a question.

    Where a value has no logarithm, there is no ratio: `a > factor * b` is asked of the difference
    a - factor * b then.
    """
    question, around = claim.hypothesis, None
    where, equal = region(question), blocks.a == blocks.b
    if question.form == "value":
        estimate, companion_ = _alone(blocks.a, where)
        equal = all(value == question.bound for value in blocks.a)
    elif question.form == "ratio" and (
        question.relation == "==" or min((*blocks.a, *blocks.b)) > 0
    ):
        estimate = guarded(ratio(blocks.a, blocks.b, LEVEL), blocks.explained, stop)
        companion_ = companion(blocks.a, blocks.b, LEVEL)
        if question.relation != "==":
            factor, wide = question.bound, 1 + claim.margin
            around = Region(factor / wide, factor * wide)
    else:
        factor = question.bound if question.form == "ratio" else 1.0
        apart = [a - factor * b for a, b in zip(blocks.a, blocks.b, strict=True)]
        estimate = t_of_values(apart, "paired t of differences", LEVEL)
        companion_ = hodges_lehmann(apart, LEVEL, float)
        if question.form == "ratio":
            where = of_differences(where)
    estimate = estimate.model_copy(update={"p": p_of(estimate, where)})
    few = 2.0 ** -len(blocks.a) > (1 - LEVEL) / 2  # the chance that all signs are alike
    estimate = at_level(estimate, LEVEL, stop)
    return Weighed(estimate, where, around, None if few else companion_, equal, stop)


def ps_of(weighed: Weighed) -> Ps:
    """Return the p of both answers that a question may get, each by the nearest bound of it."""
    estimate, where, around = weighed.estimate, weighed.where, weighed.around
    if estimate.value is None or estimate.p is None:
        return Ps(None, None)
    apart = weighed.stop.p(estimate.p, estimate.n)
    if around is not None:
        same = p_of(estimate, around) if around.holds(estimate.value) else None
        return Ps(apart, None if same is None else weighed.stop.p(same, estimate.n))
    equality = len(where.ends) > 1 and where.holds(estimate.value)
    return Ps(None, apart) if equality else Ps(apart, None)


def both(weighed: Weighed, level: Weighed) -> Ps:
    """Return the p of answers that levelled values give, too: the larger one of each."""
    values = weighed.estimate.value, level.estimate.value
    if None in values or len({weighed.where.holds(value or 0.0) for value in values}) > 1:
        return Ps(None, None)
    of_claim, theirs = ps_of(weighed), ps_of(level)
    return Ps(_larger(of_claim.apart, theirs.apart), _larger(of_claim.same, theirs.same))


def _larger(p: float | None, other: float | None) -> float | None:
    return None if p is None or other is None else max(p, other)


def _alone(values: Sequence[float], where: Region) -> tuple[Estimate, Estimate]:
    """Return a typical value, and the same as no outlier can move it.

    It is the geometric mean where values and bounds have logarithms.
    """
    if min(values) > 0 and all(end > 0 for end in where.ends):
        return typical(values, LEVEL), hodges_lehmann([*map(math.log, values)], LEVEL)
    return t_of_values(values, "t of values", LEVEL), hodges_lehmann(values, LEVEL, float)


def answer(
    claim: Claim, weighed: Weighed, errors: IntervalErrors
) -> tuple[VerdictAnswer, Estimate]:
    """Return the answer to a question from three blocks on, and the interval that gives it.

    The same within the margin is no more and no less: then `>` fails, and `>=` holds.
    """
    question, alone = claim.hypothesis, weighed.estimate
    if alone.value is None or alone.interval is None:
        return _without_interval(question, weighed), alone
    apart = weighed.at(errors.apart)
    by, how = _decisive(weighed, apart, weighed.at(errors.same))
    if how == "across":
        reply = _bounded(claim, weighed, apart) or _undecided(claim, weighed, by)
    else:
        holds = how == "inside" or (how == "same" and question.relation in {">=", "<="})
        remark = "" if weighed.around is None else _by(claim, by, how)
        reply = VerdictAnswer("holds" if holds else "fails", remark=remark)
    robust = weighed.how(weighed.companion)
    fragile = None if robust is None else robust != weighed.how(alone)
    resolves = exp(resolved(by.sd, by.n, level=by.level)) if weighed.around and by.sd else None
    return reply._replace(fragile=fragile, resolves=resolves), by


def _decisive(weighed: Weighed, apart: Estimate, same: Estimate) -> tuple[Estimate, How | None]:
    """Return the interval that gives an answer, else the widest, and how it lies to the region."""
    how, equality = weighed.how(apart), len(weighed.where.ends) > 1
    if how == "outside" or (how == "inside" and not equality):
        return apart, how
    if weighed.around is None and not equality:
        return apart, how
    alike: How = "inside" if equality else "same"
    if weighed.how(same) == alike:
        return same, alike
    return max(apart, same, key=lambda estimate: estimate.level), "across"


def _bounded(claim: Claim, weighed: Weighed, apart: Estimate) -> VerdictAnswer | None:
    """Return the answer of a decision to a ratio that may be a little less or more."""
    question = claim.hypothesis
    if weighed.around is None or weighed.stop.method != "decision" or apart.interval is None:
        return None
    state = decided(question, claim.margin, apart.interval)
    less = "less" if question.relation in {">=", "<"} else "more"
    return state and VerdictAnswer(state, remark=f"not {less} by more than {percent(claim.margin)}")


_FAMILY = "one question alone would be answered, among so many it may be chance"


def _undecided(claim: Claim, weighed: Weighed, by: Estimate) -> VerdictAnswer:
    reason = "" if weighed.how(weighed.estimate) == "across" else _FAMILY
    needed = needs_of_ratio(by, claim.margin) if weighed.around else needs(by, weighed.where)
    return VerdictAnswer("inconclusive", reason, needed)


def _without_interval(question: Hypothesis, weighed: Weighed) -> VerdictAnswer:
    """Answer a question without an interval: only equality itself is an answer."""
    value, where = weighed.estimate.value, weighed.where
    if value is None or not weighed.equal:
        return VerdictAnswer("inconclusive", weighed.estimate.why)
    at_an_end = value in where and question.relation in {">=", "<=", "=="}
    state: State = "holds" if where.holds(value) or at_an_end else "fails"
    return VerdictAnswer(state, remark="equal to the last bit in every block")


def _by(claim: Claim, ratio: Estimate, how: How | None) -> str:
    """Return by how much a ratio is more or less than its factor, at least."""
    margin, factor = percent(claim.margin), claim.hypothesis.bound
    if how == "same":
        return f"the same within {margin}"
    value, (low, high) = ratio.value or factor, ratio.interval or (factor, factor)
    if abs(math.log(value / factor)) < math.log1p(claim.margin):
        return f"different, but below your margin of {margin}"
    least, (lowest, highest) = (low if value > factor else high) / factor, _IN_PERCENT
    return f"by {percent(abs(least - 1))} at least" if lowest < least < highest else ""


_IN_PERCENT = (0.5, 2.0)
"Ratios that percents are read of: the interval says the others."


APART = 0.001
"Largest difference of equal shares: the method allows it between sides of a comparison (E1)."


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
    sides = tuple(failing(failure, each) for failure in failures)
    where = region(question)
    of_ratio = question.form == "ratio"
    if question.relation != "==" or not of_ratio:
        where, factor = (of_differences(where), question.bound) if of_ratio else (where, 1.0)
        estimate = _apart(sides, factor, level)
        answer = _answer(estimate, where, factor, failures)
        unsure = of_ratio and answer.state == "inconclusive"
        if unsure and _same(estimate, factor, failures):
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
    highest = [worst(failure) or 0.0 for failure in failures]
    if len(highest) == 1:
        return tuple(highest)
    a, b = (failing(failure).value or 0.0 for failure in failures)
    return highest[0] - factor * b, a - factor * highest[1]


def _same(estimate: Estimate, factor: float, failures: Sequence[Failures]) -> bool:
    around = Region(-APART, APART)
    intervals = [estimate.interval, *((end, end) for end in _extremes(factor, failures))]
    return all(ends is not None and lies(ends, around) == "inside" for ends in intervals)
