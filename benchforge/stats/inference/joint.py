"""The error of each question of a family, so that all of them err seldom enough."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Selection(NamedTuple):
    """The result of a procedure for the p values of a family."""

    error: float
    "Error of each interval: 1 - its level."
    adjusted: tuple[float, ...]
    "Values of p as they count in the family, to compare with the error of the whole family."


def benjamini_hochberg(ps: Sequence[float], error: float) -> Selection:
    """Return the largest R whose p are all at most R * error / m, and intervals at that error.

    The expected share of false answers is at most `error` where p are independent, or positively
    dependent in the sense of PRDS; intervals at the same error keep the false coverage rate below
    it. Sources: Benjamini and Hochberg 1995, J. R. Statist. Soc. B 57; Benjamini and Yekutieli
    2001, Ann. Statist. 29, and 2005, J. Am. Statist. Assoc. 100.
    """
    size, least = len(ps), 1.0
    adjusted = [1.0] * size
    for rank, index in reversed([*enumerate(sorted(range(size), key=ps.__getitem__), 1)]):
        least = adjusted[index] = min(least, ps[index] * size / rank)
    answers = sum(p <= error for p in adjusted)
    return Selection(error * max(1, answers) / size, tuple(adjusted))


def stepwise(ps: Sequence[float], error: float) -> Selection:
    """Return the answers of Holm's procedure, and intervals at the error of its last step.

    The probability of any false answer is at most `error`, however the p depend on each other.
    """
    adjusted = holm(ps)
    answers = sum(p <= error for p in adjusted)
    return Selection(error / (len(ps) - max(1, answers) + 1), tuple(adjusted))


def bonferroni(ps: Sequence[float], error: float) -> Selection:
    """Return the answers of questions that share the error evenly, known before there is a p."""
    size = max(1, len(ps))
    return Selection(error / size, tuple(min(1.0, p * size) for p in ps))


PROCEDURES: Mapping[str, Callable[[Sequence[float], float], Selection]] = {
    "benjamini-hochberg": benjamini_hochberg,
    "holm": stepwise,
}


def holm(ps: Sequence[float]) -> list[float]:
    """Return each p as it counts in the family of all: times its rank from the largest.

    Raises ValueError for a p outside 0..1. Source: Holm 1979, Scand. J. Statist. 6.
    """
    if not all(0 <= p <= 1 for p in ps):
        raise ValueError(f"a p is between 0 and 1: {list(ps)}")
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, ps[index] * (len(ps) - rank)))
        adjusted[index] = highest
    return adjusted


def simultaneous(level: float, size: int) -> float:
    """Return the level of each of `size` intervals that hold together at `level` (Bonferroni)."""
    return 1 - (1 - level) / max(1, size)
