"""Shares of requests that failed, compared by exact counts: the best share is 0."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from benchforge.model.claim import Question
from benchforge.model.verdict import Estimate
from benchforge.stats.rank import simultaneous
from benchforge.stats.rates import failing, worst
from benchforge.stats.region import Region, lies, region
from benchforge.stats.weigh import LEVEL, Said

APART = 0.001
"By how little two shares are the same: what the method lets sides of a comparison differ by (E1)."

Failures = Sequence[tuple[int, int]]
"One of each block: how many failed, of how many requests."


class Shares(NamedTuple):
    """What is known of the shares of a question."""

    estimate: Estimate
    "Of a - factor * b, or of a alone."
    sides: tuple[Estimate, ...]
    said: Said


def shares(question: Question, failures: Sequence[Failures], family: int) -> Shares:
    """Return the answer to a question about shares of failed requests.

    The interval of each side is that of Clopper and Pearson, at a level at which all intervals of
    the family hold together. They take requests as independent, which failures in bursts are not:
    so the worst trial has to say the same.
    """
    level = simultaneous(LEVEL, family)
    each = simultaneous(level, len(failures))
    sides = tuple(failing(*_counts(one), each) for one in failures)
    where = region(question)
    if question.form != "ratio":
        estimate = _apart(sides, 1.0, level)
        return Shares(estimate, sides, _said(estimate, where, 1.0, failures))
    if question.relation != "==":
        where = Region(0, math.inf) if where.low > -math.inf else Region(-math.inf, 0)
        estimate = _apart(sides, question.bound, level)
        said = _said(estimate, where, question.bound, failures)
        if said.state == "inconclusive" and _same(estimate, question.bound, failures):
            holds = question.relation in {">=", "<="}
            remark = f"less than {100 * APART:g} points apart"
            said = Said("holds" if holds else "fails", remark=remark)
        return Shares(estimate, sides, said)
    below = _said(_apart(sides, where.high, level), Region(-math.inf, 0), where.high, failures)
    above = _said(_apart(sides, where.low, level), Region(0, math.inf), where.low, failures)
    said = next((one for one in (below, above) if one.state != "holds"), below)
    if "fails" in {below.state, above.state}:
        said = Said("fails")
    return Shares(_apart(sides, question.bound, level), sides, said)


def _counts(failures: Failures) -> tuple[list[int], list[int]]:
    return [failed for failed, _ in failures], [requests for _, requests in failures]


def _apart(sides: Sequence[Estimate], factor: float, level: float) -> Estimate:
    """Return the first share, or how much it is above factor times the second."""
    if len(sides) == 1:
        return sides[0].model_copy(update={"level": level})
    a, b = sides
    n = a.n + b.n
    if a.value is None or b.value is None or a.interval is None or b.interval is None:
        why = "one side had no request"
        return Estimate(method="Clopper-Pearson", level=level, n=n, why=why)
    return Estimate(
        method="Clopper-Pearson",
        level=level,
        n=n,
        value=a.value - factor * b.value,
        low=a.interval[0] - factor * b.interval[1],
        high=a.interval[1] - factor * b.interval[0],
    )


def _said(found: Estimate, where: Region, factor: float, failures: Sequence[Failures]) -> Said:
    if found.interval is None or found.value is None:
        return Said("inconclusive", found.why)
    how = lies(found.interval, where)
    if how == "across":
        return Said("inconclusive", "it takes more requests to tell")
    state = Said("holds" if how == "inside" else "fails")
    extremes = _extremes(factor, failures)
    if all(lies((one, one), where) == how for one in extremes):
        return state
    return Said("inconclusive", "all requests together tell it, the worst trial says otherwise")


def _extremes(factor: float, failures: Sequence[Failures]) -> tuple[float, ...]:
    """Return what would be if each side as a whole were as its worst trial was."""
    highest = [worst(*_counts(one)) or 0.0 for one in failures]
    if len(highest) == 1:
        return tuple(highest)
    a, b = (failing(*_counts(one)).value or 0.0 for one in failures)
    return highest[0] - factor * b, a - factor * highest[1]


def _same(found: Estimate, factor: float, failures: Sequence[Failures]) -> bool:
    around = Region(-APART, APART)
    every = [(one, one) for one in _extremes(factor, failures)]
    if found.interval is None:
        return False
    return all(lies(one, around) == "inside" for one in (found.interval, *every))
