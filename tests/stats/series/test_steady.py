"""Where a warm-up ends and whether a course has one level: the table that the method promises.

Noise as there: normal, deviation 3 %, neighbours alike by 0.3. Seeds are fixed.
"""

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean, median

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchforge.checks.limits import limits
from benchforge.stats.timeseries.trend import mann_kendall, partition
from benchforge.stats.timeseries.windows import LEAST, TOLERANCE, WarmUpFit, ensemble, examine, mser

Shape = Callable[[float], float]

POINTS = 5.0
SIMULATED = 500
SHAPES: dict[str, Shape] = {
    "flat": lambda _: 1.0,
    "late": lambda share: 1.0 if share < 0.75 else 0.88,
    "falling": lambda share: 1 - share / 10,
}
FLAT = SHAPES["flat"]


def run(rng: random.Random, shape: Shape, bins: int) -> list[float]:
    error, gauss = rng.gauss(0, 0.03), []
    for number in range(bins):
        gauss.append((1 + error) * shape((number + 0.5) / bins))
        error = 0.3 * error + math.sqrt(1 - 0.3**2) * rng.gauss(0, 0.03)
    return gauss


def unsteady(shape: Shape, bins: int, runs: int) -> float:
    """How often a course of that shape is called unsteady, in percent."""
    rng = random.Random(11)
    courses = (ensemble([run(rng, shape, bins) for _ in range(runs)]) for _ in range(SIMULATED))
    return 100 * fmean(examine(course).course in {"late", "step", "trend"} for course in courses)


@pytest.mark.parametrize(
    ("shape", "bins", "runs", "lowest", "highest"),
    [
        *(("flat", 20, 1, 3, 5), ("flat", 20, 5, 3, 5), ("flat", 30, 3, 1, 3)),
        ("flat", 60, 3, 0, 2),
        *(("late", 20, 1, 48, 48), ("late", 20, 3, 95, 100), ("late", 30, 3, 95, 100)),
        # The table does not say for how many bins; of 54, which are 13.5 s, it holds.
        *(("falling", 54, 1, 32, 46), ("falling", 54, 5, 80, 95), ("falling", 54, 10, 80, 95)),
    ],
)
def test_unsteady_rate(shape: str, bins: int, runs: int, lowest: float, highest: float) -> None:
    assert lowest - POINTS <= unsteady(SHAPES[shape], bins, runs) <= highest + POINTS


@pytest.mark.parametrize(
    ("shape", "bias"),
    [
        (lambda bin_: 1 - 0.3 * math.exp(-bin_ / 3), -0.003),
        (lambda bin_: 0.8 if bin_ < 8 else 1.0, 0.0),
        (lambda bin_: 0.3 if bin_ == 0 else 1.0, 0.0),
    ],
)
def test_the_level_after_the_warm_up(shape: Callable[[int], float], bias: float) -> None:
    rng, levels, bins = random.Random(3), [], 40
    for _ in range(100):
        runs = [
            [value * shape(number) for number, value in enumerate(run(rng, FLAT, bins))]
            for _ in range(5)
        ]
        cut = examine(ensemble(runs)).cut
        levels += [fmean(run[cut:]) for run in runs]
    assert fmean(levels) - 1 == pytest.approx(bias, abs=0.004)


def test_a_warm_up_is_cut_where_it_ends() -> None:
    assert examine([0.0] * 5 + [25.0] * 35) == WarmUpFit("warm-up", 5, -1.0)
    assert examine([25.0] * 40) == WarmUpFit("flat", 0)


def test_a_level_that_comes_in_the_middle_is_no_warm_up() -> None:
    assert examine([25.0] * 20 + [30.0] * 20).course == "late"


def test_a_step_and_a_trend_say_their_size() -> None:
    rng = random.Random(5)
    step = examine([value * (1.0 if n < 45 else 0.8) for n, value in enumerate(run(rng, FLAT, 60))])
    assert step.course == "step"
    assert step.change == pytest.approx(-0.2, abs=0.03)  # of the level before
    trend = examine(ensemble([run(rng, lambda index: 1 + 0.06 * index, 60) for _ in range(20)]))
    assert trend.course in {"trend", "step", "late"}


def test_a_rate_that_is_kept_exactly_but_for_a_spike_is_steady() -> None:
    assert examine([25.0] * 30 + [60.0] + [25.0] * 29).course == "flat"


def test_a_server_that_stands_still_for_most_of_what_is_kept_made_a_step() -> None:
    course = [*[8.0] * 8, 1.0, *[0.0] * 14, *[6.0] * 8]
    assert median(course[mser(course) :]) == 0
    assert examine(course) == WarmUpFit("step", 8, -1.0)
    assert examine(course[::-1]).change == -1.0


@given(st.lists(st.sampled_from([0, 0, 0, 1, 10, 11]), min_size=LEAST, max_size=3 * LEAST))
def test_a_course_in_which_much_stands_still_is_told_all_the_same(counts: list[int]) -> None:
    assume(median(counts) > 0)
    assert examine(ensemble([counts])).course in {"flat", "warm-up", "late", "step", "trend"}


def test_runs_are_averaged_in_units_of_their_own_level() -> None:
    assert ensemble([[1, 2, 2, 2, 9], [20, 10, 10, 10]]) == [1.25, 1.0, 1.0, 1.0]


def test_the_threshold_that_is_shown_is_the_one_that_is_used() -> None:
    assert limits()["S1"].fail == TOLERANCE


courses = st.lists(st.floats(0.5, 2.0), min_size=4, max_size=40)


@given(courses)
def test_mser_is_the_smallest_standard_error_of_what_is_left(course: list[float]) -> None:
    def error(cut: int) -> float:
        rest = course[cut:]
        return sum((x - fmean(rest)) ** 2 for x in rest) / len(rest) ** 2

    cut = mser(course)
    assert cut <= len(course) // 2
    other_cuts = range(len(course) // 2 + 1)
    assert all(error(cut) <= error(other) * (1 + 1e-6) + 1e-15 for other in other_cuts)


@given(courses, st.floats(0.01, 1000))
@settings(max_examples=50)
def test_the_unit_of_a_course_does_not_matter(course: list[float], unit: float) -> None:
    course = course * 5
    examination, other = examine(course), examine([value * unit for value in course])
    assert (examination.course, examination.cut) == (other.course, other.cut)


def cost(values: Sequence[float], edges: Sequence[int], penalty: float) -> float:
    pieces = [values[a:b] for a, b in pairwise(edges)]
    return sum(sum((x - fmean(p)) ** 2 for x in p) for p in pieces) + penalty * (len(pieces) - 1)


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=9), st.integers(1, 3), st.floats(0.1, 60))
def test_a_partition_is_the_cheapest_of_all(values: list[int], least: int, penalty: float) -> None:
    size = len(values)
    actual = partition(values, penalty, least)
    ways = [
        [0, *(index for index in range(1, size) if chosen >> index & 1), size]
        for chosen in range(1 << size)
    ]
    allowed = [way for way in ways if all(b - a >= least for a, b in pairwise(way))] or [[0, size]]
    best = min(cost(values, way, penalty) for way in allowed)
    assert cost(values, [0, *actual, size], penalty) == pytest.approx(best, abs=1e-6)
    assert [0, *actual, size] in allowed


def test_a_trend_has_the_p_of_the_literature() -> None:
    assert mann_kendall([1, 1, 1, 1]) == 1
    rising = mann_kendall(list(range(10)))
    z = 44 / math.sqrt(10 * 9 * 25 / 18)
    assert rising == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-6)
    inflated = math.erfc(z / 2 / math.sqrt(2))
    assert mann_kendall(list(range(10)), inflation=4) == pytest.approx(inflated, rel=1e-6)
    assert mann_kendall(list(range(10, 0, -1))) == rising
