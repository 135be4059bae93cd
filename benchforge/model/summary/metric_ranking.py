"""The servers of a comparison ranked by one metric, and what that rests on."""

from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from benchforge.model.summary.ranking import Ranking
from benchforge.model.values.frozen import Frozen


class UnrankedServer(Frozen):
    """A server that is not ranked."""

    server: str
    "Its label, with what varies of it."
    why: str
    "Why not."


class RankingOutlier(Frozen):
    """A value that lies far from its server's others: told, and never dropped."""

    server: str
    "Its label, with what varies of it."
    trial: PositiveInt
    "Its number."
    block: PositiveInt
    "The pass over all cases, from 1."
    value: float
    "In the metric's unit."
    share: float
    "By how much it is off its server's median: -0.2 is 20 % less."
    severity: Literal["mild", "severe"]
    "Of the modified z: mild above 3.5, severe above 5."


class MetricRanking(Frozen):
    """One metric of a comparison: the ranks that are possible, and on what that rests."""

    metric: str
    "Its label in the suite."
    of: str | None
    "What part of the metric; None for the whole."
    unit: str
    "Of the values."
    blocks: NonNegativeInt
    "Believed blocks that the pair with the fewest has in common."
    ranking: Ranking | None
    "None where nobody is ranked."
    left_out: tuple[UnrankedServer, ...] = ()
    "Servers without enough values that count."
    outliers: tuple[RankingOutlier, ...] = ()
    "Values far from their server's others, all of which count."
    blocks_needed: PositiveInt | None = None
    "About how many blocks an interval of `target` takes for every pair; None: not known."
    target: float
    "To a side, on the log scale."
    why: str = ""
    "Why nobody is ranked."
