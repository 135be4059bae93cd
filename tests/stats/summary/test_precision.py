"""As many blocks as it takes: the decision, from trials made by hand."""

import math
from collections.abc import Sequence
from random import Random
from statistics import fmean, variance
from typing import ClassVar

import pytest
from benchforge_metrics.throughput import Throughput
from hypothesis import given, settings
from hypothesis import strategies as st
from made import summaries
from made.made_result import METRICS, case, header, summed, trial, trials
from made.simulate import blocks
from made.turns import turns
from present import present

from benchforge.model.files.result import Header
from benchforge.model.suite.claim import Claim, ClaimInstance, Hypothesis, Term
from benchforge.model.suite.until import Until
from benchforge.model.summary.verdict import StopDecision
from benchforge.model.trial.trial import Trial
from benchforge.model.values.units import Measurand
from benchforge.stats.distributions import t_quantile
from benchforge.stats.inference.hodges_lehmann import ratio
from benchforge.stats.inference.stopping import Stop, at_level, enough
from benchforge.stats.summary.completeness import missing, whole
from benchforge.stats.summary.precision import precise, sought
from benchforge.stats.summary.summarize import summarize

ONE, TWO, THREE = (case(server) for server in ("one", "two", "three"))


def until(width: float = 0.03, least: int = 8, most: int = 30) -> Until:
    return Until(width=width, least=least, most=most, method="width")


def made(values: Sequence[Sequence[float | None]], amount: Until) -> tuple[Header, list[Trial]]:
    cases = [case(f"s{number}") for number in range(len(values))]
    return header(cases, amount.most, amount), trials(list(zip(cases, values, strict=True)))


def looked(head: Header, entries: Sequence[Trial]) -> StopDecision:
    return present(precise(head, entries, METRICS))


def drawn(seed: int, n: int, k: int = 2, noise: float = 0.02) -> list[list[float]]:
    return blocks(Random(seed), n, [1 + index / 10 for index in range(k)], noise, outliers=0)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(8, 14), st.floats(0.01, 0.1))
def test_it_is_the_rule_for_all_pairs(seed: int, k: int, n: int, width: float) -> None:
    values = drawn(seed, n, k)
    findings = looked(*made(values, until(width)))
    pairs = [
        at_level(ratio(values[a], values[b]), 0.95, Stop.of(until(width)))
        for a in range(k)
        for b in range(a + 1, k)
    ]
    same = enough(pairs, n, until(width))
    assert (findings.stop, findings.reached, findings.blocks) == (same.stop, same.reached, n)
    assert findings.half_width == pytest.approx(same.half_width, rel=1e-3)
    assert " / " in findings.widest


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(8, 12), st.integers(0, 40), st.randoms())
def test_a_half_block_changes_nothing(seed: int, n: int, cut: int, shuffle: Random) -> None:
    """What a kill leaves is decided on as if the block had not begun."""
    head, entries = made(drawn(seed, n, 3), until(0.02))
    stored = entries[: max(0, len(entries) - cut)]
    full = len(stored) // 3
    mixed = list(stored)
    shuffle.shuffle(mixed)
    assert whole(head, mixed) == full
    assert looked(head, mixed) == looked(head, entries[: full * 3])


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.5, 2))
def test_a_difference_decides_nothing(seed: int, factor: float) -> None:
    values = drawn(seed, 9)
    other = [values[0], [value * factor for value in values[1]]]
    findings, two = looked(*made(values, until())), looked(*made(other, until()))
    assert (findings.stop, findings.reached) == (two.stop, two.reached)


def test_fewer_than_the_least_are_never_enough() -> None:
    findings = looked(*made(drawn(1, 7, noise=1e-4), until()))
    assert not findings.stop
    assert findings.in_words == (
        "not enough after 7 blocks: 7 of at least 8 blocks "
        "(widest: hello · s0 · few / s1 · few in throughput)"
    )
    findings = looked(*made(drawn(1, 8, noise=1e-3), until()))
    assert findings.reached
    assert findings.in_words.startswith("stopped after 8 blocks: no interval is wider than 0.1")


def test_blocks_that_are_not_believed_of_both_do_not_count() -> None:
    values: list[list[float | None]] = [[*subject] for subject in drawn(1, 9, noise=1e-3)]
    values[0][3] = None
    assert looked(*made(values, until())).reached
    values[1][5] = None
    findings = looked(*made(values, until()))
    assert not findings.stop
    assert "7 of at least 8 blocks are believed" in findings.why


def test_noise_is_waited_for_and_a_server_that_cannot_be_measured_is_not() -> None:
    noisy: list[list[float | None]] = [[None] * 8, [100.0, 101, 99, 100, 102, 98, 101, 99]]
    assert not looked(*made(noisy, until())).stop
    head, entries = made(noisy, until())
    failing = [
        trial(item.number, item.block, item.position, item.case, 1, failed=item.case.server == "s0")
        for item in entries
    ]
    findings = looked(head, failing)
    assert (findings.stop, findings.reached) == (True, False)
    assert findings.in_words.endswith("no block will tell more: hello · s0 · few has no throughput")


def test_a_server_alone_is_known_by_its_own_value() -> None:
    head, entries = made(drawn(1, 8, k=1, noise=0.001), until(0.5))
    (capacity,) = sought(head)
    assert (capacity.theirs, capacity.title) == (None, "hello · s0 · few in throughput")
    assert looked(head, entries).reached


def claim(metric: str, a: str, b: str | None = None) -> Claim:
    question = Hypothesis(text="", form="ratio" if b else "value", relation=">", bound=1)
    sides = ClaimInstance(a=Term(case=case(a)), b=Term(case=case(b)) if b else None)
    return Claim(label="x", metric=metric, hypothesis=question, instances=(sides,))


def test_what_claims_name_is_asked_of_every_pair() -> None:
    head = header([ONE, TWO, THREE], 30, until())
    pairs = [(ONE, TWO), (ONE, THREE), (TWO, THREE)]
    targets = [(item.metric, item.ours, item.theirs) for item in sought(head)]
    assert targets == [("throughput", *pair) for pair in pairs]
    claims = (claim("latency", "two", "one"), claim("cpu", "three"))
    capacity = sought(head.model_copy(update={"claims": claims}))
    assert [item.metric for item in capacity] == ["latency"] * 3 + ["cpu"] * 4
    assert (capacity[-1].ours, capacity[-1].theirs) == (THREE, None)


def test_a_claim_is_all_that_its_scenario_is_asked() -> None:
    """The third server is as loud as it is; `a > b` is decided at the first look."""
    values = [*drawn(1, 4, noise=0.001), [100.0 * math.exp((-1) ** n) for n in range(4)]]
    head, entries = made(values, until(0.01, least=3).model_copy(update={"method": "decision"}))
    head = head.model_copy(update={"claims": (claim("throughput", "s1", "s0"),)})
    for n in (2, 3):
        findings = looked(head, entries[: 3 * n])
        assert (findings.stop, findings.reached) == (n == 3, n == 3)
    assert findings.why == "every claim is decided, at all looks together"
    open_ = head.model_copy(update={"claims": (claim("throughput", "s1", "s2"),)})
    assert not looked(open_, entries).stop


def test_what_is_missing() -> None:
    head, entries = made(drawn(1, 8, noise=1e-3), until())
    assert missing(head, entries, looked(head, entries)) == 0
    assert missing(head, entries[:-1], looked(head, entries[:-1])) == 60 - 15
    # A block that was begun is measured to its end.
    more = [*entries, trial(17, 9, 1, head.cases[0], 100)]
    assert missing(head, more, looked(head, more)) == 60 - 17
    fixed = head.model_copy(update={"until": None})
    assert precise(fixed, entries, METRICS) is None
    assert missing(fixed, entries, None) == 60 - 16


def test_an_attempt_that_is_left_is_missing() -> None:
    again = trial(1, 1, 1, ONE, None)
    checks = [check.model_copy(update={"transient": True}) for check in again.checks]
    again = again.model_copy(update={"checks": tuple(checks)})
    head = header([ONE], 1)
    assert (whole(head, [again]), missing(head, [again], None)) == (0, 1)
    attempts = [again, *(again.model_copy(update={"number": n, "attempt": n}) for n in (2, 3))]
    assert (whole(head, attempts), missing(head, attempts, None)) == (1, 0)


def test_the_summary_is_complete_once_it_is_enough() -> None:
    item, two = drawn(1, 8, noise=1e-3)
    summary = summed({"one": item, "two": two}, until=until())
    assert summary.complete
    assert present(summary.stop_decision).reached
    assert [subject.planned for subject in summary.cases] == [8, 8]
    summary = summed({"one": item[:6], "two": two[:6]}, until=until())
    assert not summary.complete
    assert [subject.planned for subject in summary.cases] == [30, 30]


def test_blocks_are_no_more_alike_than_their_slices_explain() -> None:
    """Four blocks that agree by chance end no run in turns; the ranks have the same deviation."""
    head, entries = made(drawn(1, 4, noise=1e-4), until(0.05, least=4))
    assert looked(head, entries).reached
    draw = Random(2)
    scattered = [
        item.model_copy(update={"turns": turns(*(draw.randint(700, 1300) for _ in range(20)))})
        for item in entries
    ]
    logs = [present(item.turns).log_rates for item in scattered]
    pairs = zip(logs[::2], logs[1::2], strict=True)
    ratios = [[a - b for a, b in zip(*pair, strict=True)] for pair in pairs]
    explained = math.sqrt(fmean(variance(row) / 10 for row in ratios))
    findings = looked(head, scattered)
    assert not findings.stop
    half = t_quantile(1 - 0.0255 / 2, 3) * explained / 2
    assert findings.half_width == pytest.approx(half)
    ((standing, *_),) = [item.rankings for item in summarize(head, scattered, METRICS).comparisons]
    (pair,) = present(standing.ranking).pairs
    assert pair.ratio.sd == pytest.approx(explained)
    assert math.log(present(pair.ratio.high) / present(pair.ratio.value)) == pytest.approx(half)
    of_blocks = summarize(head.model_copy(update={"until": None}), scattered, METRICS)
    (pair,) = present(of_blocks.comparisons[0].rankings[0].ranking).pairs
    assert present(pair.ratio.sd) < explained / 10


class Times(Throughput):
    """Numbers of which checks of response times speak."""

    name: ClassVar[str] = "latency"
    measurand: ClassVar[Measurand] = "response time"


@pytest.mark.parametrize(
    ("late_in", "stop", "says"),
    [
        (range(1, 9), True, "no block will tell more: hello \N{MIDDLE DOT} s0"),
        (range(1, 3), False, "6 of at least 8 blocks are believed"),
        ((), True, "no interval is wider"),
    ],
)
def test_doubtful_times_are_not_enough(late_in: Sequence[int], stop: bool, says: str) -> None:
    late = summaries.check("L4", "apparatus", invalidates="latency")
    head, entries = made(drawn(1, 8, noise=0.001), until())
    for index, item in enumerate(entries):
        if item.block in late_in and item.case.server == "s0":
            entries[index] = item.model_copy(update={"checks": (late,)})
    programs = present(precise(head, entries, {"throughput": Times()}))
    assert (programs.stop, programs.reached) == (stop, says == "no interval is wider")
    assert says in programs.why
