"""Intervals: against naive versions, and what they say of values that have none."""

import math
import statistics
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.distributions import t_quantile
from benchforge.stats.inference import hodges_lehmann as hodges
from benchforge.stats.inference.interval import deviation, typical

VALUES = st.floats(0.01, 1e9)
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=3, max_size=30)


def halves(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


@given(st.lists(VALUES, min_size=3, max_size=30), st.sampled_from([0.8, 0.95, 0.99]))
def test_a_typical_value_is_the_naive_one(values: list[float], level: float) -> None:
    logs = [math.log(value) for value in values]
    assume(statistics.stdev(logs) > 1e-6)
    half = t_quantile((1 + level) / 2, len(logs) - 1) * statistics.stdev(logs) / len(logs) ** 0.5
    assume(abs(statistics.mean(logs)) + half < 700)
    got = typical(values, level)
    assert got.value == pytest.approx(statistics.geometric_mean(values))
    ends = (math.exp(statistics.mean(logs) - half), math.exp(statistics.mean(logs) + half))
    assert got.interval == pytest.approx(ends, rel=1e-6)
    assert (got.n, got.df, got.p, got.why) == (len(values), len(values) - 1, None, "")


@given(PAIRS)
def test_a_ratio_is_the_typical_one_of_the_blocks_ratios(pairs: list[tuple[float, float]]) -> None:
    got = hodges.ratio(*halves(pairs))
    naive = typical([a / b for a, b in pairs])
    assume(naive.low is not None and got.low is not None and naive.sd is not None)
    assume((naive.sd or 0) > 1e-6)
    assert got.value == pytest.approx(naive.value, rel=1e-6)
    assert got.interval == pytest.approx(naive.interval, rel=1e-5)


@given(PAIRS)
def test_a_ratio_turned_around_is_one_through_it(pairs: list[tuple[float, float]]) -> None:
    first_side, theirs = halves(pairs)
    entries, back = hodges.ratio(first_side, theirs), hodges.ratio(theirs, first_side)
    assume(entries.low is not None and entries.high is not None)
    assert back.interval == pytest.approx((1 / (entries.high or 0), 1 / (entries.low or 0)))
    assert back.p == pytest.approx(entries.p)


@given(PAIRS, st.lists(st.floats(0.5, 2), min_size=30, max_size=30))
def test_the_level_of_a_block(pairs: list[tuple[float, float]], drift: list[float]) -> None:
    first_side, theirs = halves(pairs)
    assume(deviation(hodges.log_ratios(first_side, theirs)) > 1e-6)
    moved = halves([(a * by, b * by) for (a, b), by in zip(pairs, drift, strict=False)])
    got, still = hodges.ratio(*moved), hodges.ratio(first_side, theirs)
    assume(still.low is not None)
    assert got.interval == pytest.approx(still.interval, rel=1e-6)


@given(PAIRS)
def test_the_interval_agrees_with_p(pairs: list[tuple[float, float]]) -> None:
    got = hodges.ratio(*halves(pairs))
    assume(got.low is not None and got.high is not None and got.p is not None)
    assume(abs((got.p or 0) - 0.05) > 1e-9)
    assert ((got.low or 0) > 1 or (got.high or 0) < 1) == ((got.p or 0) < 0.05)


@pytest.mark.parametrize("n", range(1, 11))
def test_the_counts_of_signed_ranks_are_those_of_all_signs(n: int) -> None:
    sums = [
        sum(rank for rank, positive in enumerate(signs, 1) if positive)
        for signs in product((False, True), repeat=n)
    ]
    assert hodges.counts(n) == tuple(sums.count(v) for v in range(n * (n + 1) // 2 + 1))


@pytest.mark.parametrize(("n", "percent"), [(3, 75), (4, 87.5), (5, 93.75)])
def test_below_six_blocks_there_is_no_95_percent(n: int, percent: float) -> None:
    assert hodges.outside(n, 0.95) is None
    assert hodges.achieved(n, 0) == percent / 100
    got = hodges.companion([2.0, 3, 4, 5, 6][:n], [1.0, 1.5, 2.1, 2.6, 2.9][:n])
    assert got.value is not None
    assert got.interval is None
    assert got.why == f"{n} blocks cannot give 95 %"


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=20))
def test_the_companion_is_the_naive_one(logs: list[float]) -> None:
    assume(deviation(logs) > 1e-6)
    walsh = sorted((a + b) / 2 for a, b in combinations_with_replacement(logs, 2))
    tail = [sum(hodges.counts(len(logs))[: v + 1]) / 2 ** len(logs) for v in range(len(walsh))]
    cut = max(v for v, below in enumerate(tail) if below <= 0.025)
    got = hodges.hodges_lehmann(logs)
    assert got.value == pytest.approx(math.exp(statistics.median(walsh)))
    # 1-based: from the (cut + 1)th to the (M - cut)th.
    ends = (math.exp(walsh[cut + 1 - 1]), math.exp(walsh[len(walsh) - cut - 1]))
    assert got.interval == pytest.approx(ends)
    assert got.achieved_level == pytest.approx(1 - 2 * tail[cut])


@given(st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.0, 5e-324, 1.0]), min_size=1))
def test_of_many_blocks_the_middle_is_exactly_that_of_the_list(values: list[float]) -> None:
    walsh = [(a + b) / 2 for a, b in combinations_with_replacement(values, 2)]
    assert hodges.median_average(sorted(values)) == statistics.median(walsh)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "no block has a value"),
        ([5.0], "1 block has no interval: it takes 3"),
        ([5.0, 6.0], "2 blocks have no interval: it takes 3"),
        ([5.0] * 8, "all 8 are equal: how they spread is not known"),
        ([5.0, 0.0, 6.0], "a value is 0: what is not above 0 has no logarithm, and no ratio"),
        ([5.0, -2.0, 6.0], "a value is -2: what is not above 0 has no logarithm, and no ratio"),
        ([1e-300, 1.0, 1e300], "the values lie so far apart that no number holds the interval"),
    ],
)
def test_why_there_is_no_interval(values: list[float], reason: str) -> None:
    other = [1.0 for _ in values]
    for got in (typical(values), hodges.ratio(values, other)):
        assert got.interval is None
        assert got.p is None or got.why.startswith("the values lie")
        assert (got.why, got.n) == (reason, len(values))
        assert (got.value is None) == (not values or min(values) <= 0)
    assert hodges.companion(values, other).interval is None
    assert hodges.companion(values, other).why


def test_equal_but_for_rounding_is_equal() -> None:
    first_side = [100.0, 101.7, 103.3, 99.1, 98.7, 102.9]
    got = hodges.ratio(first_side, [value * 1.1 for value in first_side])
    assert got.value == pytest.approx(1 / 1.1)
    assert got.interval is None
    assert "equal" in got.why
    assert "equal" in hodges.companion(first_side, [value * 1.1 for value in first_side]).why


def test_too_many_blocks_for_the_companion() -> None:
    many = [1.0 + k / 1000 for k in range(201)]
    assert (
        hodges.companion(many, [1.0] * 201).why == "ranks of more than 200 blocks are not counted"
    )
    assert hodges.companion(many[:200], [1.0] * 200).interval is not None


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_is_refused(wrong: float) -> None:
    for function in (hodges.ratio, hodges.companion):
        for sides in (([1.0, 2.0, wrong], [1.0, 2.0, 3.0]), ([1.0, 2.0, 3.0], [1.0, 2.0, wrong])):
            with pytest.raises(ValueError, match="not finite"):
                function(*sides)
    with pytest.raises(ValueError, match="not finite"):
        typical([1.0, 2.0, wrong])


def test_blocks_that_do_not_pair_are_refused() -> None:
    for function in (hodges.ratio, hodges.companion):
        with pytest.raises(ValueError, match="argument 2"):
            function([1.0, 2.0, 3.0], [1.0, 2.0])


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, math.nan])
def test_a_level_that_is_none_is_refused(level: float) -> None:
    for function in (hodges.ratio, hodges.companion):
        with pytest.raises(ValueError, match="between 0 and 1"):
            function([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], level)


def test_an_estimate_cannot_say_half() -> None:
    def made(**fields: object) -> Estimate:
        return Estimate.model_validate({"method": "t of logs", "level": 0.95, "n": 3, **fields})

    assert made(value=2, low=1, high=3).interval == (1, 3)
    for fields, reason in (
        ({"value": 2, "low": 1}, "two ends"),
        ({"value": 2}, "has a reason"),
        ({}, "has a reason"),
        ({"low": 1, "high": 3, "why": "lost"}, "no value means no interval"),
        ({"value": 4, "low": 1, "high": 3}, "not between"),
        ({"value": math.nan, "low": 1, "high": 3}, "finite"),
    ):
        with pytest.raises(ValidationError, match=reason):
            made(**fields)
