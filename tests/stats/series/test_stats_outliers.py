"""Outliers: told, never dropped, and told of the server whose value it was."""

import math
import statistics
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.simulate import blocks

from benchforge.stats.summary.metric_ranking import Outliers, outliers

CUTOFFS = {5: 8.0, 6: 5.8, 8: 5.1, 10: 4.6, 12: 4.4, 15: 4.3, 20: 4.0, 30: 3.9}


def named(table: list[list[float]]) -> dict[str, list[float]]:
    return {f"s{index}": row for index, row in enumerate(table)}


@given(st.lists(st.floats(0.1, 1e6), min_size=5, max_size=30))
def test_one_servers_flags_are_the_modified_z(values: list[float]) -> None:
    logs = [math.log(value) for value in values]
    middle = statistics.median(logs)
    mad = statistics.median([abs(value - middle) for value in logs])
    got = outliers({"only": values})["only"]
    if mad <= 1e-12:
        assert "equal" in got.why
        return
    zs = [0.6745 * (value - middle) / mad for value in logs]
    off = {index: abs(log - middle) for index, log in enumerate(logs)}
    least = CUTOFFS[max(n for n in CUTOFFS if n <= len(values))]
    far = [index for index, z in enumerate(zs) if abs(z) > least and off[index] >= 0.01]
    assert [item.at for item in got.flagged] == far
    assert [item.z for item in got.flagged] == pytest.approx([zs[index] for index in far])
    shares = [values[index] / math.exp(middle) - 1 for index in far]
    assert [item.share for item in got.flagged] == pytest.approx(shares)


@pytest.mark.samples(6)
@pytest.mark.parametrize("n", [5, 6, 7, 8, 9, 10, 14, 20, 40])
@pytest.mark.parametrize("k", [1, 3])
def test_outliers_of_normal_servers(n: int, k: int) -> None:
    draw, runs = Random(n * k), 3000
    counter: Counter[str] = Counter()
    for _ in range(runs):
        table = [[math.exp(draw.gauss(0, 0.05)) for _ in range(n)] for _ in range(k)]
        flags = outliers(named(table))["s0"].flagged
        counter.update({flag.severity for flag in flags} | ({"any"} if flags else set()))
    assert counter["any"] / runs <= 0.06
    assert counter["severe"] / runs <= 0.015


def test_a_value_that_is_off_by_less_than_a_hundredth_is_nobodys_concern() -> None:
    values = [1543.0, 1543.1, 1543.2, 1542.9, 1543.05]
    assert not outliers({"only": [*values, 1552.0]})["only"].flagged
    (far,) = outliers({"only": [*values, 1600.0]})["only"].flagged
    assert far.share == pytest.approx(1600 / 1543.075 - 1, rel=1e-3)


@pytest.mark.parametrize("k", [3, 4, 8])
def test_a_stall_is_told_of_its_server_alone(k: int) -> None:
    draw = Random(k)
    actual = innocent = 0
    for _ in range(200):
        table = blocks(draw, 10, [1 + index / 3 for index in range(k)], outliers=0)
        randrange = draw.randrange(10)
        table[0][randrange] *= 0.8
        got = outliers(named(table))
        actual += any(item.at == randrange for item in got["s0"].flagged)
        others = [item for subject in range(1, k) for item in got[f"s{subject}"].flagged]
        innocent += sum(item.at == randrange for item in others)
    assert actual >= 190
    assert innocent <= 4


def test_of_two_servers_both_are_flagged() -> None:
    table = blocks(Random(2), 10, outliers=0)
    table[1][4] *= 0.6
    got = outliers(named(table))
    assert [item.at for item in got["s0"].flagged] == [item.at for item in got["s1"].flagged] == [4]
    assert got["s0"].flagged[0].z > 4.6 > -4.6 > got["s1"].flagged[0].z


def test_what_meets_a_whole_block_is_nobodys() -> None:
    table = [
        [row[index] * (0.5 if index == 3 else 1) for index in range(10)]
        for row in blocks(Random(4), 10, [1, 2, 3], outliers=0)
    ]
    flagged = [item for outlier in outliers(named(table)).values() for item in outlier.flagged]
    assert 3 not in {item.at for item in flagged}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "among 0 values no outlier is known: it takes 5"),
        ([1.0], "among 1 value no outlier is known: it takes 5"),
        ([1.0, 2, 3, 99], "among 4 values no outlier is known: it takes 5"),
        ([3.0] * 9, "half of the values or more are equal: how they spread is not known"),
        ([3.0, 3, 3, 3, 9], "half of the values or more are equal: how they spread is not known"),
        ([3.0, 2, 0, 3, 9], "a value is 0: what is not above 0 has no logarithm"),
        ([3.0, 2, -1, 3, 9], "a value is -1: what is not above 0 has no logarithm"),
    ],
)
def test_why_nothing_can_be_said(values: list[float], reason: str) -> None:
    assert outliers({"only": values}) == {"only": Outliers(why=reason)}


def test_a_steady_server_beside_another_is_looked_at_or_says_why_not() -> None:
    assert outliers({}) == {}
    for wrong in ({"a": [1.0, math.nan], "b": [1.0, 2.0]}, {"a": [1.0], "b": [1.0, 2.0]}):
        with pytest.raises(ValueError, match=r"not finite|argument 2"):
            outliers(wrong)
