"""What each metric draws from a trial, and what it says when it cannot know."""

from typing import Any

import pytest
from benchforge_metrics.cpu import Cpu
from benchforge_metrics.errors import ErrorRate, Errors
from benchforge_metrics.keepalive import KeepAlive
from benchforge_metrics.latency import Latency
from benchforge_metrics.memory import Memory
from benchforge_metrics.schedule import Lateness, RateMetric
from benchforge_metrics.throughput import Throughput
from benchforge_metrics.times import ProcessTime
from benchforge_metrics.transfer import Transfer
from made import plain
from pydantic import ValidationError

from benchforge.model.trial.observation import Observation
from benchforge.model.trial.window import WHOLE
from benchforge.plugin import Histogram, Metric, Sample, Usage

EVERY = (
    *(Throughput, Errors, ErrorRate, Latency, Cpu, Memory, Transfer, KeepAlive),
    *(ProcessTime, RateMetric, Lateness),
)


def usage(**changed: Any) -> Usage:
    fields: dict[str, Any] = {"cpu_s": 9.9, "peak_pss_bytes": 1000, "pss_samples": 40}
    return plain.usage(**{"label": "django"} | fields | changed)


def observation(*usages: Usage, **changed: Any) -> Observation:
    fields = {"seconds": 10.5, "sampler_cpu_s": 0.01, "counters": {"TcpPassiveOpens": 51}}
    return plain.observation(*usages, **fields | changed)


def samples(
    metric: Metric, observed: Observation | None = None, /, **changed: Any
) -> dict[str | None, Sample]:
    """Return what a metric draws of a reading of ten seconds, by its part."""
    errors = {"status": 10, "read": 5, "timeout": 0}
    fields = {"seconds": 10, "responses": 1000, "unanswered": 5, "received_bytes": 50_000}
    reading = plain.reading(990, **{"errors": errors} | fields | changed)
    trial = plain.trial(reading=reading, observation=observed)
    items = list(metric.of_trial(trial, "label", WHOLE))
    assert {(sample.metric, sample.unit) for sample in items} <= {("label", metric.unit)}
    return {sample.of: sample for sample in items}


@pytest.mark.parametrize("metric", EVERY)
def test_a_trial_without_a_reading_gives_no_number(metric: type[Metric]) -> None:
    actual = metric().of_trial(plain.trial(), "label", WHOLE)
    assert all(sample.value is None for sample in actual)


Numbers = dict[str | None, Any]
"By part: a number, the reason why there is none, or both of a number that is imprecise."
IN_DOUBT = {"good_at_least": 3, "good_at_most": 7, "doubt": "classes overlap"}
BETWEEN = "between 3 and 7 good responses: classes overlap"
NOTHING = {"good_at_least": 0, "good_at_most": 0}
CLASSES: Numbers = {"status": 10, "read": 5, "timeout": 0}
FAST = {"latency": Histogram.of({1000: 9000, 2000: 900, 5000: 100})}
LATE = {"latency": Histogram.of({1000: 9800}), "censored": 200, "censored_from_us": 2_000_000}
LONGER = "200 requests took longer than the tool records"
FEW = "only 500 responses: p99 needs 1000"
PRINTED: dict[str, Any] = {"percentiles_by": "ab -e: steps of 1 %", "latency_samples": 20_000}
PRINTED |= {"percentiles_us": {"50": 1500, "90": 2500, "99": 9000}}
STEPS: Numbers = {"p50": 0.0015, "p90": 0.0025, "p99": 0.009}
LOADER = usage(label="wrk", role="loader", cpu_s=None, why="it had gone")
PROXY = usage(label="proxy", cpu_s=0.99, peak_pss_bytes=500, pss_samples=38)
SHARED = "shared the machine's network"
TIMED = {"process_s": (0.5, 0.7, 0.6), "process_user_s": 0.4}
UNTIMED = "3 timed processes tell no system"
SCHEDULE: dict[str, Any] = {"rate": 100, "intended": 1000, "sent": 1000}
SCHEDULE |= {"lateness": {"counts": {10: 90, 900: 10}, "sum_us": 9900, "max_us": 900}}
SCHEDULE |= {"queueing": {"counts": {}, "sum_us": 0, "max_us": 0}}
MISSED = "200 of 1000 requests that were due were never sent"
WAITED: Numbers = {"p99": 0.0009, "max": 0.0009, "waited p99": 0, "waited max": 0}


@pytest.mark.parametrize(
    ("metric", "changed", "observed", "expected"),
    [
        (Throughput(), {}, None, {None: 99}),
        (Throughput(count="all"), {}, None, {None: 100}),
        (Throughput(), IN_DOUBT, None, {None: BETWEEN}),
        (Throughput(count="all"), IN_DOUBT, None, {None: 100}),
        (Errors(), {}, None, {None: 15, **CLASSES}),
        (Errors(), {**IN_DOUBT, "overlapping_errors": True}, None, {None: BETWEEN, **CLASSES}),
        (Errors(), {"unanswered": None}, None, {None: "got no response", **CLASSES}),
        (ErrorRate(), {}, None, {None: 15 / 1005}),
        (ErrorRate(), IN_DOUBT, None, {None: BETWEEN}),
        (ErrorRate(), {**NOTHING, "responses": 0, "unanswered": 0}, None, {None: "no request"}),
        (Latency(), FAST, None, {"mean": 0.00113, "p50": 0.001, "p90": 0.001, "p99": 0.002}),
        (Latency(mean=False), FAST, None, {"p50": 0.001, "p90": 0.001, "p99": 0.002}),
        (Latency(percentile=99.9), FAST, None, {"p99.9": (0.005, "10000 responses: 100000 are")}),
        (
            *(Latency(mean=False), {"latency": Histogram.of({1000: 500})}, None),
            {"p50": 0.001, "p90": (0.001, "imprecise with 500 responses: 1000"), "p99": FEW},
        ),
        (Latency(), LATE, None, {"mean": 0.04098, "p50": 0.001, "p90": 0.001, "p99": 2}),
        (
            *(Latency(), {**LATE, "censored_from_us": None}, None),
            {"mean": LONGER, "p50": 0.001, "p90": 0.001, "p99": LONGER},
        ),
        (Latency(), PRINTED, None, {"mean": "the tool gives no mean of", **STEPS}),
        (Latency(), {**PRINTED, "mean_us": 1700}, None, {"mean": 0.0017, **STEPS}),
        (
            Latency(percentile=99.9),
            PRINTED,
            None,
            {"p99.9": "gives no p99.9 (ab -e: steps of 1 %)"},
        ),
        (Latency(percentile=99), {**PRINTED, "latency_samples": 500}, None, {"p99": FEW}),
        (Latency(percentile=99), {}, None, {"p99": ""}),
        (Latency(percentile=99), {"latency": Histogram.of({})}, None, {"p99": ""}),
        (Cpu(), {}, observation(usage(), PROXY, LOADER), {"server": 0.011, "loader": "it had"}),
        (Cpu(of=("loader",)), {}, observation(usage(), LOADER), {"loader": "it had gone"}),
        (Cpu(), NOTHING, observation(usage()), {"server": "no good response"}),
        (Cpu(), IN_DOUBT, observation(usage()), {"server": "between 3"}),
        (Cpu(), {}, observation(usage(cpu_s=None)), {"server": "CPU time was not measured"}),
        (Cpu(of=("server",)), {}, None, {"server": "nothing was observed"}),
        (Memory(), {}, observation(usage(), PROXY), {"server": 1500}),
        (
            *(Memory(), {}, observation(usage(peak_pss_bytes=None, why="no access"))),
            {"server": "no access"},
        ),
        (Transfer(), {}, None, {None: 5000}),
        (Transfer(), {"received_bytes": None}, None, {None: ""}),
        (KeepAlive(), {}, None, {None: "nothing was observed"}),
        (KeepAlive(), {"connections": 500}, observation(), {None: 2}),
        (KeepAlive(), {"test_connections": 1}, observation(), {None: 20}),
        (KeepAlive(), {}, observation(network="host"), {None: SHARED}),
        (KeepAlive(), {}, observation(foreign_connections="it listens"), {None: "it listens"}),
        (KeepAlive(), {}, observation(counters={}), {None: "was not read"}),
        (KeepAlive(), {}, observation(counters={"TcpPassiveOpens": 0}), {None: "no connection"}),
        (
            *(ProcessTime(), TIMED, None),
            {"mean": 0.6, "sd": 0.1, "min": 0.5, "max": 0.7, "user": 0.4, "system": UNTIMED},
        ),
        (RateMetric(), {"schedule": SCHEDULE}, None, {"due": 100, "sent": 100, "answered": 100}),
        (
            *(RateMetric(), {"schedule": {**SCHEDULE, "sent": 800}}, None),
            {"due": 100, "sent": (80, MISSED), "answered": 100},
        ),
        (
            *(RateMetric(), {"schedule": {"rate": 100}}, None),
            {"due": "", "sent": "", "answered": 100},
        ),
        (RateMetric(), {}, None, {}),
        (Lateness(), {"schedule": SCHEDULE}, None, WAITED),
        (Lateness(), {}, None, {}),
    ],
)
def test_a_number_or_why_there_is_none(
    metric: Metric, changed: dict[str, Any], observed: Observation | None, expected: Numbers
) -> None:
    actual = samples(metric, observed, **changed)
    assert list(actual) == list(expected)
    for part, sample in actual.items():
        pair = expected[part]
        value, reason = pair if isinstance(pair, tuple) else (pair, "")
        if isinstance(value, str):
            assert (sample.value, value in sample.why) == (None, True), sample.why
        else:
            assert sample.value == pytest.approx(value)
            assert (reason in sample.why, bool(sample.why)) == (True, bool(reason)), sample.why


def test_a_value_says_how_it_was_formed() -> None:
    by_tool, few = samples(Latency(), **PRINTED), samples(ProcessTime(), process_s=(0.5,))
    assert by_tool["p50"].estimator == "ab -e: steps of 1 %"
    by_histogram = samples(Latency(), **FAST)["p99"].estimator
    assert by_histogram == "type-1 quantile of the histogram of every response"
    largest = samples(Memory(), observation(usage(), PROXY))["server"]
    assert largest.estimator == "largest of 38 samples"
    assert samples(ProcessTime(), **TIMED)["mean"].estimator == "of 3 runs"
    assert few["sd"].value is None
    assert {sample.value for sample in samples(ProcessTime()).values()} == {None}
    (opened,) = samples(KeepAlive(), observation(), connections=500).values()
    assert opened.estimator == "connections as the tool tells"
    (counted,) = samples(KeepAlive(), observation(), test_connections=1).values()
    assert counted.estimator == "connections from the network's counter TcpPassiveOpens"


def test_requests_beyond_the_timeout_are_a_lower_bound() -> None:
    bounds = {part for part, sample in samples(Latency(), **LATE).items() if sample.lower_bound}
    assert bounds == {"mean", "p99"}
    assert not any(sample.lower_bound for sample in samples(Latency(), **FAST).values())


def test_percentiles_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(ValidationError, match="stands alone"):
        Latency(percentile=50, mean=False)
    with pytest.raises(ValidationError):
        Latency(percentile=100)
