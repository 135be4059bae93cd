"""Rankings: Holm against its definition, and an order that claims no more than was found."""

import math
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.simulate import blocks, by_block

from benchforge.stats.inference.holm import ranking
from benchforge.stats.inference.joint import holm, simultaneous

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


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_letters_ranks_and_pairs_say_the_same(seed: int, k: int) -> None:
    table = blocks(Random(seed), 10, [1 + 0.04 * (index // 2) for index in range(k)], outliers=0)
    got = ranking(by_block({f"s{index}": row for index, row in enumerate(table)}))
    typical = [item.value.value or 0 for item in got.order]
    assert typical == sorted(typical, reverse=True)
    path = {item.server: index for index, item in enumerate(got.order)}
    for pair in got.pairs:
        first, second = got.order[path[pair.first]], got.order[path[pair.second]]
        assert path[pair.first] < path[pair.second]
        assert (pair.ratio.value or 0) >= 1 - 1e-12
        assert pair.differ == (not set(first.letters) & set(second.letters))
        assert pair.differ == ((pair.p_holm or 0) < 0.05)
        assert (pair.simultaneous.low or 0) <= (pair.ratio.low or 0)
        assert (pair.simultaneous.high or 0) >= (pair.ratio.high or 0)
    for index_, item_ in enumerate(got.order):
        beaten_by = sum(pair.differ for pair in got.pairs if pair.second == item_.server)
        beats = sum(pair.differ for pair in got.pairs if pair.first == item_.server)
        assert (item_.best, item_.worst) == (1 + beaten_by, k - beats)
        assert item_.best <= index_ + 1 <= item_.worst


def test_clear_differences_have_letters_of_their_own() -> None:
    table = blocks(Random(1), 10, [1, 2, 4], outliers=0)
    got = ranking(by_block(dict(zip("abc", table, strict=True))))
    rows = [(item.server, item.letters, item.best, item.worst) for item in got.order]
    assert rows == [("c", "a", 1, 1), ("b", "b", 2, 2), ("a", "c", 3, 3)]
    least = ranking(by_block(dict(zip("abc", table, strict=True))), better="lower")
    assert [item.server for item in least.order] == ["a", "b", "c"]
    assert all((pair.ratio.value or 2) < 1 for pair in least.pairs)


def test_a_server_without_a_typical_value_is_last_and_may_have_any_rank() -> None:
    table = blocks(Random(1), 10, [1, 2, 4], outliers=0)
    values = {"a": table[0], "stuck": [0.0, *table[1][1:]], "c": table[2]}
    for better in ("higher", "lower"):
        got = ranking(by_block(values), "higher" if better == "higher" else "lower")
        last = got.order[-1]
        assert (last.server, last.best, last.worst) == ("stuck", 1, 3)
        assert [item.worst for item in got.order[:-1]] == [2, 3]
        for pair in got.pairs:
            assert pair.differ == ("stuck" not in {pair.first, pair.second})
            assert (pair.p_holm is None) == (not pair.differ)
            assert bool(pair.ratio.why) == (not pair.differ)


def test_one_server_and_none() -> None:
    assert ranking({}).order == ()
    item = ranking(by_block({"a": [1.0, 2.0, 3.0]})).order[0]
    assert (item.letters, item.best, item.worst) == ("a", 1, 1)


def test_so_many_servers_are_still_ranked() -> None:
    table = blocks(Random(1), 5, [1 + index / 50 for index in range(20)], outliers=0)
    got = ranking(by_block({f"s{index}": row for index, row in enumerate(table)}))
    assert len(got.pairs) == len(list(combinations(range(20), 2)))
    assert all(item.letters for item in got.order)
