"""An order of several servers, and what it does not claim."""

from collections.abc import Sequence
from itertools import combinations
from operator import attrgetter
from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.frozen import Frozen


class Pair(Frozen):
    """Two servers of a ranking, the better one first, compared over the blocks that have both."""

    first: str
    "Label of the better server."
    second: str
    "Label of the other server."
    ratio: Estimate
    "Ratio first / second, with the interval of a single pair."
    simultaneous: Estimate
    "Ratio first / second, with an interval that holds for all pairs together."
    p_holm: float | None
    "p value of the ratio, adjusted by Holm for all pairs; None if there is none."
    differ: bool
    "True if the two are shown to differ: p_holm is below 1 - level."

    @property
    def turned(self) -> "Pair":
        """The same pair with the other server first."""
        ratios = {"ratio": self.ratio.inverse, "simultaneous": self.simultaneous.inverse}
        return self.like(first=self.second, second=self.first, **ratios)


class RankedServer(Frozen):
    """A server of a ranking."""

    server: str
    "Label of the server."
    value: Estimate
    "Typical value of the server in this session."
    letters: str
    "Letters. Servers that share one are not shown to differ; empty if there are too many."
    best: int
    "Best rank that the intervals allow, from 1."
    worst: int
    "Worst rank that the intervals allow."


class Ranking(Frozen):
    """Servers, the best typical value first. The order alone shows no difference: see `letters`."""

    level: float
    "Confidence level: 1 - the probability of any false difference among all pairs."
    better: Literal["higher", "lower"]
    "Better direction of the values."
    order: tuple[RankedServer, ...]
    "Servers, the best first; those without a typical value last."
    pairs: tuple[Pair, ...]
    "All pairs of the servers."

    @property
    def leaders(self) -> list[str]:
        """The first server, and those that are not shown to differ from it."""
        # Nothing that another is shown to beat comes first, whatever its typical value is.
        first, *others = [ranked.server for ranked in sorted(self.order, key=attrgetter("best"))]
        return [first, *(leader for leader in others if not self.pair(first, leader).differ)]

    @property
    def differing(self) -> tuple[tuple[str, str], ...]:
        """Pairs of servers that are shown to differ, in the order of the servers."""
        names = [ranked.server for ranked in self.order]
        return tuple(pair for pair in combinations(names, 2) if self.pair(*pair).differ)

    def most_apart(self, servers: Sequence[str]) -> float | None:
        """Return the largest ratio that two of the servers may have; None without an interval."""
        ends = [self.pair(*pair).simultaneous.interval for pair in combinations(servers, 2)]
        factors = [max(end[1], 1 / end[0]) for end in ends if end is not None]
        return max(factors) if len(factors) == len(ends) else None

    def pair(self, first: str, second: str) -> Pair:
        """Return the pair of two servers in this order. Raises KeyError for others."""
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair
            if (pair.second, pair.first) == (first, second):
                return pair.turned
        raise KeyError(f"{first} / {second}")


class UnrankedServer(Frozen):
    """A server without a rank."""

    server: str
    "Label of the server, with its varied options."
    why: str
    "Reason why the server is not ranked."


class RankingOutlier(Frozen):
    """A value far from the others of its server. It is reported, and counts."""

    server: str
    "Label of the server, with its varied options."
    trial: PositiveInt
    "Number of the trial."
    block: PositiveInt
    "Number of the trial's block, from 1."
    value: float
    "Value in the metric's unit."
    share: float
    "Relative distance from the server's median, the block's mean removed: -0.2 is 20 % less."
    severity: Literal["mild", "severe"]
    "Severity: one server in 20 has a mild one by chance, one in 100 a severe one."


class MetricRanking(Frozen):
    """Ranking by one metric of a comparison, with the data that it rests on."""

    metric: str
    "Label of the metric."
    of: str | None
    "Part of the metric, such as p99; None for the whole."
    unit: str
    "Unit of the values."
    blocks: NonNegativeInt
    "Number of believed blocks of the pair that has the fewest in common."
    ranking: Ranking | None
    "Ranking of the servers; None if no server is ranked."
    left_out: tuple[UnrankedServer, ...] = ()
    "Servers without enough values that count."
    outliers: tuple[RankingOutlier, ...] = ()
    "Values far from the others of their server. All of them count."
    blocks_needed: PositiveInt | None = None
    "Approximate number of blocks for an interval of `target` for every pair; None: unknown."
    target: float
    "Target half-width of the intervals, on the log scale."
    why: str = ""
    "Reason why no server is ranked."
