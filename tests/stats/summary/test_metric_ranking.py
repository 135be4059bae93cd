"""Who is ranked, and who is not: from trials made by hand to what reports say; outliers."""

import math
import statistics
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from benchforge_reporters.html.report import Html
from benchforge_reporters.markdown import Markdown
from benchforge_reporters.terminal.report import Terminal
from benchforge_reporters.text.standings import pairs, standings
from hypothesis import given, settings
from hypothesis import strategies as st
from made import summaries
from made.made_result import Values, summed
from made.simulate import blocks
from present import present

from benchforge.checks.summary import withdrawn
from benchforge.model.summary.ranking import MetricRanking
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.check import Check
from benchforge.stats.summary.metric_ranking import Outliers, outliers
from benchforge.stats.summary.metric_ranking import standings as standings_of


def drawn(n: int, *ratios: float, noise: float = 0.005) -> dict[str, list[float | None]]:
    table = blocks(Random(3), n, ratios, noise, outliers=0)
    return dict(zip("abcdef", map(list[float | None], table), strict=False))


def standing(values: Values) -> MetricRanking:
    (comparison,) = summed(values).comparisons
    (actual,) = comparison.rankings
    return actual


def test_an_order_has_letters_ranks_and_all_pairs() -> None:
    summary = summed(drawn(10, 1, 2, 1))
    first, *rest = standings(summary, "hello")
    assert first.replace("\N{EN DASH}", "-") in {
        "throughput, 10 blocks: rank 1: b (a); rank 2-3: a (b), c (b)",
        "throughput, 10 blocks: rank 1: b (a); rank 2-3: c (b), a (b)",
    }
    assert rest == []
    actual = pairs(summary, "hello")
    assert len(actual) == 3
    assert sum(item.endswith(": differ") for item in actual) == 2
    assert sum(item.endswith(": no difference found") for item in actual) == 1


def test_a_bare_first_needs_all_others_to_be_worse() -> None:
    (first, *_) = standings(summed(drawn(10, 1, 1.0001, noise=0.02)), "hello")
    assert "rank 1\N{EN DASH}2: " in first
    assert "rank 1:" not in first


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(3, 10), st.data())
def test_a_pair_uses_common_blocks(seed: int, k: int, n: int, data: st.DataObject) -> None:
    table = blocks(Random(seed), n, [1 + index / 20 for index in range(k)])
    doubted = data.draw(
        st.sets(st.tuples(st.integers(0, k - 1), st.integers(0, n - 1)), max_size=n)
    )
    values: dict[str, list[float | None]] = {
        f"s{n}": [None if (n, block) in doubted else value for block, value in enumerate(row)]
        for n, row in enumerate(table)
    }
    leftovers = standing(values)
    blocks_of = {
        name: {index for index, v in enumerate(value) if v is not None}
        for name, value in values.items()
    }
    few = {name for name, numbers in blocks_of.items() if len(numbers) < 3}
    assert {item.server for item in leftovers.left_out} == few
    if leftovers.ranking is None:
        assert leftovers.why
        return
    for pair in leftovers.ranking.pairs:
        assert pair.ratio.n == len(blocks_of[pair.first] & blocks_of[pair.second])
        assert (pair.ratio.value or 1) >= 1 - 1e-9
    assert leftovers.blocks == min(pair.ratio.n for pair in leftovers.ranking.pairs)


@pytest.mark.parametrize(("n", "blocks_"), [(1, "1 block tells"), (2, "2 blocks tell")])
def test_one_and_two_blocks_rank_nobody(n: int, blocks_: str) -> None:
    summary, says = summed(drawn(n, 1, 2)), f"{blocks_} no difference from noise: it takes 3"
    assert standings(summary, "hello") == [f"throughput: nobody is ranked: {says}"]
    text = Terminal().text(summary, ())
    assert says in text
    assert "nothing here is called a winner" in text
    assert "rank 1" not in text


def test_a_side_without_believed_trials_is_left_out_and_the_others_are_ranked() -> None:
    values = drawn(8, 1, 2, 3)
    values["c"] = [None] * 8
    assert [item.server for item in present(standing(values).ranking).order] == ["b", "a"]
    first, second, *_ = standings(summed(values), "hello")
    assert "rank 1: b (a); rank 2: a (b)" in first
    assert second == (
        "throughput: c is not ranked: no block has a value that is believed: it takes 3"
    )
    del values["b"]
    assert standing(values).why == "only one server has values of 3 blocks that are believed"
    values["a"] = [None] * 8
    assert standing(values).why == "no server has values of 3 blocks that are believed"


def test_response_times_that_are_not_believed_rank_nobody() -> None:
    late = summaries.check("L4", "apparatus", invalidates="latency")
    blocks_ = summaries.case("a", [1.0] * 4, doubted=dict.fromkeys(range(1, 5), "L4")).doubted
    doubts = tuple(block.model_copy(update={"checks": (late,)}) for block in blocks_)
    a, b, c = (
        summaries.case(label, [by * value for value in (1.0, 1.01, 0.99, 1.0)], use="latency")
        for label, by in (("a", 1), ("b", 2), ("c", 3))
    )
    a = a.model_copy(update={"latency_doubted": doubts})
    (actual,) = standings_of([a, b, c], ["speed"], range(1, 5))
    assert {item.server for item in present(actual.ranking).order} == {"b", "c"}
    assert [item.server for item in actual.left_out] == ["a"]
    assert "believed" in actual.left_out[0].why


def test_servers_without_a_block_in_common_rank_nobody() -> None:
    leftovers = standing({"a": [1.0, 2.0, 3.0, None, None, None], "b": [None, None, None, 1, 2, 3]})
    assert leftovers.why == "two servers have 0 believed blocks in common: it takes 3"


def test_equal_values_are_no_difference_and_no_proof() -> None:
    values: Values = {"a": [100.0] * 8, "b": [200.0] * 8}
    leftovers = standing(values)
    ranks = [(item.server, item.best, item.worst) for item in present(leftovers.ranking).order]
    assert ranks == [("b", 1, 2), ("a", 1, 2)]
    assert leftovers.blocks_needed is None
    assert "no interval: all 8 are equal" in pairs(summed(values), "hello")[0]


def test_values_of_0_are_not_ranked() -> None:
    assert summed({"a": [0.0] * 8, "b": [0.0] * 8}).comparisons[0].rankings == ()
    leftovers = standing({"a": [100.0] * 8, "b": [200.0] * 7 + [0.0]})
    assert [(item.best, item.worst) for item in present(leftovers.ranking).order] == [(1, 2)] * 2


def test_a_smoke_ranks_nobody_and_one_server_alone_has_no_rank() -> None:
    assert summed(drawn(8, 1, 2), smoke=True).comparisons[0].rankings == ()
    assert summed(drawn(8, 1)).comparisons[0].rankings == ()


def test_how_many_blocks_it_would_take() -> None:
    loud = drawn(8, 1, 1, noise=0.1)
    leftovers = standing(loud)
    needed = present(leftovers.blocks_needed)
    assert needed > 8
    about = float(f"{needed:.2g}") if needed >= 100 else needed
    (actual,) = standings(summed(loud), "hello")
    assert actual.endswith(f"; to resolve 3 % takes about {about:,.0f} blocks here")
    assert not any("to resolve" in item for item in standings(summed(drawn(10, 1, 2)), "hello"))


def test_what_is_far_off_is_named_and_counts() -> None:
    values = drawn(10, 1, 2, 3)
    usual = values["b"][4] or 0
    values["b"][4] = usual * 0.8
    leftovers = standing(values)
    (far,) = leftovers.outliers
    assert (far.server, far.block, far.severity) == ("b", 5, "severe")
    assert far.share == pytest.approx(-0.2, abs=0.12)
    # Nothing was dropped.
    assert {item.ratio.n for item in present(leftovers.ranking).pairs} == {10}
    (actual,) = [item for item in standings(summed(values), "hello") if "far from" in item]
    assert actual.startswith(
        "throughput: far from the others of b, and counted all the same: trial "
    )
    for block in (1, 7):
        values["b"][block] = (values["b"][block] or 0) * 0.8
    (actual,) = [item for item in standings(summed(values), "hello") if "far from" in item]
    assert actual.startswith("throughput: bimodal, far from the others of b")
    assert actual.count("in block") == 3


def checked(
    summary: Summary, status: str, id_: str = "F9", numbers: str = "all", text: str = ""
) -> Summary:
    """As `with_checks` sees a comparison, of a metric, of which a check says this."""
    fields = {"id": id_, "name": "planted", "scope": "comparison", "subject": "apparatus"}
    fields |= {"status": status, "message": "they ran at other speeds", "invalidates": numbers}
    check = Check.model_validate(fields)
    (item,) = summary.comparisons
    of_first = [line.model_copy(update={"measurand": text}) for line in summary.cases[0].metrics]
    lines = {(line.metric, line.of): line for line in of_first}
    return summary.model_copy(update={"comparisons": (withdrawn(item, [check], lines),)})


def test_what_a_check_refuses_ranks_nobody() -> None:
    summary = summed(drawn(8, 1, 2))
    assert standings(checked(summary, "warn"), "hello") == standings(summary, "hello")
    assert standings(checked(summary, "fail", "S3"), "hello") == standings(summary, "hello")
    assert standings(checked(summary, "fail"), "hello") == [
        "throughput: nobody is ranked: F9 planted: they ran at other speeds"
    ]
    assert pairs(checked(summary, "fail"), "hello") == []


def test_a_check_of_response_times_ranks_nobody_by_these_alone() -> None:
    """Such as T1: a clock that is slow to read."""
    summary = summed(drawn(8, 1, 2))
    as_before = standings(summary, "hello")
    assert standings(checked(summary, "fail", "T1", "latency"), "hello") == as_before
    assert standings(checked(summary, "fail", "T1", "latency", "response time"), "hello") == [
        "throughput: nobody is ranked: T1 planted: they ran at other speeds"
    ]


def test_every_form_says_the_same(tmp_path: Path) -> None:
    summary = summed(drawn(10, 1, 2, 1))
    lines = [*standings(summary, "hello")]
    text = Terminal().text(summary, ())
    report, page = (kind().report(summary, (), tmp_path)[0] for kind in (Markdown, Html))
    assert "b serves " in text
    assert "No difference seen between c and a" in text
    for line in lines:
        assert line.replace("_", "\\_") in report.read_text()
        assert line in page.read_text()
    assert "Each pair, with all others" in report.read_text()
    assert "who shares a letter was not found to differ" in report.read_text()
    assert "nothing here is called a winner" not in text


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
