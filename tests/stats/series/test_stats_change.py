"""A new result against older ones."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.results.over_time.compared import predicted
from benchforge.stats.distributions import t_quantile

SESSIONS = st.lists(
    st.tuples(st.floats(90, 110), st.floats(45, 55)), min_size=5, max_size=20, unique=True
)


@given(SESSIONS, st.floats(50, 150), st.sampled_from(["higher", "lower"]))
def test_the_naive_prediction(past: list[tuple[float, float]], new: float, better: str) -> None:
    zs = [math.log(value / reference) for value, reference in past]
    if statistics.stdev(zs) < 1e-9:
        return
    m = len(zs)
    half = t_quantile(0.975, m - 1) * statistics.stdev(zs) * math.sqrt(1 + 1 / m)
    effect = math.log(new / 50) - statistics.mean(zs)
    got = predicted(past, (new, 50), better="higher" if better == "higher" else "lower")
    assert got.change.value == pytest.approx(math.exp(effect))
    assert got.change.interval == pytest.approx((math.exp(effect - half), math.exp(effect + half)))
    if abs(effect) <= half or abs(effect) <= math.log(1.03):
        assert got.state == "not shown"
    else:
        assert got.state == ("better" if (effect > 0) == (better == "higher") else "worse")


PAST = [(100.0, 50.0), (101.0, 50.4), (99.0, 49.4), (100.5, 50.3), (99.6, 49.9)]


def test_a_bad_day_of_the_machine_is_no_change() -> None:
    assert predicted(PAST, (90.0, 45.0)).state == "not shown"
    assert predicted(PAST, (90.0, 50.0)).state == "worse"
    assert predicted(PAST, (90.0, 50.0), better="lower").state == "better"
    assert predicted(PAST, (110.0, 50.0)).state == "better"


def test_a_small_change_is_not_told() -> None:
    new = (97.8, 50.0)
    assert predicted(PAST, new).state == "not shown"
    assert predicted(PAST, new, least=0.01).state == "worse"


@pytest.mark.parametrize(
    ("past", "new", "reason"),
    [
        ([], (1.0, 1.0), "0 past sessions: a prediction takes 5"),
        (PAST[:1], (1.0, 1.0), "1 past session: a prediction takes 5"),
        (PAST[:4], (50.0, 50.0), "4 past sessions: a prediction takes 5"),
        ([(2.0, 1.0)] * 6, (3.0, 1.0), "all 6 are equal: how they spread is not known"),
        (PAST, (0.0, 50.0), "a value is not above 0: it has no ratio to the reference"),
        ([*PAST, (1.0, -1.0)], (50.0, 5.0), "a value is not above 0: it has no ratio"),
    ],
)
def test_what_is_no_model(
    past: list[tuple[float, float]], new: tuple[float, float], reason: str
) -> None:
    got = predicted(past, new)
    assert got.state == "no model"
    assert got.change.interval is None
    assert reason in got.change.why


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_is_no_number_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        predicted(PAST, (wrong, 1.0))
    with pytest.raises(ValueError, match="not finite"):
        predicted([*PAST, (1.0, wrong)], (1.0, 1.0))
    with pytest.raises(ValueError, match="least change"):
        predicted(PAST, (1.0, 1.0), least=wrong)
    with pytest.raises(ValueError, match="least change"):
        predicted(PAST, (1.0, 1.0), least=-1)
