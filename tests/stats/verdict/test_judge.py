"""Verdicts on summaries made by hand: each answer, and each way in which there is none."""

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made.models import BY_SCENARIO, HOLM
from made.simulate import two
from made.summaries import case, check, claim, comparison, name, summary
from present import present

from benchforge.model.suite.claim import Claim, ClaimInstance, Term, VerdictRules
from benchforge.model.summary.summary import CaseSummary, Placebo
from benchforge.model.summary.verdict import Estimate, Verdict
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.trial import Failure
from benchforge.stats.inference.region import lies, region
from benchforge.stats.verdict.comparison import in_short, wrong_answers
from benchforge.stats.verdict.judge import judge
from benchforge.text.readable import blocks_that_tell, percent
from benchforge.text.readable import times as ratio_text

ABOUT_ONE = (1.0, 1.01, 0.99, 1.005, 0.995, 1.0, 1.002, 0.998)
WRONG = Failure(stage="ask", message="status 500, expected 200")
DIED = Failure(stage="drive", message="ended with exit code 3 during the load")


def times(factor: float, n: int = 8, noise: float = 1.0) -> list[float]:
    """Values around 1000 times a factor: those of two factors are out of step."""
    shift = int(factor * 100) % 7
    return [1000 * factor * ABOUT_ONE[(block * 3 + shift) % 8] ** noise for block in range(n)]


def verdict(holds: str, a: CaseSummary, *b: CaseSummary, **more: Any) -> Verdict:
    actual = claim(holds, b="b" if b else None, unit=a.metrics[0].unit, **more)
    (actual_,) = judge(summary(a, *b), [actual])
    return actual_


def ratio(holds: str, factor: float, n: int = 8, **more: Any) -> Verdict:
    return verdict(holds, case("a", times(factor, n)), case("b", times(1, n)[::-1]), **more)


@pytest.mark.parametrize(
    ("holds", "factor", "state"),
    [
        *(("a > b", 1.2, "holds"), ("a > b", 0.8, "fails"), ("a > b", 1.0, "fails")),
        *(("a >= b", 1.0, "holds"), ("a < b", 0.8, "holds"), ("a < b", 1.2, "fails")),
        *(("a <= b", 1.0, "holds"), ("a >= 2 * b", 2.3, "holds"), ("a >= 2 * b", 1.7, "fails")),
        *(("a > 2 * b", 2.0, "fails"), ("a <= 0.5 * b", 0.4, "holds")),
        *(("a == b +- 3%", 1.0, "holds"), ("a == b +- 3%", 1.2, "fails")),
        *(("a == 2 * b +- 5%", 2.0, "holds"), ("a == 2 * b +- 5%", 1.0, "fails")),
        ("a == b +- 0.2%", 1.0, "inconclusive"),
        ("a - b < 300/s", 1.2, "holds"),
        ("a - b > 300/s", 1.2, "fails"),
        ("a - b == 200/s +- 10%", 1.2, "holds"),
        ("a - b == 200/s +- 1/s", 1.2, "inconclusive"),
        ("a - b > -300/s", 0.8, "holds"),
    ],
)
def test_each_form_of_question(holds: str, factor: float, state: str) -> None:
    actual = ratio(holds, factor)
    assert actual.state == state, actual.sentence
    assert actual.blocks == tuple(range(1, 9))
    assert actual.estimate.interval is not None


@pytest.mark.parametrize(
    ("holds", "state"),
    [
        *(("a < 1100/s", "holds"), ("a > 1100/s", "fails"), ("a == 1k/s +- 5%", "holds")),
        *(("a == 2k/s +- 5%", "fails"), ("a > 0", "holds"), ("a < 1000.5/s", "inconclusive")),
    ],
)
def test_a_side_alone_is_asked_within_this_session(holds: str, state: str) -> None:
    actual = verdict(holds, case("a", times(1)))
    assert actual.state == state
    assert "within this session" in actual.sentence
    assert actual.b == ()


@pytest.mark.parametrize(("relation", "state"), [(">", "fails"), (">=", "holds")])
def test_the_same_within_the_margin_is_said_of_a_family_together(relation: str, state: str) -> None:
    actual = claim(f"a {relation} b")
    alike = [value * math.exp(0.0223 * (-1) ** index) for index, value in enumerate(times(1))]
    cases = (case("a", alike), case("b", times(1)))
    (alone,) = judge(summary(*cases), [actual])
    assert alone.state == state
    assert "the same within 3 %" in alone.sentence
    undecided = claim(f"a {relation} b", margin=0.001, label="U")
    actual_, *_ = judge(summary(*cases), [actual, *[undecided] * 7])
    assert actual_.state == "inconclusive"
    assert "among so many it may be chance" in actual_.why
    assert actual_.estimate.level == pytest.approx(1 - 0.05 / 8)
    assert (actual_.blocks_needed or 0) > 8
    # What is the same in each of eight is not there by chance.
    for item in judge(summary(*cases), [actual] * 8):
        assert (item.state, item.estimate.interval) == (state, alone.estimate.interval)


def test_a_difference_below_the_margin_is_told_as_one() -> None:
    actual = ratio("a > b", 1.02, margin=0.05)
    assert actual.state == "holds"
    assert "different, but below your margin of 5 %" in actual.sentence
    fewer = ratio("a < b", 0.8)
    assert f"by {percent(1 - present(fewer.estimate.high))} at least" in fewer.sentence


def placebo_of(server: str, scenario: str = "hello", **ratio: Any) -> Placebo:
    fields = {"method": "paired t of log-ratios", "level": 0.99, **ratio}
    return Placebo(
        case=name(server, scenario),
        repeated=case(server, times(1)),
        metric="speed",
        ratio=Estimate.model_validate(fields),
    )


def test_the_sentence_says_all_of_it() -> None:
    placebo = placebo_of("b", n=8, value=0.996, low=0.985, high=1.008)
    actual = claim("a > b", published=7.17)
    cases = (case("a", times(1.2)), case("b", times(1)))
    slow = check("F3", "apparatus", "warn", scope="result", name="governor")
    (actual_,) = judge(summary(*cases, checks=(slow,), placebos=(placebo,)), [actual])
    low, high = actual_.estimate.interval or (0, 0)
    interval = f"{ratio_text(low)}\N{EN DASH}{ratio_text(high)}"
    assert actual_.sentence == (
        f"a has {ratio_text(actual_.estimate.value or 0)}x the speed of b (95 % CI {interval}, "
        f"8 blocks, p < 0.001); by {percent(low - 1)} at least; valid with 1 warning "
        "(F3 governor); placebo today 0.996 (0.985\N{EN DASH}1.008); published: 7.17x; closed "
        "loop, 16 connections, this machine, 2026-11-21."
    )


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_blocks_are_no_answer(n: int) -> None:
    actual = ratio("a > b", 2, n)
    assert actual.state == "invalid"
    have = "1 block has" if n == 1 else "2 blocks have"
    assert actual.why.startswith(f"{have} believed values, it takes 3")
    assert actual.estimate.value is None


def test_a_side_that_is_never_believed_names_the_checks() -> None:
    doubted = dict.fromkeys(range(1, 9), "L1")
    actual = verdict("a > b", case("a", times(1), doubted=doubted), case("b", times(1)))
    assert actual.state == "invalid"
    assert "a: trial 1 is not believed: L1 l1" in actual.why
    assert len(actual.rejected_blocks) == 8


def test_blocks_of_each_side_may_be_missing() -> None:
    a = case("a", [1200.0, None, 1210, 1190, 1205, 1195], doubted={3: "N1"})
    b = case("b", [1000.0, 1010, 990, 1005, 995, 1000], failed={4: DIED})
    actual = verdict("a > b", a, b)
    assert (actual.state, actual.blocks, actual.a) == ("holds", (1, 5, 6), (1200, 1205, 1195))
    assert [(block.block, block.why) for block in actual.rejected_blocks] == [
        (2, "a: trial 2: the tool lost count"),
        (3, "a: trial 3 is not believed: N1 n1"),
        (4, "b: trial 4 failed: ended with exit code 3 during the load"),
    ]
    assert "3 blocks left out" in actual.sentence


def test_a_block_that_was_never_measured_says_so() -> None:
    short = case("a", times(1.2, 5)).model_copy(update={"planned": 6})
    actual = verdict("a > b", short, case("b", times(1, 6)))
    rejected = [(block.block, block.why) for block in actual.rejected_blocks]
    assert rejected == [(6, "a: not measured")]


def test_what_is_expected_was_broken() -> None:
    actual = verdict("a > b", case("a", times(1.2), failed={2: WRONG}), case("b", times(1)))
    assert (actual.state, actual.why) == ("invalid", "broken: status 500, expected 200")


def test_a_lower_bound_is_no_value_and_without_it_nothing_is_decided() -> None:
    bound = Sample(metric="speed", unit="s", value=9, lower_bound=True)
    values: list[float | Sample | None] = [0.1, 0.11, 0.09, 0.1, bound]
    actual = verdict("a < b", case("a", values, unit="s"), case("b", times(1, 5), unit="s"))
    assert actual.state == "inconclusive"
    assert "only a lower bound" in actual.why
    assert actual.rejected_blocks[0].why == "a: trial 5: known is only that it is 9 or more"


@pytest.mark.parametrize(
    ("holds", "a", "b", "state"),
    [
        ("a > b", 5.0, 5.0, "fails"),
        ("a >= b", 5.0, 5.0, "holds"),
        ("a == b +- 1%", 5.0, 5.0, "holds"),
        ("a == 2 * b +- 1%", 5.0, 5.0, "fails"),
        ("a - b < 1", 5.0, 5.0, "holds"),
        ("a - b > 1", 5.0, 5.0, "fails"),
        ("a > b", 6.0, 5.0, "inconclusive"),
        ("a - b < 3", 6.0, 5.0, "inconclusive"),
        ("a <= 0", 0.0, None, "holds"),
        ("a < 1", 0.0, None, "inconclusive"),
        ("a == 3 +- 1%", 3.0, None, "holds"),
    ],
)
def test_equal_values_answer_an_equality(holds: str, a: float, b: float | None, state: str) -> None:
    other = [] if b is None else [case("b", [b] * 5, unit="1")]
    actual = verdict(holds, case("a", [a] * 5, unit="1"), *other)
    assert actual.state == state
    assert actual.estimate.interval is None
    text = "all 5 are equal: how they spread is not known"
    assert text in actual.sentence
    assert actual.why == (text if state == "inconclusive" else "")


@pytest.mark.parametrize(
    ("holds", "state"), [("a > b", "holds"), ("a < b", "fails"), ("a == b +- 5%", "inconclusive")]
)
def test_zeros_have_no_ratio_and_are_asked_of_the_difference(holds: str, state: str) -> None:
    actual = verdict(holds, case("a", times(1)), case("b", [0.0] * 8))
    assert actual.state == state
    if state != "inconclusive":
        assert actual.estimate.method == "paired t of differences"
        assert actual.unit == "requests/s"
    else:
        assert "no logarithm" in actual.why


def test_values_that_a_subtraction_makes_negative() -> None:
    connecting = Term(case=name("a"), minus=name("b"))
    actual = claim("a < 0", b=None, instances=(ClaimInstance(a=connecting),))
    (actual_,) = judge(summary(case("a", times(1)), case("b", times(1.2))), [actual])
    assert actual_.state == "holds"
    assert actual_.estimate.method == "t of values"
    assert all(value < 0 for value in actual_.a)
    assert actual_.sentence.startswith("speed of a less b is -")


def test_a_metric_or_a_part_of_it_that_is_not_there() -> None:
    (actual,) = judge(summary(case("a", times(1)), case("b", times(1))), [claim("a > b", of="p99")])
    assert actual.state == "invalid"
    assert "no p99 of speed: it has: the whole" in actual.why


def failures(holds: str, a: list[int], b: list[int] | None) -> Verdict:
    def rates(server: str, failed: list[int]) -> CaseSummary:
        of_each: dict[str, Any] = {"metric": "speed", "unit": "1", "requests": 10_000}
        values = [Sample(value=item / 10_000, failed=item, **of_each) for item in failed]
        return case(server, values, unit="1", use="error_rate")

    return verdict(holds, rates("a", a), *([] if b is None else [rates("b", b)]))


@pytest.mark.parametrize(
    ("holds", "a", "b", "state"),
    [
        ("a < b", [0, 0, 0], [400, 420, 380], "holds"),
        ("a > b", [0, 0, 0], [400, 420, 380], "fails"),
        ("a < b", [400, 420, 380], [0, 0, 0], "fails"),
        ("a <= 0.5 * b", [100, 100, 100], [400, 420, 380], "holds"),
        ("a < b", [0, 0, 0], [0, 0, 0], "fails"),
        ("a <= b", [0, 0, 0], [0, 0, 0], "holds"),
        ("a < b", [0, 0, 0], [0, 0, 4], "fails"),
        ("a < b", [0, 0, 1000], [500, 400, 500], "inconclusive"),
        ("a < b", [95, 100, 105], [100, 110, 95], "inconclusive"),
        ("a - b < -1%", [0, 0, 0], [400, 420, 380], "holds"),
        ("a == b +- 50%", [400, 420, 380], [400, 400, 400], "holds"),
        ("a == b +- 10%", [400, 420, 380], [800, 800, 800], "fails"),
        ("a < 0.1%", [0, 0, 0], None, "holds"),
        ("a < 0.1%", [50, 50, 50], None, "fails"),
        ("a < 0.1%", [0, 0, 25], None, "inconclusive"),
        ("a <= 0", [0, 0, 0], None, "inconclusive"),
        ("a < 0.1%", [10_000] * 3, None, "fails"),
    ],
)
def test_failures_by_counts(holds: str, a: list[int], b: list[int] | None, state: str) -> None:
    actual = failures(holds, a, b)
    assert actual.state == state, actual.sentence
    assert actual.sides[0].method in {"Clopper-Pearson", "rule of three"}
    assert "by counts" in actual.sentence


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([0, 0, 0, 0, 900], [500] * 5, "worst trial says otherwise"),
        ([95, 100, 105], [100, 110, 95], "it takes more requests to tell"),
    ],
)
def test_failures_that_tell_nothing_say_why(a: list[int], b: list[int], reason: str) -> None:
    assert reason in failures("a < b", a, b).why


def test_failures_that_nobody_counted_are_compared_by_their_differences() -> None:
    a = case("a", [0.0, 0.0, 0.0, 0.0], unit="1", use="error_rate")
    b = case("b", [0.04, 0.05, 0.045, 0.04], unit="1", use="error_rate")
    assert verdict("a < b", a, b).state == "holds"


@pytest.mark.parametrize(("rules", "sizes"), [(BY_SCENARIO, {8, 1}), (HOLM, {9})])
def test_a_family_is_a_scenario_or_the_run(rules: VerdictRules, sizes: set[int]) -> None:
    noise = Random(3)
    near = [1000 * 1.02 * math.exp(noise.gauss(0, 0.02)) for _ in range(8)]
    cases = [case("a", near), case("b", times(1))]
    alone = judge(summary(*cases), [claim("a > b")])[0]
    many = [claim("a > b", label=f"C{number}") for number in range(8)]
    others = [claim("a > b", label="O", metric="other")]
    actual = judge(summary(*cases, verdict_rules=rules), [*many, *others])
    assert {item.family_size for item in actual} == sizes
    for item_ in actual[:8]:
        assert item_.p_adjusted == pytest.approx(min(1, max(sizes) * present(alone.estimate.p)))


def test_what_a_family_keeps_from_being_told_says_so() -> None:
    cases = [case("a", times(1.02, 4)), case("b", times(1, 4))]
    (clear,) = judge(summary(*cases), [claim("a > b", margin=0.001)])
    assert clear.state == "holds"
    many = [claim("a > b", label=f"C{number}", margin=0.001) for number in range(100)]
    actual = judge(summary(*cases, verdict_rules=HOLM), many)[0]
    assert actual.state == "inconclusive"
    assert "among so many" in actual.why
    assert judge(summary(*cases), many)[0].state == "holds"


HOLDS = ("a > b", "a <= 1.02 * b", "a == b +- 4%", "a - b < 20/s", "a < 1010/s")


@pytest.mark.samples(20)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("rules", [VerdictRules(), HOLM, BY_SCENARIO])
def test_no_interval_contradicts_its_verdict(rules: VerdictRules, seed: int) -> None:
    draw = Random(seed)
    cases, claims = [], []
    for number in range(draw.randint(1, 12)):
        scenario, truth = f"s{number}", draw.choice([0.97, 0.99, 1.0, 1.0, 1.02, 1.05])
        holds = draw.choice(HOLDS)
        a, b = two(draw, draw.randint(3, 10), truth, draw.choice([0.002, 0.02]), 0)
        cases += [case("a", a, scenario=scenario), case("b", b, scenario=scenario)]
        side = None if holds == "a < 1010/s" else "b"
        claims.append(claim(holds, b=side, label=scenario, scenario=scenario))
    actual_ = judge(summary(*cases, verdict_rules=rules), claims)
    for item, actual in zip(actual_, claims, strict=True):
        low, high = present(item.estimate.interval)
        how = lies((low, high), region(actual.hypothesis))
        same = actual.hypothesis.bound / 1.03 < low and high < actual.hypothesis.bound * 1.03
        if "the same within" in item.sentence:
            assert (how, same) == ("across", True)
        elif item.state == "inconclusive":
            ratio_of_two = actual.hypothesis.form == "ratio" and actual.hypothesis.relation != "=="
            assert how == "across"
            assert not (ratio_of_two and same)
        else:
            assert how == {"holds": "inside", "fails": "outside"}[item.state]
    levels = {item.estimate.level for item in actual_}
    assert min(levels) + 1e-9 >= 0.95
    assert max(levels) <= 1 - 0.05 / len(claims) + 1e-9


def test_questions_that_cannot_be_answered_count_in_their_family() -> None:
    cases = [case("a", times(1.02, 4)), case("b", times(1, 4)), case("c", [None] * 4)]
    of_c = ClaimInstance(a=Term(case=name("c")), b=Term(case=name("b")))
    lost = [claim("a > b", label=f"L{index}", instances=(of_c,)) for index in range(99)]
    actual, *invalid = judge(summary(*cases), [claim("a > b", margin=0.001), *lost])
    assert {item.state for item in invalid} == {"invalid"}
    assert (actual.state, actual.family_size) == ("inconclusive", 100)


@pytest.mark.parametrize(
    ("holds", "b"),
    [
        *(("a > 1.1 * b", "b"), ("a - b > 150/s", "b"), ("a > 1150/s", None)),
        *(("a - b < 150/s", "b"), ("a > -1150/s", None)),
    ],
)
def test_an_outlier_makes_an_answer_fragile(holds: str, b: str | None) -> None:
    steady, once = times(1.2, 15), [*times(1.2, 14), 600.0]
    sign = -1 if "-1150" in holds else 1  # what is not above 0 has no logarithm
    for a, fragile in ((steady, False), (once, True)):
        cases = (case("a", [sign * item for item in a]), case("b", times(1, 15)))
        (actual,) = judge(summary(*cases), [claim(holds, b=b)])
        assert present(actual.robust).method == "Hodges-Lehmann"
        assert actual.fragile is fragile
        assert ("fragile" in actual.sentence) is fragile
    (few,) = judge(summary(case("a", once[10:]), case("b", times(1, 5))), [claim(holds, b=b)])
    assert (few.robust, few.fragile) == (None, None)


def test_what_one_side_alone_did_is_in_the_sentence() -> None:
    closed = check("K1", "behaviour", name="keep-alive")
    pair = check("K2", "behaviour", "warn", name="backlog")
    other = case("b", times(1), findings=[closed, pair])
    actual = verdict("a > b", case("a", times(1.2), findings=[pair]), other)
    assert actual.state == "holds"
    objections = [(objection.check.id, objection.side) for objection in actual.objections]
    assert objections == [("K1", "b"), ("K2", "both")]
    assert "b alone: fail K1 keep-alive; valid with 1 warning (K2 backlog)" in actual.sentence


def test_a_side_alone_did_nothing_that_another_did_not() -> None:
    closed = check("K1", "behaviour", name="keep-alive")
    actual = verdict("a < 2k/s", case("a", times(1), findings=[closed]))
    assert "valid with 1 warning (fail K1 keep-alive)" in actual.sentence
    assert " alone" not in actual.sentence


def judged(checks: Any = (), of_comparison: Any = (), servers: str = "ab", **more: Any) -> Verdict:
    cases = [case(server, times(1 + 0.2 * (server == "a"))) for server in servers]
    actual = summary(*cases, checks=checks, comparisons=(comparison(of_comparison, *servers),))
    return judge(actual, [claim("a > b", **more)])[0]


@pytest.mark.parametrize("scope", ["result", "comparison"])
def test_a_fault_of_the_apparatus_leaves_nothing_to_be_believed(scope: str) -> None:
    failed = [check("T9", "apparatus", scope=scope)]
    judgements = judged(checks=failed) if scope == "result" else judged(of_comparison=failed)
    assert (judgements.state, judgements.why) == ("invalid", "T9 t9: T9 says so")
    assert len(judgements.a) == 8


def test_what_is_about_others_says_nothing_here() -> None:
    others = [check("F2", "apparatus", scope="comparison", component="c")]
    assert judged(of_comparison=others, servers="abc").state == "holds"
    mine = [check("F2", "apparatus", scope="comparison", component="b")]
    assert judged(of_comparison=mine).state == "invalid"
    too_few = [check("S3", "apparatus", scope="comparison")]
    assert judged(of_comparison=too_few, servers="abc").state == "holds"


def test_a_check_of_response_times_says_nothing_of_rates() -> None:
    clock = [check("T1", "apparatus", scope="result", invalidates="latency")]
    assert judged(checks=clock).state == "holds"
    cases = [case(item, times(1), use="latency", label="p50", unit="s") for item in "ab"]
    assert judge(summary(*cases, checks=clock), [claim("a > b", of="p50")])[0].state == "invalid"


def test_a_trial_whose_tail_is_not_known_still_has_a_median() -> None:
    tail = check("S2", "apparatus", invalidates="latency", component="p99")
    late = case("a", times(1), use="latency", unit="s", label="p50")
    first = case("a", times(1), doubted={1: "S2"}).doubted[0]
    doubted = first.model_copy(update={"checks": (tail,)})
    late = late.model_copy(update={"latency_doubted": (doubted,)})
    other = case("b", times(2), use="latency", unit="s", label="p50")
    (actual,) = judge(summary(late, other), [claim("a < b", of="p50")])
    assert len(actual.blocks) == 8
    update = {"of": "p99", "percentile": 99.0}
    renamed = [
        item.model_copy(update={"metrics": (item.metrics[0].model_copy(update=update),)})
        for item in (late, other)
    ]
    (actual,) = judge(summary(*renamed), [claim("a < b", of="p99")])
    assert actual.blocks == tuple(range(2, 9))
    assert "of its response times" in actual.rejected_blocks[0].why


def test_a_failed_placebo_spoils_its_scenario() -> None:
    failed = check("S4", "apparatus", scope="result", component=name("b").title)
    cases = [case("a", times(1.2)), case("b", times(1))]

    def state(scenario: str) -> str:
        placebos = (placebo_of("b", scenario, n=0, why="-"),)
        actual = summary(*cases, checks=(failed,), placebos=placebos)
        return judge(actual, [claim("a > b")])[0].state

    assert (state("hello"), state("again")) == ("invalid", "holds")


def test_a_smoke_has_no_verdicts() -> None:
    actual = summary(case("a", times(2)), case("b", times(1)), smoke=True)
    assert judge(actual, [claim("a > b")]) == ()


def test_sides_of_different_scenarios_are_paired_by_block_and_it_is_said() -> None:
    claim_instance = ClaimInstance(a=Term(case=name("a")), b=Term(case=name("a", "again")))
    actual = claim("a > b", instances=(claim_instance,))
    cases = [case("a", times(1.2)), case("a", times(1), scenario="again")]
    (actual_,) = judge(summary(*cases), [actual])
    assert actual_.state == "holds"
    assert any("not measured back to back" in limitation for limitation in actual_.limitations)
    assert actual_.sentence.startswith("hello has ")


def swapped(expected: Claim) -> Claim:
    (request,) = expected.instances
    sides = ClaimInstance(a=present(request.b), b=request.a)
    return expected.model_copy(update={"instances": (sides,)})


SEEDS = st.integers(0, 2**32)
TRUTHS = st.sampled_from([0.5, 0.9, 0.97, 0.99, 1.0, 1.01, 1.03, 1.1, 2.0])


@given(SEEDS, st.integers(3, 20), st.floats(0.005, 0.1))
def test_inconclusive_always_says_that_it_takes_more(seed: int, n: int, margin: float) -> None:
    a, b = two(Random(seed), n)
    (actual,) = judge(summary(case("a", a), case("b", b)), [claim("a > b", margin=margin)])
    if actual.state == "inconclusive":
        assert present(actual.blocks_needed) > n
        assert blocks_that_tell(present(actual.blocks_needed), n) in actual.sentence
    else:
        assert actual.blocks_needed is None
    assert present(actual.detectable_ratio) > 1


@settings(max_examples=60)
@given(SEEDS, TRUTHS, st.integers(3, 12))
def test_swapping_the_sides_swaps_the_verdict(seed: int, truth: float, n: int) -> None:
    a, b = two(Random(seed), n, truth)
    actual = summary(case("a", a), case("b", b))
    for item, other in (("a > b", "a < b"), ("a >= b", "a <= b"), ("a == b +- 4%",) * 2):
        (first,) = judge(actual, [claim(item)])
        (second,) = judge(actual, [swapped(claim(other))])
        assert first.state == second.state
        assert first.estimate.p == pytest.approx(second.estimate.p)


@settings(max_examples=60)
@given(SEEDS, TRUTHS, st.integers(3, 12), st.sampled_from([1e-6, 0.5, 1024.0, 1e9]))
def test_scaling_both_sides_changes_nothing(seed: int, truth: float, n: int, factor: float) -> None:
    a, b = two(Random(seed), n, truth)
    claims = [claim(item) for item in ("a > b", "a >= 1.01 * b", "a == b +- 4%")]
    earlier = judge(summary(case("a", a), case("b", b)), claims)
    cases = case("a", [factor * item for item in a]), case("b", [factor * item for item in b])
    later = judge(summary(*cases), claims)
    assert [item.state for item in earlier] == [item.state for item in later]
    for item_, other in zip(earlier, later, strict=True):
        assert item_.estimate.value == pytest.approx(other.estimate.value)


EVEN: dict[int, float] = dict.fromkeys(range(1, 9), 0.4)
MORE: dict[int, float] = dict.fromkeys(range(1, 9), 0.6)


def beside(holds: str, factor: float, a: dict[int, float], b: dict[int, float]) -> Verdict:
    first_side = case("a", times(factor), disturbed=a)
    return verdict(holds, first_side, case("b", times(1)[::-1], disturbed=b))


@pytest.mark.parametrize(
    ("holds", "factor", "state"),
    [("a > b", 1.2, "holds"), ("a > b", 0.8, "fails"), ("a == b +- 3%", 1.0, "holds")],
)
def test_what_others_disturbed_alike_has_a_ratio(holds: str, factor: float, state: str) -> None:
    gate = beside(holds, factor, EVEN, EVEN)
    assert gate.state == state, gate.sentence
    assert gate.disturbed == gate.blocks == tuple(range(1, 9))
    assert gate.undisturbed is not None
    text = "disturbed in 8 of 8 blocks: others left 40 % to a and 40 % to b of the CPUs"
    assert text in gate.sentence
    assert "without them it may differ" in gate.sentence


@pytest.mark.parametrize(("holds", "factor"), [("a > b", 1.2), ("a >= 2 * b", 2.3)])
def test_others_that_left_one_side_more_may_be_the_difference(holds: str, factor: float) -> None:
    gate = beside(holds, factor, MORE, EVEN)
    assert gate.state == "inconclusive"
    assert "others left a 60 % of the CPUs and b 40 %: that may be the difference" in gate.sentence
    assert beside("a > b", 2.0, MORE, EVEN).state == "holds"  # more than that explains


@pytest.mark.parametrize("holds", ["a - b > 1/s", "a - b < 900/s"])
def test_a_difference_beside_others_is_none_of_a_quiet_machine(holds: str) -> None:
    gate = beside(holds, 1.2, EVEN, EVEN)
    assert gate.state == "invalid"
    assert "trial 1 is not believed: N1 n1" in gate.why


def test_a_value_beside_others_is_not_believed() -> None:
    assert verdict("a > 10/s", case("a", times(1), disturbed=EVEN)).state == "invalid"


def test_a_block_that_others_disturbed_on_one_side_alone_does_not_count() -> None:
    fromkeys: dict[int, float] = dict.fromkeys(range(1, 5), 0.4)
    theirs: dict[int, float] = dict.fromkeys(range(2, 6), 0.4)
    gate = beside("a > b", 1.2, fromkeys, theirs)
    assert (gate.blocks, gate.disturbed) == ((2, 3, 4, 6, 7, 8), (2, 3, 4))
    assert [block.block for block in gate.rejected_blocks] == [1, 5]
    assert gate.rejected_blocks[0].why.startswith("a: trial 1 is not believed: N1")
    assert gate.rejected_blocks[1].why.endswith("and the other side was not disturbed")


def test_failures_beside_others_may_be_theirs() -> None:
    fields: dict[str, Any] = {"disturbed": EVEN, "metric": "errors", "use": "errors"}
    sides = [case(side, times(1), **fields) for side in ("a", "b")]
    (actual,) = judge(summary(*sides), [claim("a > b", metric="errors")])
    assert actual.state == "invalid"


def test_a_thousand_blocks_are_judged() -> None:
    assert ratio("a > b", 1.2, n=1_100).state == "holds"


@pytest.mark.parametrize(
    ("message", "output"),
    [
        ("a closed: open it", "a closed (D3)"),
        ("a writes lines, such as 'INFO: 1 - \"GET\"': switch that off", None),
        ("a writes lines, such as 'INFO: 1'", None),
    ],
)
def test_a_finding_in_short_has_no_advice_and_whole_quotes(
    message: str, output: str | None
) -> None:
    (text,) = in_short([check("D3", "behaviour", message=message)])
    assert text == (output or f"{message.removesuffix(': switch that off')} (D3)")


def test_failures_are_no_wrong_answer_where_they_are_counted() -> None:
    failing, wrong = check("E1", "behaviour"), check("E6", "behaviour")
    throughput = case("a", times(1), findings=[failing])
    errors = case("a", times(1), use="errors", findings=[failing])
    counted = errors.metrics[0].model_copy(update={"measurand": "failed requests"})
    assert [*wrong_answers(throughput)] == ["a: E1 says so"]
    assert [*wrong_answers(errors, counted)] == []
    both_wrong = case("a", times(1), findings=[failing, wrong])
    assert [*wrong_answers(both_wrong, counted)] == ["a: E6 says so"]
    assert [*wrong_answers(case("a", [], failed={1: WRONG}))] == ["status 500, expected 200"]
