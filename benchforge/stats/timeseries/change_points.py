"""Where the level of a series changes: the cheapest cut into pieces of one level each."""

import math
from collections.abc import Sequence
from itertools import accumulate


def partition(values: Sequence[float], penalty: float, least: int) -> list[int]:
    """Return where pieces begin, the first (at 0) left out; none where one level is cheapest.

    A piece costs the squares of its distances from its mean, and each change the penalty, in the
    values' unit squared. No piece is shorter than `least`. Source: optimal partitioning (Jackson
    et al., 2005); exact, in squared time.
    """
    size = len(values)
    sums = [0.0, *accumulate(values)]
    squares = [0.0, *accumulate(value * value for value in values)]
    best = [-penalty] + [math.inf] * size
    last = [0] * (size + 1)
    for end in range(least, size + 1):
        total, square = sums[end], squares[end]
        for start in (0, *range(least, end - least + 1)):
            rest = total - sums[start]
            cost = best[start] + square - squares[start] - rest * rest / (end - start) + penalty
            if cost < best[end]:
                best[end], last[end] = cost, start
    starts: list[int] = []
    end = size if size >= least else 0
    while end:
        end = last[end]
        if end:
            starts.append(end)
    return starts[::-1]
