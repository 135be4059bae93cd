"""Where results changed over time, by simulation."""

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.results.over_time.series import LEAST, steps

SEED = 20261121


def sessions(rng: random.Random, size: int, sd: float = 0.02) -> list[float]:
    return [rng.gauss(7.0, sd) for _ in range(size)]


@pytest.mark.parametrize("size", [20, 40, 100])
@pytest.mark.parametrize("sd", [0.007, 0.03])
def test_where_nothing_changed_nothing_is_found(size: int, sd: float) -> None:
    rng = random.Random(SEED + size)
    alarms = sum(bool(steps(sessions(rng, size, sd))) for _ in range(200))
    assert alarms <= 2, alarms


@pytest.mark.parametrize(("by", "sd", "at_least"), [(0.05, 0.01, 195), (0.10, 0.02, 195)])
def test_a_planted_step_is_found_where_it_is(by: float, sd: float, at_least: int) -> None:
    rng = random.Random(SEED)
    actual_ = holds = 0
    for _ in range(200):
        logs = sessions(rng, 40, sd)
        logs[25:] = [log + math.log1p(by) for log in logs[25:]]
        actual = steps(logs)
        actual_ += len(actual) == 1 and abs(actual[0].at - 25) <= 2
        assert all(abs(item.ratio - 1 - by) < 0.05 for item in actual if abs(item.at - 25) <= 2)
        holds += any(low < 1 + by < high for low, high in (item.ends for item in actual))
    assert actual_ >= at_least, actual_
    assert 180 <= holds < 200  # 95 % of 200, less what the choice of the place costs


def test_steps_to_one_side_are_each_found() -> None:
    rng = random.Random(SEED)
    logs = [level + rng.gauss(0, 0.001) for level in (0.0, 0.05, 0.10, 0.15) for _ in range(10)]
    assert [step.at for step in steps(logs)] == [10, 20, 30]


def test_a_small_step_is_not_told_and_an_outlier_is_none() -> None:
    logs = sessions(random.Random(SEED), 60, 0.002)
    assert steps([log + (0.02 if index >= 30 else 0) for index, log in enumerate(logs)]) == []
    logs[30] += 0.5
    assert steps(logs) == []


def test_values_without_any_deviation() -> None:
    assert steps([1.0] * LEAST) == []
    (item,) = steps([1.0] * 10 + [1.1] * 10)
    assert (item.at, item.p) == (10, 0.0)
    assert item.ratio == pytest.approx(math.exp(0.1))


@pytest.mark.parametrize(
    ("logs", "says"), [([1.0] * 19, "19 results"), ([math.nan] + [1.0] * 20, "not finite")]
)
def test_what_is_no_history(logs: list[float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        steps(logs)


@given(st.lists(st.floats(-740, 709), min_size=LEAST, max_size=60))
def test_whatever_is_found_is_large_and_between_levels_of_three(logs: list[float]) -> None:
    actual = steps(logs)
    edges = [0, *(item.at for item in actual), len(logs)]
    assert all(later - earlier >= 3 for earlier, later in pairwise(edges))
    assert all(abs(math.log(item.ratio)) >= math.log1p(0.03) and item.p < 0.001 for item in actual)
