"""Shares of requests that failed, compared by exact counts: the best share is 0."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from benchforge.model.suite.claim import Hypothesis
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.interval import failing, worst
from benchforge.stats.inference.joint import simultaneous
from benchforge.stats.inference.region import Region, lies, region
from benchforge.stats.verdict.answer import VerdictAnswer
from benchforge.text.readable import exact

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
        where = Region(0, math.inf) if where.low > -math.inf else Region(-math.inf, 0)
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
