"""Sweeps: laws that are found again, and laws that are refused."""

import math
import statistics
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.model.summary.capacity import Scaling
from benchforge.stats.sweep.sweep import sweep
from benchforge.stats.sweep.usl import scaling

LEVELS = [1, 2, 4, 8, 16, 32, 64, 128, 256]


def law(level: int, contention: float, coherency: float, rate: float = 1000) -> float:
    return rate * level / (1 + contention * (level - 1) + coherency * level * (level - 1))


def noisy(
    draw: Random, contention: float, coherency: float, noise: float = 0.03, n: int = 5
) -> dict[int, list[float]]:
    return {
        level: [
            law(level, contention, coherency) * math.exp(draw.gauss(0, noise)) for _ in range(n)
        ]
        for level in LEVELS
    }


def fitted(throughput: dict[int, float]) -> Scaling:
    found = scaling(throughput)
    assert isinstance(found, Scaling), found
    return found


@given(st.floats(0, 0.9), st.one_of(st.just(0.0), st.floats(1e-6, 1e-2)), st.floats(0.1, 1e6))
def test_a_law_without_noise_is_found_again(
    contention: float, coherency: float, rate: float
) -> None:
    found = fitted({level: law(level, contention, coherency, rate) for level in LEVELS})
    assert found.rate == pytest.approx(rate, rel=1e-5)
    assert found.contention == pytest.approx(contention, abs=1e-5)
    assert found.coherency == pytest.approx(coherency, rel=1e-4, abs=1e-8)
    assert found.max_error < 1e-5


def test_with_noise_it_is_found_as_closely_as_in_the_method() -> None:
    draw = Random(1)
    found = [
        fitted(
            {level: statistics.geometric_mean(of) for level, of in noisy(draw, 0.02, 2e-4).items()}
        )
        for _ in range(60)
    ]
    peaks = sorted(one.peak or 0 for one in found)
    assert 68 < peaks[15] < peaks[45] < 72  # the truth is 70
    assert statistics.stdev(one.contention for one in found) < 0.0015
    assert all(one.max_error < 0.1 for one in found)


def test_the_least_squares_are_those_of_scipy() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    draw = Random(2)
    for contention, coherency in ((0, 0), (0, 1e-4), (0.05, 0), (0.3, 1e-3)):
        of = {
            level: law(level, contention, coherency) * math.exp(draw.gauss(0, 0.02))
            for level in LEVELS
        }

        def errors(x: list[float], of: dict[int, float] = of) -> list[float]:
            return [x[0] + math.log(law(n, x[1], x[2], 1)) - math.log(of[n]) for n in LEVELS]

        found = fitted(of)
        theirs = optimize.least_squares(
            errors,
            [7, 0.05, 1e-4],
            bounds=([-50, 0, 0], [50, 10, 10]),
            loss="soft_l1",
            f_scale=0.05,
            x_scale=[1, 0.01, 1e-4],
            ftol=1e-15,
            xtol=1e-15,
            gtol=1e-15,
        )
        ours = errors([math.log(found.rate), found.contention, found.coherency])
        cost = sum(math.hypot(1, error / 0.05) - 1 for error in ours) * 0.05**2
        assert cost <= theirs.cost * (1 + 1e-6)


@pytest.mark.parametrize("knee", [4, 8, 32, 64])
def test_a_hard_knee_is_no_law(knee: int) -> None:
    got = sweep(
        {level: [1000.0 * min(level, knee) * by for by in (0.99, 1.0, 1.01)] for level in LEVELS}
    )
    assert got.law is None
    assert "% off at one level" in got.law_why
    assert got.saturated == knee
    assert got.knee == pytest.approx(knee)


@pytest.mark.parametrize(
    ("throughput", "why"),
    [
        ({level: 1000.0 * level for level in LEVELS}, "not reached at 256"),
        ({level: law(level, 0.01, 1e-6) for level in LEVELS}, "not reached at 256"),
        (dict.fromkeys(LEVELS, 1000.0), "more than one is never faster"),
        ({level: 1000.0 / level for level in LEVELS}, "more than one is never faster"),
    ],
)
def test_a_peak_is_not_told_where_none_was_reached(throughput: dict[int, float], why: str) -> None:
    found = fitted(throughput)
    assert (found.peak, found.why) == (None, why)


def test_too_few_levels_speak_against_no_law() -> None:
    assert (
        scaling({1: 1.0, 2: 1.9, 4: 3.5, 8: 6.0}) == "the law takes 5 levels of concurrency, not 4"
    )
    assert scaling({}) == "the law takes 5 levels of concurrency, not 0"


@pytest.mark.parametrize("wrong", [{0: 1.0}, {1: 0.0}, {1: -1.0}, {1: math.nan}, {1: math.inf}])
def test_what_is_no_throughput_is_refused(wrong: dict[int, float]) -> None:
    with pytest.raises(ValueError, match="no throughput"):
        scaling(wrong)


def test_a_sweep_says_all_of_it() -> None:
    values = noisy(Random(3), 0.02, 2e-4, n=8)
    got = sweep(values, seed=1)
    assert got == sweep(values, seed=1)
    most = max(LEVELS, key=lambda level: statistics.geometric_mean(values[level]))
    assert got.best_level == most
    assert got.highest.value == pytest.approx(statistics.geometric_mean(values[most]))
    assert got.highest.low is not None
    assert got.highest.high is not None
    assert got.highest.low <= law(70, 0.02, 2e-4) <= got.highest.high * 1.01
    assert got.saturated_range is not None
    assert got.saturated is not None
    assert got.saturated_range[0] <= got.saturated <= got.saturated_range[1]
    assert got.knee == pytest.approx(19.7, rel=0.1)
    assert got.law is not None
    assert got.law.peak == pytest.approx(70, rel=0.1)


@pytest.mark.parametrize(
    ("values", "at", "why"),
    [
        ({}, None, "no level was measured"),
        ({1: [], 2: []}, None, "no block has a value"),
        ({1: [1.0, 2, 3], 2: [0.0, 3, 4]}, None, "a value is 0"),
        ({1: [1.0], 2: [2.0]}, 2, "1 block has no interval: it takes 3"),
        ({1: [1.0, 1.1], 2: [2.0, 2.1]}, 2, "2 blocks have no interval: it takes 3"),
        (
            {1: [1.0] * 5, 2: [2.0, 2.1, 2, 2, 2]},
            2,
            "all 5 are equal: how they spread is not known",
        ),
    ],
)
def test_what_a_sweep_cannot_say(values: dict[int, list[float]], at: int | None, why: str) -> None:
    got = sweep(values)
    assert got.best_level == at
    assert got.highest.interval is None
    assert why in got.highest.why
    assert got.law is None
    assert got.law_why


@pytest.mark.parametrize(
    "wrong", [{0: [1.0]}, {1: [1.0], 2: [1.0, 2.0]}, {1: [math.nan]}, {-4: [1.0]}]
)
def test_a_sweep_with_holes_is_refused(wrong: dict[int, list[float]]) -> None:
    with pytest.raises(ValueError, match=r"levels are 1 or more|not finite"):
        sweep(wrong)
