"""The servers of a comparison ranked by one metric, and what that rests on."""

from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from benchforge.model.summary.ranking import Ranking
from benchforge.model.values.frozen import Frozen


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
