"""Capacity of a server: throughput at rising concurrency, and the rate that it sustains."""

from typing import Literal

from pydantic import JsonValue, NonNegativeInt, PositiveInt

from benchforge.model.suite.search import SearchTrial
from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.frozen import Frozen


class Sweep(Frozen):
    """Throughput of a server at rising concurrency."""

    highest: Estimate
    "Highest typical throughput of any level. Its interval contains that of the best level."
    best_level: int | None
    "Concurrency with the highest throughput; None if there is none."
    saturated: int | None
    "Smallest level with at least 95 % of the highest throughput."
    saturated_range: tuple[int, int] | None
    "Range of that level in 95 % of the resampled blocks; approximate."
    knee: float | None
    "Highest throughput / throughput at level 1: where queueing begins; None without level 1."


Phase = Literal["bracket", "bisect", "staircase", "done", "too low", "too high", "unanswered"]
"""Of a search. The last four are its ends: enough trials; the lowest rate fails; the highest
passes; trials that say nothing, one after the other."""


class Capacity(Frozen):
    """Rate that a server sustains, in requests per second."""

    rate: Estimate
    "Rate at which a trial passes half of the time."
    safe: float | None
    "Rate at which a trial passes 19 times in 20, uncertainty included; None without a rate."
    width: float | None
    "Width of the transition from passing to failing, as a share of the rate; usually 0.025."
    phase: Phase = "bracket"
    "Phase that the search reached."
    highest_passed: float | None = None
    "Highest rate at which a trial passed; None if none passed."
    attempts: tuple[SearchTrial, ...] = ()
    "Trials that the search rests on, in their order."
    message: str = ""
    "Outcome of the search, or reason why it has not ended."

    @property
    def over(self) -> bool:
        """True if the search has no rate left to try."""
        return self.phase in {"done", "too low", "too high", "unanswered"}

    @property
    def ends(self) -> tuple[float, float]:
        """The rates between which the highest one is; where only a bound is known, from it on."""
        if self.rate.interval is not None:
            return self.rate.interval
        tried = [attempt.rate for attempt in self.attempts]
        lowest = max(tried) if self.phase == "too high" else 0.0
        return lowest, min(tried) if self.phase == "too low" else float("inf")

    @property
    def answered(self) -> bool:
        """True if the search has a rate, or a bound of it."""
        return self.rate.value is not None or self.phase in {"too low", "too high"}


class Level(Frozen):
    """Throughput of a server at one level of concurrency."""

    concurrency: PositiveInt
    "Number of concurrent requests."
    value: Estimate
    "Typical throughput, with the interval of this session."


class ConcurrencySweep(Frozen):
    """A server, a driver, and an option of the driver at three levels or more."""

    scenario: str
    "Label of the scenario."
    server: str
    "Label of the server, with its varied options."
    driver: str
    "Label of the load tool or client."
    option: str
    "Path of the varied option."
    vary: dict[str, JsonValue]
    "Other varied options at this point, without those of servers."
    metric: str
    "Label of the metric: a throughput."
    unit: str
    "Unit of the values."
    blocks: NonNegativeInt
    "Number of blocks that have believed values of every level."
    levels: tuple[Level, ...]
    "Levels in the order of rising concurrency."
    left_out: tuple[PositiveInt, ...] = ()
    "Levels without a believed value."
    sweep: Sweep | None
    "Statements about all levels together; None if there are none."
    why: str = ""
    "Reason why there are none."
