"""An order of several servers, and what it does not claim."""

from typing import Literal

from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.frozen import Frozen


class Pair(Frozen):
    """Two servers of a ranking, the better one first: by the blocks that have both."""

    first: str
    "Label of the better server."
    second: str
    "Label of the other."
    ratio: Estimate
    "First / second, at the level for one pair."
    simultaneous: Estimate
    "The same with a wider interval: all pairs' intervals hold together, as often as the level."
    p_holm: float | None
    "The ratio's p after Holm, for the whole family; None where there is none."
    differ: bool
    "Whether a difference was found: p_holm is below 1 - level."


class RankedServer(Frozen):
    """A server's place among all."""

    server: str
    "Its label."
    value: Estimate
    "Its typical value in this session."
    letters: str
    "Servers that share a letter were not found to differ; empty where there are too many letters."
    best: int
    "The best rank that it may have, from 1."
    worst: int
    "The worst."


class Ranking(Frozen):
    """Several servers, the best typical value first. An order is no difference: see the letters."""

    level: float
    "One minus the chance of any false difference in the whole family."
    better: Literal["higher", "lower"]
    "Which values are the better ones."
    order: tuple[RankedServer, ...]
    "The best first; those without a typical value last."
    pairs: tuple[Pair, ...]
    "Each two of them."
