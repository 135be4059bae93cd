"""The verdict of a gate: monotonous, alike in both directions, decided by a precise interval."""

from math import log, sqrt

from hypothesis import given
from hypothesis import strategies as st

from benchforge.cli.measure.gate.verdict import RULE, decided, judge, level, precision
from benchforge.model.summary.verdict import Method
from benchforge.stats.distributions import t_quantile
from benchforge.stats.inference.hodges_lehmann import ratio
from benchforge.stats.inference.interval import Basis, by_t


@given(st.floats(0.01, 3), st.floats(0.01, 3), st.floats(0.001, 0.9), st.floats(0.001, 0.9))
def test_a_verdict_is_monotonous(item: float, other: float, limit: float, wider: float) -> None:
    low, high = sorted((item, other))
    state_ = decided(low, high, limit)
    assert (state_ == "not slower") == (low > 1 - limit)
    if state_ == "slower":
        assert high < 1
        assert low <= 1 - limit
    if state_ == "not slower":  # a larger limit passes what a smaller one does
        assert decided(low, high, max(limit, wider)) == "not slower"


RATIOS = st.lists(st.floats(0.5, 2), min_size=8, max_size=20)


@given(RATIOS, st.floats(0.01, 0.5), st.integers(1, 50))
def test_better_lower_is_the_mirror_of_better_higher(
    values: list[float], limit: float, questions: int
) -> None:
    ones = [1.0] * len(values)
    up = judge(ratio(values, ones), better="higher", limit=limit, questions=questions)
    down = judge(ratio(ones, values), better="lower", limit=limit, questions=questions)
    assert up.state == down.state
    if up.low is not None and down.low is not None:
        assert abs(up.low / down.low - 1) < 1e-9


@given(st.floats(0.01, 0.5), st.integers(1, 100), st.floats(0.2, 2), st.integers(8, 100))
def test_an_interval_of_that_precision_decides(
    limit: float, questions: int, value: float, blocks: int
) -> None:
    """Intervals of which the run says that they are narrow enough exclude 1 or the limit."""
    reached = 0.999 * precision(limit)
    looked_at = RULE.t_error(1 - level(questions), blocks)
    sd = reached * sqrt(blocks) / t_quantile(1 - looked_at / 2, blocks - 1)
    method: Method = "paired t of log-ratios"
    estimate = by_t(log(value), sd / sqrt(blocks), Basis(method, 0.95, blocks, sd))
    verdict = judge(estimate, better="higher", limit=limit, questions=questions)
    assert verdict.state in {"slower", "not slower"}


@given(st.integers(1, 1000))
def test_more_questions_of_a_gate_have_wider_intervals(questions: int) -> None:
    assert level(questions) <= level(questions + 1) < 1
    assert RULE.kappa(1 - level(questions + 1)) < RULE.kappa(1 - level(questions))
