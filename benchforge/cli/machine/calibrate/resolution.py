"""What differences can be seen on a machine, given its noise."""

import itertools
import math
from collections.abc import Sequence

from benchforge.stats.inference.sample_size import resolved

BLOCKS = (5, 10, 20)


def between_neighbours(values: Sequence[float]) -> float:
    """Return the standard deviation of the log-ratio of one value to the next: 0.02 is 2 %.

    That is what a comparison of a server with itself has, block by block: a slow drift does not
    count. It takes two positive values at least. Source: the mean square successive difference,
    von Neumann 1941.
    """
    logs = [math.log(value) for value in values]
    squares = [(after - before) ** 2 for before, after in itertools.pairwise(logs)]
    return math.sqrt(math.fsum(squares) / len(squares))


def shown(sd: float) -> dict[int, float]:
    """Return the smallest difference that is found with 80 % power, by the number of blocks.

    `sd` is that of log-ratios; a difference of 0.02 is 2 %. Nothing where it is 0: rounds that are
    all equal tell no spread.
    """
    return {blocks: math.expm1(resolved(sd, blocks)) for blocks in BLOCKS} if sd else {}
