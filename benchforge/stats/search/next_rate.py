"""The highest rate that a server keeps up with: which rate to try next.

A search is a pure function of the trials so far: double until one fails, halve the gap until it is
6 %, then go up 3 % after each pass and down 3 % after each failure. A bisection alone has no
interval, and one result in eleven is more than 3 % too high.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchforge.model.suite.search import GAP
from benchforge.model.summary.capacity import Phase

_STEP = 0.03


@dataclass(frozen=True)
class RateTrial:
    """One trial at a rate."""

    rate: float
    "Target rate in requests per second."
    passed: bool
    "True if the trial kept every objective: percentile, errors, achieved rate."


@dataclass(frozen=True)
class Search:
    """Where to search, and for how long."""

    start: float
    "The first rate, in requests per second."
    lowest: float
    "Below it nothing is tried: the server then keeps up with no rate."
    highest: float
    "Above it nothing is tried: as much as the load tool can send."
    steps: int = 20
    "Trials of the staircase."

    def __post_init__(self) -> None:
        if not 0 < self.lowest <= self.start <= self.highest < math.inf:
            raise ValueError(f"no rates from {self.lowest} by {self.start} to {self.highest}")
        if self.steps < 1:
            raise ValueError(f"a staircase has steps, not {self.steps}")


@dataclass(frozen=True)
class Next:
    """What to try next, or why nothing is."""

    phase: Phase
    "Phase of the search."
    rate: float | None
    "Rate in requests per second; None when the search is over."


def next_rate(search: Search, attempts: Sequence[RateTrial]) -> Next:
    """Return the next rate of the search, from all attempts in their order.

    The same attempts give the same rate, so that a search that was interrupted goes on. Raises
    ValueError for an attempt at another rate than the search asked for.
    """
    step = Next("bracket", search.start)
    passed: float | None = None
    failed: float | None = None
    stairs = 0
    for attempt in attempts:
        if step.rate is None or not math.isclose(attempt.rate, step.rate, rel_tol=1e-9):
            raise ValueError(f"{attempt.rate} was tried, {step.rate or 'nothing'} was asked for")
        if step.phase == "staircase":
            stairs += 1
            step = _stair(search, attempt, stairs)
            continue
        passed, failed = (attempt.rate, failed) if attempt.passed else (passed, attempt.rate)
        step = _closer(search, passed, failed)
    return step


def _closer(search: Search, passed: float | None, failed: float | None) -> Next:
    if failed is None:
        if passed == search.highest:
            return Next("too high", None)
        return Next("bracket", min(search.highest, 2 * (passed or search.start)))
    if passed is None:
        if failed == search.lowest:
            return Next("too low", None)
        return Next("bracket", max(search.lowest, failed / 2))
    middle = math.sqrt(passed * failed)
    return Next("bisect" if failed / passed > 1 + GAP else "staircase", middle)


def _stair(search: Search, last: RateTrial, stairs: int) -> Next:
    if stairs >= search.steps:
        return Next("done", None)
    rate = last.rate * (1 + _STEP) if last.passed else last.rate / (1 + _STEP)
    return Next("staircase", min(search.highest, max(search.lowest, rate)))
