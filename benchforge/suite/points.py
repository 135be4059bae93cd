"""The points of a scenario's matrix, in the order of the file."""

import math
from collections.abc import Iterator
from itertools import product

from benchforge.suite.axis import Point
from benchforge.suite.suite import Scenario


def points(scenario: Scenario) -> Iterator[Point]:
    """Yield each combination of `vary` but the excluded ones, then what `include` adds.

    Of what varies, the last changes fastest. A combination is excluded when it has all values of
    an entry of `exclude`.
    """
    paths = list(scenario.vary)
    for values in product(*scenario.vary.values()):
        point = dict(zip(paths, values, strict=True))
        if not any(_has(point, excluded) for excluded in scenario.exclude):
            yield point
    yield from scenario.include


def combinations(scenario: Scenario) -> int:
    """Return how many combinations `vary` makes."""
    return math.prod(map(len, scenario.vary.values()))


def _has(point: Point, excluded: Point) -> bool:
    return all(path in point and point[path] == value for path, value in excluded.items())
