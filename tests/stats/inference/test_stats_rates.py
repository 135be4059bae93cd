"""Rates of errors: against the binomial distribution itself."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.stats.inference.interval import failing, worst


def at_most(k: int, n: int, p: float) -> float:
    """P(X <= k) of the binomial, term by term."""
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


@given(st.integers(1, 200), st.data(), st.sampled_from([0.9, 0.95, 0.99]))
def test_each_end_has_half_of_alpha(total: int, data: st.DataObject, level: float) -> None:
    failed = data.draw(st.integers(1, total))
    got = failing([(failed, total)], level)
    assert got.low is not None
    assert got.high is not None
    assert 1 - at_most(failed - 1, total, got.low) == pytest.approx((1 - level) / 2)
    if failed < total:
        assert at_most(failed, total, got.high) == pytest.approx((1 - level) / 2)
    else:
        assert got.high == 1


@given(st.integers(1, 10**7))
def test_no_error_is_the_rule_of_three(total: int) -> None:
    got = failing([(0, total)])
    assert (got.value, got.low, got.method) == (0, 0, "rule of three")
    assert got.high is not None
    assert (1 - got.high) ** total == pytest.approx(0.05, rel=1e-6)
    assert got.high < 3 / total


def test_trials_are_added_and_the_worst_is_told() -> None:
    trials = [(0, 1000), (0, 1000), (9, 1000)]
    got = failing(trials)
    assert got == failing([(9, 3000)])
    assert got.n == 3000
    assert worst(trials) == 0.009
    assert worst([(0, 0), (1, 10)]) != worst([(0, 0), (0, 10)]) == 0


def test_without_requests_there_is_no_rate() -> None:
    for nothing in ([], [(0, 0)]):
        got = failing(nothing)
        assert (got.value, got.interval, got.why) == (None, None, "there was no request")
        assert worst(nothing) is None


@pytest.mark.parametrize("counts", [(2, 1), (-1, 5)])
def test_counts_that_cannot_be_are_refused(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="failures of requests"):
        failing([counts])
    with pytest.raises(ValueError, match="between 0 and 1"):
        failing([(1, 2)], 95)
