"""S2: whether there are enough responses for a percentile."""

import pytest
from benchforge_metrics.latency import Latency
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import LIMITS, asked, at_least_as_bad, only, reading, trial

from benchforge.checks.load_tool import samples
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.window import WHOLE

PERCENTS = (50, 90, 99)


def of(count: int, **changed: object) -> Reading:
    return reading(responses=count, latency=Histogram.of({1000: count}), **changed)


@pytest.mark.parametrize(
    ("count", "statuses"),
    [
        (10_000, ("pass", "pass", "pass")),
        (9_999, ("pass", "pass", "warn")),
        (1_000, ("pass", "pass", "warn")),
        (999, ("pass", "warn", "fail")),
        (99, ("warn", "fail", "fail")),
        (19, ("fail", "fail", "fail")),
        (0, ("fail", "fail", "fail")),
    ],
)
def test_a_percentile_needs_a_hundred_beyond_it(count: int, statuses: tuple[str, ...]) -> None:
    found = [asked(trial(reading=of(count)), "S2", f"p{percent}") for percent in PERCENTS]
    assert tuple(check.status for check in found) == statuses
    assert {check.invalidates for check in found} == {"latency"}
    assert found[2].value == pytest.approx(count / 100)


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
def test_it_says_how_much_longer(count: int, longer: str) -> None:
    found = asked(trial(reading=of(count)), "S2", "p99")
    assert found.message.endswith(f" are beyond p99; {longer} 10000")


def test_what_was_given_up_or_under_way_counts() -> None:
    more = of(9_900, censored=60, in_flight=Histogram.of({100: 40}))
    assert asked(trial(reading=more), "S2", "p99").value == 100
    told = reading(latency=None, percentiles_us={"50": 1, "99": 2}, latency_samples=5_000)
    assert asked(trial(reading=told), "S2", "p99").value == 50


def test_a_tool_that_does_not_tell_leaves_it_unknown() -> None:
    (found,) = samples.of_trial(trial(reading=reading(latency=None)), LIMITS)
    assert (found.id, found.status, found.value) == ("S2", "unknown", None)


@given(st.integers(0, 200_000), st.integers(0, 200_000))
def test_more_responses_are_never_worse(one: int, other: int) -> None:
    less, more = sorted((one, other))
    found = [asked(trial(reading=of(count)), "S2", "p99") for count in (less, more)]
    assert at_least_as_bad(found[0], found[1])


@given(st.integers(0, 200_000), st.sampled_from(PERCENTS))
def test_it_says_what_the_metric_says(count: int, percent: int) -> None:
    one = trial(reading=of(count))
    found = only(samples.of_trial(one, LIMITS), "S2", f"p{percent}")
    (sample,) = Latency(percentile=percent).of_trial(one, "latency", WHOLE)
    said = "fail" if sample.value is None else "warn" if sample.why else "pass"
    assert found.status == said
