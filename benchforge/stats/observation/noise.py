"""How a number is spread over rounds on a quiet machine."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Spread(NamedTuple):
    """How a number was spread over rounds, in its own unit."""

    median: float
    high: float
    "The 99 % quantile: of fewer than 100 rounds it is the largest."
    largest: float


def spread(values: Sequence[float]) -> Spread:
    """Return median, 99 % quantile and largest of one value at least.

    A quantile p of n values is the smallest of which p·n are not above.
    """
    ordered = sorted(values)
    return Spread(_quantile(ordered, 0.5), _quantile(ordered, 0.99), ordered[-1])


def _quantile(ordered: Sequence[float], p: float) -> float:
    return ordered[max(0, math.ceil(p * len(ordered)) - 1)]
