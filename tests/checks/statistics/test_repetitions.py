"""Enough blocks, what scatters, and the placebo: from trials made by hand."""

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import plain
from made.simulate import share, tolerance
from present import present

from benchforge.checks.limits import limits
from benchforge.checks.statistics import repetitions
from benchforge.checks.statistics.repetitions import of_comparison, of_placebo
from benchforge.model.summary.summary import CaseSummary, TrialSample
from benchforge.model.trial.check import Check
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.trial import Trial
from benchforge.stats.summary.summarize import placebo
from benchforge.text.readable import percent

STEADY = (100, 101, 99, 100, 102, 98, 101, 99, 100, 103)


def trials(server: str, rates: Sequence[float]) -> list[Trial]:
    case = plain.named(server)
    return [
        plain.trial(
            reading=plain.reading(round(rate * 10), seconds=10), number=n, block=n, case=case
        )
        for n, rate in enumerate(rates, 1)
    ]


def checks(*cases: Sequence[float]) -> dict[str, list[Check]]:
    actual: dict[str, list[Check]] = {}
    options = [trials(server, rates) for server, rates in zip("abcde", cases, strict=False)]
    for check in of_comparison(options, limits()):
        actual.setdefault(check.id, []).append(check)
    return actual


@pytest.mark.parametrize(
    ("servers", "blocks", "status"),
    [
        *((2, 2, "fail"), (2, 3, "warn"), (2, 4, "warn"), (2, 5, "pass")),
        *((5, 2, "fail"), (5, 3, "warn"), (5, 9, "warn"), (5, 10, "pass")),
    ],
)
def test_s3_of_how_many_blocks_are_enough(servers: int, blocks: int, status: str) -> None:
    (check,) = checks(*[STEADY[:blocks]] * servers)["S3"]
    assert (check.status, check.value) == (status, blocks)
    assert ("raise repeat.blocks" in check.message) == (status != "pass")
    if servers > 2:
        assert check.threshold == "warn below 10, fail below 3 blocks"
        text = "of 5, each pair of which is compared; raise repeat.blocks to 10 or more"
        assert (text in check.message) == (status != "pass")


def test_s3_counts_no_blocks_without_a_believed_value_of_both_sides() -> None:
    item, other = trials("a", STEADY), trials("b", STEADY)
    (check, *_) = of_comparison([item[:5], other[3:]], limits())
    assert (check.id, check.value, check.status) == ("S3", 2, "fail")


def test_s3_s5_and_s6_have_nothing_to_compare_with_a_case_that_is_not_believed() -> None:
    actual = checks(STEADY, ())
    assert {id_: check.status for id_, (check,) in actual.items()} == {
        "S3": "fail",
        "S5": "unknown",
        "S6": "unknown",
    }
    assert {check.message for value in actual.values() for check in value} == {
        "1 of 2 cases have a trial that is believed: nothing to compare"
    }


def test_a_healthy_comparison_fires_nothing() -> None:
    rng = random.Random(4)
    cases = ([rng.gauss(level, level / 50) for _ in range(12)] for level in (100, 130, 70))
    actual = checks(*cases)
    assert {check.status for value in actual.values() for check in value} == {"pass"}
    assert len(actual["S6"]) == 3


def test_s5_names_the_pair_whose_ratios_scatter() -> None:
    (check,) = checks(STEADY, [80, 120, 75, 130, 90, 140, 70, 125, 100, 85])["S5"]
    assert (check.status, check.component) == ("warn", "a / b")
    assert check.value == pytest.approx(0.24, abs=0.03)


@given(st.lists(st.integers(500, 2000), min_size=5, max_size=12), st.integers(2, 9))
def test_s5_passes_what_both_sides_share(drift: list[int], factor: int) -> None:
    (check,) = checks(drift, [value * factor for value in drift])["S5"]
    assert check.status == "pass"
    assert check.value == pytest.approx(0, abs=1e-6)


def test_s5_and_s6_are_unknown_of_too_few_blocks() -> None:
    actual = checks(STEADY[:2], STEADY[:2])
    assert [check.status for check in (*actual["S5"], *actual["S6"])] == ["unknown"] * 3


def test_s6_names_a_server_with_two_ways_to_run() -> None:
    actual = checks(STEADY, STEADY[::-1], [100, 101, 60, 100, 102, 98, 61, 99, 100, 62])["S6"]
    assert (actual[2].status, actual[2].component, actual[2].subject) == ("warn", "c", "behaviour")
    assert "two ways" in actual[2].message


def summary(values: Sequence[float | None], arm: int = 1, first: int = 1) -> CaseSummary:
    fields: dict[str, Any] = {"metric": "t", "unit": "1"}
    samples = tuple(
        TrialSample(
            trial=first + n,
            block=n + 1,
            sample=Sample(value=value, why="" if value else "lost", **fields),
        )
        for n, value in enumerate(values)
    )
    line = plain.line("throughput", "1", samples=samples)
    return plain.case(plain.named(arm=arm, placebo=arm > 1), line, trials=len(values))


EVERY = frozenset(range(1, 1000))


def test_s4_passes_where_two_alike_are_not_told_apart() -> None:
    actual = placebo(summary(STEADY), summary(STEADY[::-1], 2, 101), EVERY)
    assert actual.metric == "throughput"
    assert actual.ratio.level == 0.99
    check = of_placebo(actual, limits())
    assert (check.id, check.status, check.scope) == ("S4", "pass", "result")
    assert actual.noise is not None
    low, high = present(actual.ratio.interval)
    assert actual.noise == pytest.approx(max(high, 1 / low) - 1)
    assert f"no difference below {percent(actual.noise)} in throughput" in check.message
    assert "server, measured twice, has a ratio to itself of" in check.message


def test_s4_fails_where_a_case_differs_from_itself() -> None:
    actual = placebo(summary(STEADY), summary([x * 1.1 for x in STEADY[::-1]], 2, 101), EVERY)
    check = of_placebo(actual, limits())
    assert (check.status, check.subject) == ("fail", "apparatus")
    assert "differs from itself" in check.message


def test_s4_counts_only_believed_trials_of_both() -> None:
    again = summary([100, None, 101, 99, 100, 98], 2, 101)
    actual = placebo(summary(STEADY[:6]), again, EVERY - {3, 104})
    assert actual.ratio.n == 3  # without blocks 2 (no value), 3 and 4 (not believed)


def test_s4_is_unknown_without_pairs() -> None:
    actual = placebo(summary(STEADY), summary(STEADY, 2, 101), frozenset())
    assert actual.noise is None
    check = of_placebo(actual, limits())
    assert check.status == "unknown"
    assert "no block" in check.message


def independence(*cases: Sequence[float]) -> Check:
    options = [trials(server, rates) for server, rates in zip("abcde", cases, strict=False)]
    (check,) = repetitions.independence(options, limits())
    return check


def test_s8_names_a_ratio_that_drifts_from_block_to_block() -> None:
    draw = random.Random(1)
    drift = [100 * (1 + 0.02 * block) * math.exp(draw.gauss(0, 0.01)) for block in range(10)]
    noise = [[100 * math.exp(draw.gauss(0, 0.01)) for _ in drift] for _ in range(2)]
    check = independence(drift, *noise)
    assert (check.status, check.subject, check.id) == ("warn", "apparatus", "S8")
    assert check.component in {"a / b", "a / c"}
    assert "its interval is too narrow" in check.message
    assert independence(*noise).status == "pass"
    # What both have in common cancels in their ratio.
    pair = [[value * rate for value, rate in zip(subject, drift, strict=True)] for subject in noise]
    assert independence(*pair).status == "pass"


def test_s8_is_unknown_of_few_blocks() -> None:
    check = independence(STEADY[:7], STEADY[::-1][:7])
    assert (check.status, check.message[:17]) == ("unknown", "it takes 8 blocks")
    assert independence(STEADY, ()).status == "unknown"
    assert not [*repetitions.independence([trials("a", STEADY)], limits())]


def test_s8_is_wrong_in_one_comparison_in_twenty_however_many_pairs_it_has() -> None:
    def told(draw: random.Random) -> bool:
        cases = [[1e4 * math.exp(draw.gauss(0, 0.02)) for _ in range(10)] for _ in range(4)]
        return independence(*cases).status != "pass"

    assert share(300, 3, told) <= 0.05 + tolerance(0.05, 300)
