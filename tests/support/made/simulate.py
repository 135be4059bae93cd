"""Runs that never took place: values whose truth is known, to see how often an interval holds it.

Model B: a machine that drifts from block to block (random walk towards its mean, deviation 5 %),
noise of 2 % within a block, and one trial in twenty at 20 % less.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random

from benchforge.model.suite.search import Objective, RateSearch, SearchTrial
from benchforge.stats.search.search import next_rate

DRIFT = 0.05
NOISE = 0.02
OUTLIERS = 0.05
LESS = 0.8
_STAYS = 0.7  # of a block's drift in the next one


def blocks(
    draw: Random,
    n: int,
    servers: Sequence[float] = (1, 1),
    noise: float = NOISE,
    outliers: float = OUTLIERS,
) -> list[list[float]]:
    """Return the values of each server in n blocks; `servers` are their true ratios."""
    table: list[list[float]] = [[] for _ in servers]
    drift = draw.gauss(0, DRIFT)
    for _ in range(n):
        for mine, truth in zip(table, servers, strict=True):
            less = LESS if draw.random() < outliers else 1.0
            mine.append(1000 * truth * less * math.exp(drift + draw.gauss(0, noise)))
        drift = _STAYS * drift + math.sqrt(1 - _STAYS**2) * draw.gauss(0, DRIFT)
    return table


def two(
    draw: Random, n: int, truth: float = 1, noise: float = NOISE, outliers: float = OUTLIERS
) -> tuple[list[float], list[float]]:
    """Return the values of two servers, the first `truth` times as fast."""
    first_side, theirs = blocks(draw, n, (truth, 1), noise, outliers)
    return first_side, theirs


def disturbed(
    draw: Random, n: int, stays: float, truth: float = 1, uneven: float = 1, *, on_off: bool = False
) -> tuple[list[list[float]], list[list[float]]]:
    """Return the values of two servers beside others, and what those left of the CPUs to each.

    What others do stays from trial to trial: a share that drifts, or one that comes and goes. A
    server has what is left to it; to the first it is `uneven` times as much in every block.
    """
    values: list[list[float]] = [[], []]
    rest: list[list[float]] = [[], []]
    level, on = draw.gauss(0, 1), draw.random() < 0.5
    for _ in range(n):
        slots = []
        for _ in range(2):
            slots.append((0.4 if on else 0.8) if on_off else 1 / (1 + math.exp(0.5 + level)))
            level = stays * level + math.sqrt(1 - stays**2) * draw.gauss(0, 1)
            on = on if draw.random() < stays else draw.random() < 0.5
        draw.shuffle(slots)
        for index, (mine, factor) in enumerate(((truth, uneven), (1, 1))):
            has = slots[index] * factor
            values[index].append(1000 * mine * has * math.exp(draw.gauss(0, NOISE)))
            rest[index].append(min(1.0, max(0.01, has + draw.gauss(0, 0.01))))
    return values, rest


def by_block(table: Mapping[str, Sequence[float]]) -> dict[str, dict[tuple[int, bool], float]]:
    """Return the values of each server by their block, which nobody disturbed."""
    return {
        server: {(block, False): value for block, value in enumerate(row)}
        for server, row in table.items()
    }


def share(times: int, seed: int, holds: Callable[[Random], bool]) -> float:
    """Return in what share of so many simulated runs something holds."""
    draw = Random(seed)
    return sum(holds(draw) for _ in range(times)) / times


def tolerance(expected: float, times: int) -> float:
    """Return three binomial standard deviations: what chance may add to an expected share."""
    return 3 * math.sqrt(expected * (1 - expected) / times)


def search(lowest: float, highest: float, steps: int = 20) -> RateSearch:
    """Return a search whose trials are made by hand: nothing reads its objective."""
    objective = Objective(text="-", metric="latency", relation="<", bound=1)
    return RateSearch(lowest=lowest, highest=highest, steps=steps, objectives=(objective,))


def tried(rate: float, *, passed: bool) -> SearchTrial:
    """Return a trial of a search."""
    return SearchTrial(trial=1, round=1, rate=rate, passed=passed)


def searched(draw: Random, limit: float, width: float) -> list[SearchTrial]:
    """Return a search's trials on a server that passes its limit half of the time."""
    find, start = search(limit / 100, limit * 100), limit * draw.uniform(0.05, 3)
    attempts: list[SearchTrial] = []
    while (rate := next_rate(find, start, attempts).rate) is not None:
        chance = 1 / (1 + math.exp(math.log(rate / limit) / width))
        attempts.append(tried(rate, passed=draw.random() < chance))
    return attempts


def autocorrelated(draw: Random, n: int, stays: float) -> list[float]:
    """Return a series of deviation 1, each value `stays` times the one before and noise."""
    series = [draw.gauss(0, 1)]
    while len(series) < n:
        series.append(stays * series[-1] + math.sqrt(1 - stays**2) * draw.gauss(0, 1))
    return series
