"""What a ratio decides: each state, and that not finding a difference is never the same."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.simulate import two
from present import present

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.hodges_lehmann import companion, ratio
from benchforge.stats.inference.region import decide


def known(low: float, high: float) -> Estimate:
    numbers = {"level": 0.95, "n": 10, "value": math.sqrt(low * high), "p": 0.001, "sd": 0.02}
    fields = {"method": "paired t of log-ratios", "low": low, "high": high}
    return Estimate.model_validate(fields | numbers)


@pytest.mark.parametrize(
    ("low", "high", "higher", "lower"),
    [
        (1.05, 1.12, "faster", "slower"),
        (1.001, 1.02, "faster", "slower"),
        (0.8, 0.99, "slower", "faster"),
        (0.98, 1.02, "same", "same"),
        (0.98, 1.031, "inconclusive", "inconclusive"),
        (0.965, 1.02, "inconclusive", "inconclusive"),
    ],
)
def test_each_state(low: float, high: float, higher: str, lower: str) -> None:
    assert decide(known(low, high)).state == higher
    assert decide(known(low, high), better="lower").state == lower


def test_a_difference_says_by_how_much_at_least() -> None:
    assert decide(known(1.05, 1.12)).at_least == 1.05
    assert decide(known(0.8, 0.9)).at_least == 0.9
    assert decide(known(0.98, 1.02)).at_least is None


def test_the_same_may_take_another_interval_than_a_difference() -> None:
    got = decide(known(0.99, 1.04), for_same=known(0.99, 1.02))
    assert (got.state, got.ratio.high) == ("same", 1.02)
    assert decide(known(1.005, 1.02), for_same=known(0.9, 1.1)).state == "faster"
    # An interval that excludes 1 does not show that the two are the same.
    assert decide(known(0.99, 1.04), for_same=known(1.005, 1.02)).state == "inconclusive"


@pytest.mark.parametrize(
    ("values", "state"),
    [
        *(([], "invalid"), ([1.0], "invalid"), ([1.0, 2.0], "invalid")),
        *(([0.0, 2.0, 3.0], "invalid"), ([2.0, 2.0, 2.0], "inconclusive")),
        ([1e-300, 1.0, 1e300], "inconclusive"),  # beyond all numbers
    ],
)
def test_without_an_interval_nothing_is_decided(values: list[float], state: str) -> None:
    ones = [1.0] * len(values)
    got = decide(ratio(values, ones), companion(values, ones))
    assert got.state == state
    assert got.ratio.why
    assert got.fragile is got.blocks_needed is got.detectable_ratio is got.at_least is None


def test_fragile_when_one_outlier_decided() -> None:
    theirs = [100.0, 101, 99, 100.5, 99.5, 100.2, 99.8, 100.1, 99.9, 100.3, 100.6, 99.4]
    by = [1.05, 1.06, 1.04, 1.055, 1.045, 1.05, 1.052, 1.048, 1.05, 1.051, 1.049, 1.053]
    better = [value * each for value, each in zip(theirs, by, strict=True)]
    assert decide(ratio(better, theirs), companion(better, theirs)).fragile is False
    once = [*better[:-1], 40.0]
    got = decide(ratio(once, theirs), companion(once, theirs))
    assert (got.state, got.fragile) == ("inconclusive", True)
    assert decide(ratio(once[:5], theirs[:5]), companion(once[:5], theirs[:5])).fragile is None
    assert decide(ratio(once, theirs)).fragile is None


@given(st.integers(0, 10**6), st.sampled_from([3, 5, 10, 20]), st.floats(0.005, 0.1))
def test_inconclusive_always_says_that_it_takes_more(seed: int, n: int, margin: float) -> None:
    got = decide(ratio(*two(Random(seed), n)), margin=margin)
    if got.state == "inconclusive":
        assert present(got.blocks_needed) > n
    else:
        assert got.blocks_needed is None
    assert present(got.detectable_ratio) > 1


@given(st.integers(0, 10**6), st.floats(0.9, 1.1))
def test_turned_around_it_decides_the_reverse(seed: int, truth: float) -> None:
    pair, theirs = two(Random(seed), 10, truth)
    entries, back = decide(ratio(pair, theirs)), decide(ratio(theirs, pair))
    reverse = {"faster": "slower", "slower": "faster"}
    assert back.state == reverse.get(entries.state, entries.state)
    assert decide(ratio(pair, theirs), better="lower").state == back.state


@pytest.mark.parametrize("margin", [0, -0.1, math.nan, math.inf])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        decide(known(1, 2), margin=margin)
