"""What a result says, from trials made by hand."""

import random
import statistics
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import plain
from present import present

from benchforge.errors import InvalidFile
from benchforge.model.files.result import Header
from benchforge.model.suite.pivot import Pivot
from benchforge.model.summary.summary import MetricSummary
from benchforge.model.trial.check import Check
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.trial import Failure, Trial
from benchforge.model.values.case_name import CaseName
from benchforge.plugin import Metric, Window
from benchforge.stats.summary.summarize import summarize


class Throughput(Metric):
    """Good responses a second, and a bound where the tool knows only bounds."""

    name: ClassVar[str] = "throughput"
    unit: ClassVar[str] = "1/s"
    better: ClassVar[Literal["higher", "lower"]] = "higher"

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        reading = present(trial.reading)
        lost = "lost" in reading.defects
        yield Sample(
            metric=label,
            unit=self.unit,
            value=None if lost else reading.good_at_least / reading.seconds,
            lower_bound=reading.overlapping_errors,
            why="the tool lost count" if lost else "",
        )


class Errors(Metric):
    """Errors by class."""

    name: ClassVar[str] = "errors"
    unit: ClassVar[str] = "1"
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        for name, count in present(trial.reading).errors.items():
            yield Sample(metric=label, unit=self.unit, value=count, of=name)


def case(server: str = "wsgiref", arm: int = 1) -> CaseName:
    return plain.named(server, digest=f"{server:0<64}", arm=arm)


def header(*cases: CaseName, blocks: int = 3) -> Header:
    return plain.header(*cases, plan=plain.planned(cases[::-1], blocks))


def trial(
    number: int,
    good: int = 100,
    *,
    case_name: CaseName | None = None,
    errors: dict[str, int] | None = None,
    at_least: bool = False,
    lost: bool = False,
    **changed: Any,
) -> Trial:
    defects = ("lost",) if lost else ()
    fields = {"errors": errors or {}, "overlapping_errors": at_least, "defects": defects}
    reading = None if "failure" in changed else plain.reading(good, **fields)
    fields = {"number": number, "case": case_name or case(), "block": number, "seconds": 3}
    return plain.trial(reading=reading, **fields | changed)


def only_line(*trials: Trial) -> MetricSummary:
    (line,) = summarize(header(case()), trials, {"speed": Throughput()}).cases[0].metrics
    return line


values = st.lists(st.integers(0, 10**9), min_size=1, max_size=9)


@given(values)
def test_a_line_says_median_lowest_highest_mean_and_deviation(goods: list[int]) -> None:
    line = only_line(*(trial(number, good) for number, good in enumerate(goods, 1)))
    ordered = sorted(map(float, goods))
    middle = len(ordered) // 2
    assert line.median == (ordered[middle] + ordered[~middle]) / 2 == statistics.median(goods)
    assert (line.lowest, line.highest) == (min(goods), max(goods))
    assert [sample.sample.value for sample in line.samples] == goods
    assert line.mean == pytest.approx(sum(goods) / len(goods))
    deviation = statistics.stdev(goods) if len(goods) > 1 else None
    assert line.sd == (None if deviation is None else pytest.approx(deviation, abs=1e-6))


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_the_trials_does_not_matter(goods: list[int], shuffle: random.Random) -> None:
    trials = [
        trial(number, good, at_least=good % 2 == 0, errors={"read": good % 3, "write": 0})
        for number, good in enumerate(goods, 1)
    ]
    mixed = list(trials)
    shuffle.shuffle(mixed)
    metrics = {"speed": Throughput(), "errors": Errors()}
    assert summarize(header(case()), mixed, metrics) == summarize(header(case()), trials, metrics)


@given(values, st.data())
def test_a_median_may_rest_on_bounds(goods: list[int], data: st.DataObject) -> None:
    bounds = data.draw(st.lists(st.booleans(), min_size=len(goods), max_size=len(goods)))
    pairs = list(zip(goods, bounds, strict=True))
    line = only_line(*(trial(n, good, at_least=bound) for n, (good, bound) in enumerate(pairs, 1)))
    truth = [good + 10**12 if bound else good for good, bound in pairs]
    assert line.lower_bound == (statistics.median(truth) != line.median)


def test_one_unknown_value_leaves_no_median_and_says_why() -> None:
    line = only_line(trial(1, 10), trial(2, lost=True), trial(3, lost=True))
    assert (line.median, line.lowest, line.highest) == (None, None, None)
    assert line.why == "the tool lost count (trials 2, 3)"
    assert [sample.sample.value for sample in line.samples] == [10, None, None]


def test_where_no_trial_has_a_value_the_reason_names_no_trial() -> None:
    assert only_line(*(trial(each, lost=True) for each in range(1, 4))).why == "the tool lost count"


def test_of_many_trials_without_a_value_a_few_are_named() -> None:
    line = only_line(trial(1, 10), *(trial(each, lost=True) for each in range(2, 102)))
    assert line.why == "the tool lost count (trials 2, 3, 4, 5, 6, 7, and 94 more)"


def test_a_class_that_some_trials_lack_has_no_median() -> None:
    trials = [trial(1, errors={"status": 3}), trial(2), trial(3)]
    (line,) = summarize(header(case()), trials, {"errors": Errors()}).cases[0].metrics
    assert (line.of, line.median, line.why) == ("status", None, "1 of 3 trials has a value")


def test_a_metric_that_says_nothing_still_has_its_line() -> None:
    (line,) = summarize(header(case()), [trial(1)], {"errors": Errors()}).cases[0].metrics
    assert (line.samples, line.median, line.why) == ((), None, "no trial has a value")


def test_cases_and_metrics_stand_in_the_order_of_the_suite() -> None:
    first, second = case("b"), case("a")
    trials = [trial(n, case_name=item, errors={"read": 0}) for n, item in ((1, second), (2, first))]
    metrics = {"z": Errors(), "speed": Throughput(), "a": Throughput()}
    summary = summarize(header(first, second), trials, metrics)
    assert [case.case for case in summary.cases] == [first, second]
    assert [line.metric for line in summary.cases[0].metrics] == ["z", "speed", "a"]
    assert [line.use for line in summary.cases[0].metrics] == ["errors", "throughput", "throughput"]


def test_arms_of_a_case_are_kept_apart() -> None:
    item, other = case(), case(arm=2)
    trials = [trial(1, 10, case_name=item), trial(2, 20, case_name=other)]
    summary = summarize(header(item, other), trials, {"speed": Throughput()})
    assert [case.metrics[0].median for case in summary.cases] == [10, 20]


def test_failed_trials_are_listed_with_every_attempt() -> None:
    failure = Failure(stage="start", message="it died")
    trials = [
        trial(1, 10, block=1),
        trial(2, block=2, failure=failure),
        trial(3, block=2, attempt=2, failure=failure),
    ]
    (actual,) = summarize(header(case()), trials, {"speed": Throughput()}).cases
    assert (actual.trials, actual.planned) == (1, 3)
    failed = [(item.trial, item.block, item.attempt) for item in actual.failed]
    assert failed == [(2, 2, 1), (3, 2, 2)]
    assert actual.metrics[0].median == 10


def test_a_case_without_a_measurement_has_no_lines() -> None:
    failure = Failure(stage="start", message="it died")
    trials = [trial(1, failure=failure)]
    (actual,) = summarize(header(case()), trials, {"speed": Throughput()}).cases
    assert (actual.trials, actual.metrics, len(actual.failed)) == (0, (), 1)


def test_a_result_is_complete_when_each_planned_measurement_has_its_trial() -> None:
    entries = header(case(), blocks=2)
    failure = Failure(stage="ask", message="wrong")
    assert not summarize(entries, [trial(1)], {}).complete
    assert summarize(entries, [trial(1), trial(2, failure=failure)], {}).complete


def test_notes_say_once_what_the_checks_found_and_in_how_many_trials() -> None:
    def check(status: Literal["pass", "warn", "fail", "unknown"], says: str) -> Check:
        return Check(id="N1", scope="trial", subject="apparatus", status=status, message=says)

    late = check("warn", "the loader was late")
    trials = [
        trial(1, checks=(late, check("pass", "quiet"))),
        trial(2, checks=(late, check("fail", "a neighbour took a core"))),
        trial(3, checks=(check("unknown", "no counter"),)),
    ]
    (actual,) = summarize(header(case()), trials, {}).cases
    assert actual.notes == (
        "fail: a neighbour took a core (1 of 3 trials)",
        "warn: the loader was late (2 of 3 trials)",
        "unknown: no counter (1 of 3 trials)",
    )


def test_a_trial_of_another_result_is_refused() -> None:
    with pytest.raises(InvalidFile, match="trial 1: hello · other · wrk"):
        summarize(header(case()), [trial(1, case_name=case("other"))], {})


def test_among_lower_bounds_there_is_no_deviation() -> None:
    line = only_line(trial(1, 10), trial(2, 20, at_least=True))
    assert (line.mean, line.sd) == (15, None)


def test_a_header_with_several_cases_in_a_cell_is_refused() -> None:
    table = Pivot(scenarios=("hello",), rows=("driver",), metrics=("speed",))
    crowded = header(case("a"), case("b")).model_copy(update={"tables": {"sizes": table}})
    with pytest.raises(InvalidFile, match=r"tables\.sizes: several cases in one cell: server diff"):
        summarize(crowded, [], {})
