"""Sweeps: the most, where it saturates, and what a sweep cannot say."""

import math
import statistics
from random import Random

import pytest
from present import present

from benchforge.stats.summary.concurrency_sweeps import sweep

LEVELS = [1, 2, 4, 8, 16, 32, 64, 128, 256]


def law(level: int, contention: float, coherency: float) -> float:
    return 1000 * level / (1 + contention * (level - 1) + coherency * level * (level - 1))


def noisy(draw: Random, contention: float, coherency: float, n: int) -> dict[int, list[float]]:
    def value(level: int) -> float:
        return law(level, contention, coherency) * math.exp(draw.gauss(0, 0.03))

    return {level: [value(level) for _ in range(n)] for level in LEVELS}


@pytest.mark.parametrize("knee", [4, 8, 32, 64])
def test_a_hard_knee_saturates(knee: int) -> None:
    values = {level: [1000.0 * min(level, knee) * by for by in (0.99, 1, 1.01)] for level in LEVELS}
    got = sweep(values)
    assert got.saturated == knee
    assert got.knee == pytest.approx(knee)


def test_a_sweep_says_all_of_it() -> None:
    values = noisy(Random(3), 0.02, 2e-4, n=8)
    got = sweep(values, seed=1)
    assert got == sweep(values, seed=1)
    most = max(LEVELS, key=lambda level: statistics.geometric_mean(values[level]))
    assert got.best_level == most
    assert got.highest.value == pytest.approx(statistics.geometric_mean(values[most]))
    assert present(got.highest.low) <= law(70, 0.02, 2e-4) <= present(got.highest.high) * 1.01
    assert got.saturated_range is not None
    assert got.saturated_range[0] <= present(got.saturated) <= got.saturated_range[1]
    assert got.knee == pytest.approx(19.7, rel=0.1)


@pytest.mark.parametrize(
    ("values", "index", "reason"),
    [
        ({}, None, "no level was measured"),
        ({1: [], 2: []}, None, "no block has a value"),
        ({1: [1.0, 2, 3], 2: [0.0, 3, 4]}, None, "a value is 0"),
        ({1: [1.0], 2: [2.0]}, 2, "1 block has no interval: it takes 3"),
        ({1: [1.0, 1.1], 2: [2.0, 2.1]}, 2, "2 blocks have no interval: it takes 3"),
        ({1: [1.0] * 5, 2: [2.0, 2.1, 2, 2, 2]}, 2, "all 5 are equal: how they spread is not"),
    ],
)
def test_what_a_sweep_cannot_say(
    values: dict[int, list[float]], index: int | None, reason: str
) -> None:
    got = sweep(values)
    assert got.best_level == index
    assert got.highest.interval is None
    assert reason in got.highest.why
