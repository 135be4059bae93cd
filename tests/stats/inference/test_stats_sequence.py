"""Intervals that hold at all looks together, and Welch's test of two means."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.stats.inference.interval import t_of_logs, welch
from benchforge.stats.inference.joint import confidence_sequence

FLOATS = st.floats(-1, 1)


def test_of_all_looks_together_few_miss_the_truth() -> None:
    draw, runs, missed = Random(1), 400, 0
    for _ in range(runs):
        logs = [draw.gauss(0, 0.1) for _ in range(40)]
        looks = (t_of_logs(logs[:n], "paired t of log-ratios", 0.95) for n in range(3, 41))
        ends = [confidence_sequence(look, 0.05) for look in looks]
        missed += any(pair is not None and not pair[0] <= 1 <= pair[1] for pair in ends)
    assert missed / runs < 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


@given(st.lists(FLOATS, min_size=5, max_size=40, unique=True), st.floats(0.001, 0.1))
def test_it_is_wider_than_an_interval_of_one_look(logs: list[float], error: float) -> None:
    estimate = t_of_logs(logs, "paired t of log-ratios", 1 - error)
    ends = confidence_sequence(estimate, error)
    if ends is not None and estimate.interval is not None:
        assert ends[0] <= estimate.interval[0] * (1 + 1e-9)
        assert ends[1] >= estimate.interval[1] * (1 - 1e-9)


def test_few_blocks_have_no_end() -> None:
    estimate = t_of_logs([0.1, 0.2, 0.3], "paired t of log-ratios", 0.95)
    assert confidence_sequence(estimate, 0.01) is None


def test_welch_is_that_of_the_books() -> None:
    first, second = [27.5, 21.0, 19.0, 23.6], [27.1, 22.0, 20.8, 23.4, 23.4, 23.5]
    actual = welch(first, second, 0.95)
    assert actual is not None
    stats = pytest.importorskip("scipy.stats")
    interval = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    assert actual.difference - actual.half == pytest.approx(interval.low)
    assert actual.difference + actual.half == pytest.approx(interval.high)
    assert welch([1.0, 2.0], second, 0.95) is None


@given(st.lists(FLOATS, min_size=3, max_size=9), st.lists(FLOATS, min_size=3, max_size=9))
def test_welch_is_the_same_whichever_side_is_first(first: list[float], second: list[float]) -> None:
    item, other = welch(first, second, 0.99), welch(second, first, 0.99)
    assert item is not None
    assert other is not None
    assert item.difference == -other.difference
    assert item.half == pytest.approx(other.half)
