"""The rate that a server keeps up with, from trials that passed and failed."""

import math
from collections import Counter
from collections.abc import Sequence

from benchforge.model.summary.capacity import Capacity
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.search.next_rate import RateTrial

SAFE = 0.95
"The chance of passing at the safe rate."

# Of the passage from passing to failing, on the log scale: what is usual, and how it varies.
_WIDTH = 0.025
_WIDTH_SD = 0.5
_WIDTHS = [(k / 2, _WIDTH * math.exp(_WIDTH_SD * k / 2)) for k in range(-6, 7)]
_BEYOND = 1.5  # the log of how far outside of all rates the middle is looked for
_COARSE = 0.05  # for each width the log likelihood is concave: no mode hides between two steps
_FINE = 160
_NEGLIGIBLE = 14.0  # below the best of a log posterior: less than a millionth
_HALVINGS = 40
_DIGITS = 6  # of ln rate: up and down 3 % gives the same rate but for rounding

_Counts = Sequence[tuple[float, int, int]]
_Point = tuple[float, float, float]  # ln of the middle, width, weight


def sustained(attempts: Sequence[RateTrial], level: float = 0.95) -> Capacity:
    """Return the rate that is passed half of the time, its interval, and the safe rate.

    The chance of passing falls as a logistic function of ln rate. The middle has a flat prior, ln
    of the width is normal around ln 0.025 with deviation 0.5; the posterior is summed on a grid.
    Neither the order of the attempts nor how their rates were chosen changes it. There is no answer
    without both passes and failures.

    Raises ValueError for rates that are not positive numbers and a level outside 0..1.
    """
    if not all(0 < attempt.rate < math.inf for attempt in attempts) or not 0 < level < 1:
        raise ValueError(f"no rates, or no level: {[each.rate for each in attempts]}, {level}")
    counts = _counted(attempts)
    passes = sum(passed for _, passed, _ in counts)
    if passes in {0, len(attempts)}:
        which = "passed" if passes else "failed"
        why = f"every trial {which}" if attempts else "there was no trial"
        nothing = Estimate(method="posterior on a grid", level=level, n=len(attempts), why=why)
        return Capacity(rate=nothing, safe=None, width=None)
    points = _posterior(counts)
    tail = (1 - level) / 2
    low, middle, high = (_quantile(points, q) for q in (tail, 1 / 2, 1 - tail))
    rate = Estimate(
        method="posterior on a grid",
        level=level,
        n=len(attempts),
        value=math.exp(middle),
        low=math.exp(low),
        high=math.exp(high),
    )
    width = sum(width * weight for _, width, weight in points)
    return Capacity(rate=rate, safe=math.exp(_safe(points)), width=width)


def _counted(attempts: Sequence[RateTrial]) -> _Counts:
    """Return ln rate, passes and failures of each rate, the lowest first."""
    passes = Counter(round(math.log(each.rate), _DIGITS) for each in attempts if each.passed)
    tries = Counter(round(math.log(each.rate), _DIGITS) for each in attempts)
    return [(at, passes[at], tries[at] - passes[at]) for at in sorted(tries)]


def _posterior(counts: _Counts) -> list[_Point]:
    """Return the points of the grid that hold nearly all weight; the weights sum to 1."""
    first, last = counts[0][0] - _BEYOND, counts[-1][0] + _BEYOND
    coarse = _grid(first, last, math.ceil((last - first) / _COARSE))
    near = [middle for middle, _, _ in _heavy(counts, coarse)]
    fine = _heavy(counts, _grid(min(near) - _COARSE, max(near) + _COARSE, _FINE))
    best = max(height for _, _, height in fine)
    points = [(middle, width, math.exp(height - best)) for middle, width, height in fine]
    whole = sum(weight for _, _, weight in points)
    return [(middle, width, weight / whole) for middle, width, weight in points]


def _heavy(counts: _Counts, middles: Sequence[float]) -> list[_Point]:
    """Return each point with its log posterior, without those that weigh nothing."""
    points = [
        (middle, width, -z * z / 2 + _log_likelihood(counts, middle, width))
        for middle in middles
        for z, width in _WIDTHS
    ]
    best = max(height for _, _, height in points)
    return [point for point in points if point[2] > best - _NEGLIGIBLE]


def _log_likelihood(counts: _Counts, middle: float, width: float) -> float:
    total = 0.0
    for at, passed, failed in counts:
        z = (middle - at) / width
        # ln of 1 / (1 + e^-z) and of 1 / (1 + e^z), without overflow.
        rest = math.log1p(math.exp(-abs(z)))
        total -= (passed + failed) * rest + (failed * z if z > 0 else -passed * z)
    return total


def _grid(first: float, last: float, steps: int) -> list[float]:
    return [first + (last - first) * k / steps for k in range(steps + 1)]


def _quantile(points: Sequence[_Point], share: float) -> float:
    """Return the middle below which the posterior has this share."""
    below = 0.0
    for middle, _, weight in sorted(points):
        below += weight
        if below >= share:
            return middle
    return max(middle for middle, _, _ in points)


def _safe(points: Sequence[_Point]) -> float:
    """Return ln of the highest rate whose chance of passing, over the posterior, is SAFE."""
    low, high = min(middle for middle, _, _ in points) - _BEYOND, max(points)[0]
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        passing = sum(
            weight / (1 + math.exp(min((rate - middle) / width, 700)))
            for middle, width, weight in points
        )
        low, high = (rate, high) if passing >= SAFE else (low, rate)
    return low
