"""S2, E2, O1: only percentiles that somebody asks are judged; S2: enough responses for them."""

import pytest
from benchforge_metrics.errors import Errors
from benchforge_metrics.latency import Latency
from benchforge_metrics.throughput import Throughput
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import LIMITS, asked, at_least_as_bad, header, only, reading, trial

from benchforge.checks import ask, percentiles
from benchforge.checks.percentiles import Percentiles, of_scenario
from benchforge.model.files.result import Header, MetricUse
from benchforge.model.suite.search import Objective, RateSearch
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Load, Reading
from benchforge.model.trial.window import WHOLE
from benchforge.parts.part import Metric

PERCENTS = (50, 90, 99)


def of(count: int, **changed: object) -> Reading:
    return reading(responses=count, latency=Histogram.of({1000: count}), **changed)


@pytest.mark.parametrize(
    ("count", "statuses"),
    [
        *((10_000, ("pass", "pass", "pass")), (9_999, ("pass", "pass", "warn"))),
        *((1_000, ("pass", "pass", "warn")), (999, ("pass", "warn", "fail"))),
        *((99, ("warn", "fail", "fail")), (19, ("fail", "fail", "fail"))),
        (0, ("fail", "fail", "fail")),
    ],
)
def test_s2_wants_a_hundred_responses_beyond_a_percentile(
    count: int, statuses: tuple[str, ...]
) -> None:
    actual = [asked(trial(reading=of(count)), "S2", f"p{percent}") for percent in PERCENTS]
    assert tuple(check.status for check in actual) == statuses
    assert {check.invalidates for check in actual} == {"latency"}
    assert actual[2].value == pytest.approx(count / 100)


@pytest.mark.parametrize(
    ("count", "longer"),
    [
        (2_500, "load 4 times as long, for"),
        (9_800, "load 1.1 times as long, for"),
        (1_999, "load 5.1 times as long, for"),
        (800, "load 13 times as long, for"),
        (0, "it takes"),
    ],
)
def test_s2_says_how_much_longer_to_load(count: int, longer: str) -> None:
    check = asked(trial(reading=of(count)), "S2", "p99")
    assert check.message.endswith(f" are beyond p99; {longer} 10000")


def test_s2_counts_what_was_given_up_or_under_way() -> None:
    more = of(9_900, censored=60, in_flight=Histogram.of({100: 40}))
    assert asked(trial(reading=more), "S2", "p99").value == 100
    actual = reading(latency=None, percentiles_us={"50": 1, "99": 2}, latency_samples=5_000)
    assert asked(trial(reading=actual), "S2", "p99").value == 50


def test_s2_is_unknown_of_a_tool_that_does_not_tell() -> None:
    (of_trial,) = percentiles.samples(trial(reading=reading(latency=None)), LIMITS)
    assert (of_trial.id, of_trial.status, of_trial.value) == ("S2", "unknown", None)


@given(st.integers(0, 200_000), st.integers(0, 200_000))
def test_s2_is_never_worse_with_more_responses(item: int, other: int) -> None:
    less, more = sorted((item, other))
    actual = [asked(trial(reading=of(count)), "S2", "p99") for count in (less, more)]
    assert at_least_as_bad(actual[0], actual[1])


@given(st.integers(0, 200_000), st.sampled_from(PERCENTS))
def test_s2_says_what_the_metric_says(count: int, percent: int) -> None:
    item = trial(reading=of(count))
    sole = only(percentiles.samples(item, LIMITS), "S2", f"p{percent}")
    (sample,) = Latency(percentile=percent).of_trial(item, "latency", WHOLE)
    assert sole.status == ("fail" if sample.value is None else "warn" if sample.why else "pass")


# What somebody asks


def of_metrics(**metrics: Metric) -> tuple[Header, dict[str, Metric]]:
    uses = [
        MetricUse(label=label, use=metric.name, options={}, unit=metric.unit, better=metric.better)
        for label, metric in metrics.items()
    ]
    return header().model_copy(update={"metrics": tuple(uses)}), metrics


MEDIAN = Latency(percentile=50)
TAIL = Latency(percentiles=(50, 99.9), mean=False)


class Silent(Throughput):
    """A metric of a plugin that does not list its parts."""

    def parts(self) -> tuple[str | None, ...]:
        return ()


def test_s2_e2_and_o1_judge_a_suite_of_medians_by_medians() -> None:
    asks = of_scenario(*of_metrics(throughput=Throughput(), errors=Errors(), latency=MEDIAN), "s")
    assert asks == Percentiles(frozenset({50}), mean=False)
    # As a quick run of the suite macro: 112 responses, the last request under way.
    few = trial(reading=of(112), load=Load(connections=1, concurrency=1, keep_alive=True))
    judged = [check for check in ask.of_trial(few, LIMITS, asks) if check.id in {"S2", "E2", "O1"}]
    statuses = {(item.id, item.component, item.status) for item in judged}
    assert statuses == {("S2", "p50", "warn"), ("E2", "p50", "pass")}


@pytest.mark.parametrize(
    ("metrics", "output", "mean"),
    [
        ({"throughput": Throughput()}, set(), False),
        ({"latency": MEDIAN, "added": TAIL}, {50, 99.9}, False),
        ({"latency": Latency()}, {50, 90, 99}, True),
        ({"latency": Latency(percentiles=(), mean=True)}, set(), True),
        ({"latency": MEDIAN, "silent": Silent()}, {50, 90, 99}, True),
    ],
)
def test_percentiles_named(metrics: dict[str, Metric], output: set[float], *, mean: bool) -> None:
    assert of_scenario(*of_metrics(**metrics), "s") == Percentiles(frozenset(output), mean)


def test_s2_e2_and_o1_judge_an_asked_percentile_of_any_height() -> None:
    asks = of_scenario(*of_metrics(tail=TAIL), "s")
    checks = ask.of_trial(trial(reading=of(50_000)), LIMITS, asks)
    assert only(checks, "S2", "p99.9").status == "warn"
    assert only(checks, "S2", "p50").status == "pass"
    assert only(checks, "E2").component == "p99.9"
    assert only(checks, "O1").status == "pass"


def test_e2_and_o1_judge_a_mean_by_its_tail() -> None:
    checks = ask.of_trial(trial(reading=of(50_000)), LIMITS, Percentiles(frozenset(), mean=True))
    assert {check.id for check in checks} >= {"E2", "O1"}
    assert "S2" not in {check.id for check in checks}


def test_a_scenario_with_metrics_of_its_own_and_an_objective() -> None:
    head, metrics = of_metrics(throughput=Throughput(), latency=MEDIAN, tail=TAIL)
    head = head.model_copy(update={"scenario_metrics": {"s": ("throughput",)}})
    assert not of_scenario(head, metrics, "s").shown
    assert of_scenario(head, metrics, "another").shown == {50, 99.9}
    objective = Objective(text="tail p99.9 < 1s", metric="tail", of="p99.9", relation="<", bound=1)
    search = RateSearch(lowest=1, highest=9, steps=3, objectives=(objective,))
    head = head.model_copy(update={"searches": {"s": search}})
    assert of_scenario(head, metrics, "s").shown == {50, 99.9}
