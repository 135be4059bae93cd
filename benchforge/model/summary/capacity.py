"""How much a server serves: at rising concurrency, and at a rate that it keeps up with."""

from typing import Literal

from benchforge.model.suite.search import SearchTrial
from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.frozen import Frozen


class Scaling(Frozen):
    """The law of Gunther: X(N) = rate N / (1 + contention (N - 1) + coherency N (N - 1))."""

    rate: float
    "What one alone serves in a second."
    contention: float
    "The share of work that waits for others."
    coherency: float
    "What each pair costs beside that; above 0, more is slower in the end."
    max_error: float
    "The largest error of ln X at any level; an accepted law has less than 0.1."
    peak: float | None
    "The concurrency with the highest throughput; None where none was reached."
    why: str = ""
    "Why there is no peak."


class Sweep(Frozen):
    """What a server does at rising concurrency."""

    highest: Estimate
    "The highest typical throughput of any level; its interval holds the best level's own."
    best_level: int | None
    "The concurrency with the highest throughput; None where there is none."
    saturated: int | None
    "The smallest level with at least 95 % of the highest throughput."
    saturated_range: tuple[int, int] | None
    "What it is in 95 % of the resampled blocks: approximate."
    knee: float | None
    "Highest throughput / that of one alone: where queueing begins; None without level 1."
    law: Scaling | None
    "None where the law does not describe the server: then it saturates at its highest."
    law_why: str = ""
    "Why there is no law."


Phase = Literal["bracket", "bisect", "staircase", "done", "too low", "too high", "unanswered"]
"""Of a search. The last four are its ends: enough trials; the lowest rate fails; the highest
passes; trials that say nothing, one after the other."""


class Capacity(Frozen):
    """The rate that a server keeps up with, in requests per second."""

    rate: Estimate
    "Passed half of the time."
    safe: float | None
    "Passed 19 times in 20, what is not known of the rate included; None without a rate."
    width: float | None
    "How wide the passage from passing to failing is, as a share of the rate; 0.025 is usual."
    phase: Phase = "bracket"
    "How far the search came."
    highest_passed: float | None = None
    "The highest rate at which a trial passed; None where none did."
    attempts: tuple[SearchTrial, ...] = ()
    "All trials that it rests on, in their order."
    message: str = ""
    "What it ended with, or why it has no end."

    @property
    def over(self) -> bool:
        """Whether nothing is left to try."""
        return self.phase in {"done", "too low", "too high", "unanswered"}

    @property
    def answered(self) -> bool:
        """Whether it says something of the server: a rate, or a bound of it."""
        return self.rate.value is not None or self.phase in {"too low", "too high"}
