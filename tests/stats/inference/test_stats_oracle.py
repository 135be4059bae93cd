"""Our distributions and intervals against scipy; without scipy the other tests stand alone."""

from statistics import pvariance
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from present import present

from benchforge.stats.distributions import beta_cdf, beta_quantile, t_quantile, two_sided
from benchforge.stats.inference.interval import welch


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
