"""Student's t and the beta distribution: against printed tables, closed forms, and scipy."""

import math
from statistics import NormalDist, pvariance
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from present import present

from benchforge.stats import distributions as dist
from benchforge.stats.distributions import beta_cdf, beta_quantile, t_quantile, two_sided
from benchforge.stats.inference.interval import welch


@given(st.floats(0, 1), st.floats(0.5, 2000), st.floats(0.5, 2000))
def test_the_quantile_of_beta_is_where_its_share_is_reached(p: float, a: float, b: float) -> None:
    x = dist.beta_quantile(p, a, b)
    assert dist.beta_cdf(max(0, x * (1 - 1e-9)), a, b) <= p + 1e-9
    assert dist.beta_cdf(min(1, x * (1 + 1e-9)), a, b) >= p - 1e-9


# Printed in every book; they need no oracle to be there.
@pytest.mark.parametrize(
    ("p", "df", "printed"),
    [
        *((0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 9, 2.262), (0.975, 29, 2.045)),
        *((0.95, 4, 2.132), (0.995, 7, 3.499), (0.8, 9, 0.883)),
    ],
)
def test_the_quantiles_are_those_of_the_tables(p: float, df: int, printed: float) -> None:
    assert dist.t_quantile(p, df) == pytest.approx(printed, abs=5e-4)
    assert dist.t_quantile(1 - p, df) == pytest.approx(-printed, abs=5e-4)


def test_one_and_two_degrees_of_freedom_have_a_closed_form() -> None:
    for t in (-30.0, -1.0, -1e-6, 0.0, 0.3, 2.0, 500.0):
        far = abs(t)
        assert dist.two_sided(t, 1) == pytest.approx(1 - 2 * math.atan(far) / math.pi, abs=1e-14)
        assert dist.two_sided(t, 2) == pytest.approx(1 - far / math.sqrt(2 + t * t), abs=1e-14)


def test_it_tends_to_the_normal_one() -> None:
    for p in (0.001, 0.2, 0.9, 0.975):
        assert dist.t_quantile(p, 1e6) == pytest.approx(NormalDist().inv_cdf(p), abs=1e-5)


def test_the_series_for_many_degrees_of_freedom_continues_the_exact_quantile() -> None:
    for p in (0.51, 0.8, 0.975, 1 - 1e-9):
        below, upper = (
            dist.t_quantile(p, 100_000),
            dist.t_quantile(p, math.nextafter(100_000, math.inf)),
        )
        assert upper == pytest.approx(below, rel=1e-9)


def test_the_middle_is_zero_and_the_far_ends_are_reached() -> None:
    assert dist.t_quantile(0.5, 3) == 0
    assert dist.two_sided(math.inf, 3) == dist.two_sided(1e200, 3) == 0
    assert dist.two_sided(-math.inf, 3) == 0
    assert dist.beta_quantile(0, 2, 3) == 0
    assert dist.beta_quantile(1, 2, 3) == 1


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.1, math.nan])
def test_no_quantile_outside_of_all_shares(p: float) -> None:
    with pytest.raises(ValueError, match=r".+"):
        dist.t_quantile(p, 5)


@pytest.mark.parametrize("df", [0, -1, math.nan, math.inf])
def test_no_distribution_without_degrees_of_freedom(df: float) -> None:
    with pytest.raises(ValueError, match="degrees of freedom"):
        dist.two_sided(1, df)


@pytest.mark.parametrize("x", [-0.1, 1.1, math.nan])
def test_no_share_outside_of_beta(x: float) -> None:
    with pytest.raises(ValueError, match="beta"):
        dist.beta_cdf(x, 1, 1)
    with pytest.raises(ValueError, match="between 0 and 1"):
        dist.beta_quantile(x, 1, 1)


@pytest.fixture(scope="module")
def special() -> Any:
    """Give scipy's functions: imported here, since a worker that runs no such test needs none."""
    return pytest.importorskip("scipy.special")


@pytest.fixture(scope="module")
def stats() -> Any:
    return pytest.importorskip("scipy.stats")


DF = st.one_of(st.integers(1, 60).map(float), st.floats(0.5, 5000))


@given(st.floats(-1e6, 1e6), DF)
@example(1e-8, 3.0)
@example(0.0, 1.0)
def test_the_share_of_student_is_scipys(special: Any, t: float, df: float) -> None:
    assert two_sided(t, df) == pytest.approx(2 * special.stdtr(df, -abs(t)), abs=1e-12, rel=1e-9)


@given(st.floats(1e-6, 1 - 1e-6), DF)
def test_the_quantile_of_student_is_scipys(special: Any, p: float, df: float) -> None:
    assert t_quantile(p, df) == pytest.approx(special.stdtrit(df, p), rel=1e-9, abs=1e-9)


@given(st.floats(0, 1), st.floats(0.05, 2000), st.floats(0.05, 2000))
def test_the_share_of_beta_is_scipys(special: Any, x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-9)


@given(st.floats(1e-6, 1 - 1e-6), st.floats(0.5, 2000), st.floats(0.5, 2000))
def test_the_quantile_of_beta_is_scipys(special: Any, p: float, a: float, b: float) -> None:
    assert beta_quantile(p, a, b) == pytest.approx(special.betaincinv(a, b, p), rel=1e-9)


SOME = st.lists(st.floats(-5, 5), min_size=3, max_size=20)


@given(SOME, SOME)
def test_welch_is_scipys(stats: Any, item: list[float], other: list[float]) -> None:
    if min(pvariance(item), pvariance(other)) < 1e-6:  # scipy warns of rounding there
        return
    theirs, actual = (
        stats.ttest_ind(item, other, equal_var=False),
        present(welch(item, other, 0.95)),
    )
    assert actual.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
    ends = actual.difference - actual.half, actual.difference + actual.half
    assert ends == pytest.approx(tuple(theirs.confidence_interval(0.95)), abs=1e-6)
