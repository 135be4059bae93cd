"""The search for a rate: where it goes, that it always ends, and what its trials say."""

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made.simulate import search, searched, tried
from present import present

from benchforge.model.suite.search import RateSearch, SearchTrial
from benchforge.stats.search.search import Next, next_rate, sustained


def sharp(find: RateSearch, start: float, limit: float) -> list[SearchTrial]:
    """Search a server that passes below its limit and fails above it."""
    attempts: list[SearchTrial] = []
    while (rate := next_rate(find, start, attempts).rate) is not None:
        attempts.append(tried(rate, passed=rate <= limit))
    return attempts


@given(st.floats(1, 1e5), st.floats(20, 9e4), st.integers(1, 40))
def test_a_search_ends_near_the_limit(start: float, limit: float, steps: int) -> None:
    find = search(1, 1e5, steps)
    attempts = sharp(find, start, limit)
    assert next_rate(find, start, attempts) == Next("done", None)
    assert len(attempts) <= steps + 17 + 5
    assert math.log(attempts[-1].rate / limit) == pytest.approx(0, abs=0.065)


def test_the_phases_of_a_search() -> None:
    find = search(10, 10_000, 4)
    attempts = sharp(find, 100, 700)
    phases = [next_rate(find, 100, attempts[:n]).phase for n in range(len(attempts) + 1)]
    assert phases == ["bracket"] * 4 + ["bisect"] * 4 + ["staircase"] * 4 + ["done"]
    assert [round(attempt.rate) for attempt in attempts[:5]] == [100, 200, 400, 800, 566]
    upper, below = attempts[-2:]
    assert max(upper.rate / below.rate, below.rate / upper.rate) == pytest.approx(1.03)


@pytest.mark.parametrize(("limit", "phase", "last"), [(5, "too low", 10), (1e6, "too high", 1000)])
def test_a_limit_outside_of_what_can_be_tried(limit: float, phase: str, last: float) -> None:
    find = search(10, 1000)
    attempts = sharp(find, 100, limit)
    assert next_rate(find, 100, attempts).phase == phase
    assert attempts[-1].rate == last
    assert sustained(attempts).rate.why == f"every trial {'passed' if limit > 10 else 'failed'}"


@given(st.lists(st.booleans(), max_size=60), st.floats(10, 1000))
def test_whatever_happens_rates_stay_within_bounds(answers: list[bool], start: float) -> None:
    find = search(10, 1000)
    attempts: list[SearchTrial] = []
    for passed in answers:
        rate = next_rate(find, start, attempts).rate
        if rate is None:
            break
        assert 10 <= rate <= 1000
        attempts.append(tried(rate, passed=passed))


def test_an_attempt_that_nobody_asked_for_is_refused() -> None:
    find = search(10, 1000, 1)
    done = sharp(find, 100, 300)
    for attempts, rate in (([tried(101, passed=True)], "100"), ([*done, done[-1]], "nothing")):
        with pytest.raises(ValueError, match=f"was tried, {rate} was asked for"):
            next_rate(find, 100, attempts)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.floats(0.01, 1e4))
def test_the_unit_of_the_rate_does_not_count(seed: int, by: float) -> None:
    attempts = searched(Random(seed), 1000, 0.025)
    item = sustained(attempts)
    scaled = [tried(attempt.rate * by, passed=attempt.passed) for attempt in attempts]
    other = sustained(scaled)
    assert other.rate.value == pytest.approx(present(item.rate.value) * by, rel=0.003)
    assert other.safe == pytest.approx(present(item.safe) * by, rel=0.003)
    assert sustained(attempts[::-1]) == item


def test_the_posterior_is_the_naive_one() -> None:
    attempts = searched(Random(4), 1000, 0.025)
    points = []
    for middle in (math.log(1000) + k / 2000 for k in range(-400, 401)):
        for z in (k / 10 for k in range(-30, 31)):
            width = 0.025 * math.exp(z / 2)
            weight = math.exp(-z * z / 2)
            for each in attempts:
                passing = 1 / (1 + math.exp((math.log(each.rate) - middle) / width))
                weight *= passing if each.passed else 1 - passing
            points.append((middle, weight))
    total = sum(weight for _, weight in points)

    def naive(share: float) -> float:
        below = 0.0
        for middle, weight in points:
            below += weight / total
            if below >= share:
                return math.exp(middle)
        raise AssertionError

    got = sustained(attempts).rate
    assert got.value == pytest.approx(naive(0.5), rel=0.002)
    assert got.interval == pytest.approx((naive(0.025), naive(0.975)), rel=0.003)


def test_a_passage_that_is_wide_is_told() -> None:
    narrow = [tried(rate, passed=rate < 1000) for rate in range(900, 1100, 10)]
    wide = [tried(rate, passed=rate % 3 > 0) for rate in range(500, 1500, 25)]
    for attempts, upper, below in ((narrow, 0, 0.025), (wide, 0.05, 1)):
        got = sustained(attempts)
        assert upper < present(got.width) < below
        assert present(got.safe) < (got.rate.value or 0)


def test_without_any_trial_there_is_no_rate() -> None:
    got = sustained([])
    assert (got.rate.value, got.rate.why, got.safe) == (None, "there was no trial", None)
