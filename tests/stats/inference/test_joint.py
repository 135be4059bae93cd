"""Several questions at once: Holm, selections and intervals against their definitions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.stats.inference.joint import (
    PROCEDURES,
    benjamini_hochberg,
    holm,
    simultaneous,
    stepwise,
)

PS = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(PS, st.sampled_from([0.01, 0.05, 0.2]))
def test_an_interval_decides_as_its_adjusted_p(ps: list[float], error: float) -> None:
    for procedure in PROCEDURES.values():
        selected = procedure(ps, error)
        for p, adjusted in zip(ps, selected.adjusted, strict=True):
            # Where rounding makes the difference between two equal bounds, either is right.
            if abs(adjusted - error) > 1e-9:
                assert (p <= selected.error * (1 + 1e-9)) == (adjusted <= error)
        assert error / len(ps) * (1 - 1e-9) <= selected.error <= error * (1 + 1e-9)


@given(PS)
def test_benjamini_and_hochberg_take_the_largest_rank_below_its_bound(ps: list[float]) -> None:
    error, ordered = 0.05, sorted(ps)
    ranks = [rank for rank, p in enumerate(ordered, 1) if p <= rank * error / len(ps) * (1 - 1e-9)]
    adjusted = benjamini_hochberg(ps, error).adjusted
    assert sum(p <= error for p in adjusted) >= max(ranks, default=0)
    assert all(p <= item * (1 + 1e-9) for p, item in zip(ps, adjusted, strict=True))


@given(PS)
def test_holm_answers_no_more_than_benjamini_and_hochberg(ps: list[float]) -> None:
    pairs = zip(stepwise(ps, 0.05).adjusted, benjamini_hochberg(ps, 0.05).adjusted, strict=True)
    assert all(holm >= other * (1 - 1e-12) for holm, other in pairs)


def test_the_example_of_1995() -> None:
    """Benjamini and Hochberg's own: four of fifteen by theirs, three by Holm's."""
    ps = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    ps += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert sum(p <= 0.05 for p in benjamini_hochberg(ps, 0.05).adjusted) == 4
    assert sum(p <= 0.05 for p in stepwise(ps, 0.05).adjusted) == 3
    assert benjamini_hochberg(ps, 0.05).error == pytest.approx(0.05 * 4 / 15)


SHARES = st.lists(st.floats(0, 1), max_size=30)


@given(SHARES)
def test_holm_rejects_what_its_steps_reject(ps: list[float]) -> None:
    for alpha in (0.01, 0.05, 0.2):
        rejected = set()
        items = sorted(range(len(ps)), key=ps.__getitem__)
        while items and ps[items[0]] * len(items) < alpha:
            rejected.add(items.pop(0))
        assert {index for index, p in enumerate(holm(ps)) if p < alpha} == rejected


@given(SHARES)
def test_holm_is_between_the_p_and_bonferroni(ps: list[float]) -> None:
    for p, adjusted in zip(ps, holm(ps), strict=True):
        assert p <= adjusted <= min(1, p * len(ps))


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_what_is_no_p_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, wrong])


def test_intervals_that_hold_together() -> None:
    for n, level in ((10, 0.995), (1, 0.95), (0, 0.95)):
        assert simultaneous(0.95, n) == pytest.approx(level)
