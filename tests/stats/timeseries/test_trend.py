"""Whether blocks resemble their neighbours: how often chance looks so, and what is seen."""

import math
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.simulate import autocorrelated, share, tolerance

from benchforge.stats.timeseries.trend import LEAST, resemblance

TIMES, WARN = 2000, 0.05
SERIES = st.lists(st.floats(-1e6, 1e6), min_size=LEAST, max_size=30, unique=True)


def alarms(n: int, series: Callable[[Random, int], list[float]], times: int = TIMES) -> float:
    return share(times, n, lambda draw: (resemblance(series(draw, n)) or 0.0) < WARN)


@pytest.mark.parametrize("n", [8, 10, 20, 30])
def test_false_alarms(n: int) -> None:
    """One in twenty; with skewed noise and outliers as well, since ranks are all that counts."""

    def skewed(draw: Random, size: int) -> list[float]:
        return [math.exp(3 * draw.gauss(0, 1)) for _ in range(size)]

    for series in (lambda draw, size: autocorrelated(draw, size, 0.0), skewed):
        assert alarms(n, series) <= 0.055 + tolerance(0.055, TIMES)


# The published power: what is in docs/false-verdicts.md.
@pytest.mark.parametrize(("n", "power"), [(8, 0.41), (12, 0.65), (20, 0.90), (30, 0.98)])
def test_power(n: int, power: float) -> None:
    observed = alarms(n, lambda draw, size: autocorrelated(draw, size, 0.8), 800)
    assert observed == pytest.approx(power, abs=0.02 + tolerance(power, 800))


@given(SERIES)
def test_only_the_order_counts(values: list[float]) -> None:
    ranks = [float(sorted(values).index(value)) for value in values]
    assert resemblance(values) == resemblance(ranks)
    assert resemblance(values) == pytest.approx(resemblance(values[::-1]))
    assert resemblance(values) == pytest.approx(resemblance([-value for value in values]))


def test_a_trend_resembles_and_a_zigzag_does_not() -> None:
    rising = [float(value) for value in range(10)]
    assert (resemblance(rising) or 1) < 0.001
    assert (resemblance([-value if value % 2 else value for value in rising]) or 0) > 0.9


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [1.0] * 20, []])
def test_nothing_is_known_of_few_or_equal_values(values: list[float]) -> None:
    assert resemblance(values) is None
