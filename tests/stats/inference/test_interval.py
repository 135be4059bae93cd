"""Numbers of blocks: the printed planning table and Stein's rule; rates of errors."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.simulate import share, tolerance, two

from benchforge.model.suite.until import Until
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.hodges_lehmann import ratio
from benchforge.stats.inference.interval import blocks_for, failing, planned, resolved, worst
from benchforge.stats.inference.stopping import enough


@pytest.mark.parametrize(
    ("n", "times"),
    [(3, 3.10), (5, 1.66), (8, 1.15), (10, 0.99), (15, 0.78), (20, 0.66), (30, 0.53)],
)
def test_the_table_of_the_method(n: int, times: float) -> None:
    assert resolved(1, n) == pytest.approx(times, abs=0.005)
    assert resolved(0.028, n) == pytest.approx(0.028 * times, abs=0.0002)


def test_the_examples_of_the_method() -> None:
    assert blocks_for(0.02, 0.028) == 18
    assert blocks_for(1e-6, 1) == pytest.approx(7.85e12, rel=1e-3)  # more than anybody has


@given(st.floats(0.001, 0.5), st.floats(0.001, 0.5), st.floats(0.5, 0.95))
def test_the_least_number_of_blocks(effect: float, sd: float, power: float) -> None:
    n = blocks_for(effect, sd, power)
    assert resolved(sd, n, power) <= effect
    assert n == 3 or resolved(sd, n - 1, power) > effect


def test_four_in_five_are_found() -> None:
    times = 2000
    for n in (5, 10, 20):
        effect = math.exp(resolved(0.02 * math.sqrt(2), n))

        def found(draw: Random, n: int = n, effect: float = effect) -> bool:
            return (ratio(*two(draw, n, effect, outliers=0)).p or 0) < 0.05

        assert share(times, n, found) == pytest.approx(0.8, abs=0.02 + tolerance(0.8, times))


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf])
def test_a_plan_from_nothing_is_refused(wrong: float) -> None:
    for plan in (
        lambda: resolved(wrong, 8),
        lambda: blocks_for(0.02, wrong),
        lambda: blocks_for(wrong, 0.02),
        lambda: planned([0.1, 0.2, 0.4], wrong),
    ):
        with pytest.raises(ValueError, match="positive number"):
            plan()


def test_a_plan_from_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="takes 3"):
        planned([0.1, 0.2], 0.03)
    with pytest.raises(ValueError, match="not finite"):
        planned([0.1, 0.2, math.nan], 0.03)
    with pytest.raises(ValueError, match="degrees of freedom"):
        resolved(0.02, 1)


UNTIL = Until(width=0.03, least=8, method="width")


def estimate(half: float | None, text: str = "") -> Estimate:
    ends = {} if half is None else {"low": math.exp(-half), "high": math.exp(half)}
    value = None if text.startswith("a value") else 1
    fields = {"method": "paired t of log-ratios", "level": 0.95, "n": 8, "value": value}
    fields["why"] = text
    return Estimate.model_validate(fields | ends)


NARROW, WIDE = estimate(0.02), estimate(0.04)
FEW, NONE = (NARROW.model_copy(update={"n": n}) for n in (6, 0))
EQUAL, NOTHING = estimate(None, "all 8 are equal"), estimate(None, "a value is 0")


MOST = "repeat.between = [8, 30] allows no more, and"
NO_MORE, WIDER = "no block will tell more:", "an interval is 4 % wide to a side"


@pytest.mark.parametrize(
    ("estimates", "n", "stop", "reached", "reason"),
    [
        ([NARROW], 7, False, False, "7 of at least 8 blocks"),
        ([NARROW], 8, True, True, "no interval is wider than 2 % to a side"),
        ([NARROW, FEW], 8, False, False, "6 of at least 8 blocks are believed of two that are"),
        ([NARROW, NONE], 8, False, False, "0 of at least 8 blocks are believed of two that are"),
        ([FEW], 30, True, False, f"{MOST} 6 of at least 8 blocks are believed"),
        ([NARROW, WIDE], 8, False, False, f"{WIDER}, more than 3 %"),
        ([NARROW, WIDE], 30, True, False, f"{MOST} {WIDER}"),
        ([NARROW, NOTHING], 8, True, False, f"{NO_MORE} a value is 0"),
        ([WIDE, NOTHING], 8, False, False, f"{WIDER}, more than 3 %"),
        ([EQUAL], 8, True, False, f"{NO_MORE} all 8 are equal"),
        ([], 8, True, False, f"{NO_MORE} nothing was asked for"),
    ],
)
def test_when_to_stop(
    estimates: list[Estimate], n: int, stop: bool, reached: bool, reason: str
) -> None:
    got = enough(estimates, n, UNTIL)
    assert (got.blocks, got.stop, got.reached) == (n, stop, reached)
    assert got.why.startswith(reason)
    assert got.in_words.startswith("stopped after" if stop else "not enough after")


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
