"""Noise taken together: against its formula, and where it is refused."""

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulate import blocks

from benchforge.stats.interval import mean
from benchforge.stats.pooled import pooled_ratios, residuals
from benchforge.stats.student import t_quantile


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(3, 12))
def test_it_is_the_two_way_analysis_of_variance(seed: int, k: int, n: int) -> None:
    table = blocks(Random(seed), n, [1.0] * k, outliers=0)
    logs = [[math.log(value) for value in row] for row in table]
    total = sum((y - mean([mean(r) for r in logs])) ** 2 for row in logs for y in row)
    whole = mean([mean(row) for row in logs])
    between = n * sum((mean(row) - whole) ** 2 for row in logs)
    by_block = k * sum((mean(column) - whole) ** 2 for column in zip(*logs, strict=True))
    noise = (total - between - by_block) / ((k - 1) * (n - 1))
    got = pooled_ratios(table)
    assert len(got) == k * (k - 1) / 2
    for (i, j), one in got.items():
        assert one.value == pytest.approx(math.exp(mean(logs[i]) - mean(logs[j])))
        if one.low is None or one.high is None:
            assert "times the noise" in one.why
            continue
        half = t_quantile(0.975, (k - 1) * (n - 1)) * math.sqrt(2 * noise / n)
        assert math.log(one.high / one.low) / 2 == pytest.approx(half, rel=1e-6)
        assert one.df == (k - 1) * (n - 1)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6))
def test_residuals_have_no_means(seed: int, k: int, n: int) -> None:
    rest = residuals([[Random(seed + i + 31 * j).random() for j in range(n)] for i in range(k)])
    for line in (*rest, *zip(*rest, strict=True)):
        assert mean(line) == pytest.approx(0, abs=1e-12)


QUIET = [100.0, 101, 102, 100, 99]
NOISY = [100.0, 130, 80, 120, 70]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ([QUIET, [v + k for k, v in enumerate(QUIET)], [v * 0.9 for v in QUIET], NOISY], "noise"),
        ([[1.0, 2, 3], [1.1, 2, 3.1]], "noise is taken together of 3 servers or more, not 2"),
        ([[1.0, 2], [1.1, 2.1], [0.9, 2.2]], "2 blocks have no interval: it takes 3"),
        ([[1.0], [1.1], [0.9]], "1 block has no interval: it takes 3"),
        ([QUIET, QUIET, QUIET], "equal apart from the blocks' means: how they spread is not known"),
        ([QUIET, QUIET, [0.0, 1, 2, 3, 4]], "a value is 0"),
        ([[], [], []], "no value"),
    ],
)
def test_why_there_is_no_interval(table: list[list[float]], why: str) -> None:
    for one in pooled_ratios(table).values():
        assert one.interval is None
        assert why in one.why
        assert one.n == len(table[0])


def test_one_server_alone_has_no_pair() -> None:
    assert pooled_ratios([]) == pooled_ratios([[1.0, 2.0]]) == {}


@pytest.mark.parametrize("table", [[[1.0, 2], [1.0]], [[1.0, math.nan], [1.0, 2.0]]])
def test_a_table_with_holes_is_refused(table: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"lacks the value|not finite"):
        pooled_ratios(table)
