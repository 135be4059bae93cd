"""Whether the values of a series resemble their neighbours, as they do where it drifts."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import NormalDist
from typing import Final

LEAST: Final = 8
"Values. The distribution of the ratio is near enough to normal from there on."


def resemblance(values: Sequence[float]) -> float | None:
    """Return the one-sided p that values are independent of their neighbours; small: they drift.

    It is the ratio of von Neumann on the ranks of the values, which no outlier moves, with the
    normal approximation of Bartels (1982), J. Am. Statist. Assoc. 77. Without noise of its own a
    trend is a resemblance, too. None for fewer than eight values, and where some are equal.
    """
    size = len(values)
    if size < LEAST or len(set(values)) < size:
        return None
    ranks = {value: rank for rank, value in enumerate(sorted(values))}
    moves = [ranks[later] - ranks[earlier] for earlier, later in pairwise(values)]
    squares = size * (size**2 - 1) / 12
    variance = (
        4 * (size - 2) * (5 * size**2 - 2 * size - 9) / (5 * size * (size + 1) * (size - 1) ** 2)
    )
    ratio = sum(move * move for move in moves) / squares
    return NormalDist().cdf((ratio - 2) / math.sqrt(variance))
