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
from benchforge.plugin import Histogram, Metric, Reading, Sample, Trial, Usage

EVERY = (
    *(Throughput, Errors, ErrorRate, Latency, Cpu, Memory, Transfer, KeepAlive),
    *(ProcessTime, RateMetric, Lateness),
)


def reading(**changed: Any) -> Reading:
    errors = {"status": 10, "read": 5, "timeout": 0}
    fields = {"seconds": 10, "responses": 1000, "unanswered": 5, "received_bytes": 50_000}
    return plain.reading(990, **{"errors": errors} | fields | changed)


def usage(**changed: Any) -> Usage:
    fields: dict[str, Any] = {"cpu_s": 9.9, "peak_pss_bytes": 1000, "pss_samples": 40}
    return plain.usage(**{"label": "django"} | fields | changed)


def observation(*usages: Usage, **changed: Any) -> Observation:
    fields = {"seconds": 10.5, "sampler_cpu_s": 0.01, "counters": {"TcpPassiveOpens": 51}}
    return plain.observation(*usages, **fields | changed)


def trial(reading: Reading | None, observation: Observation | None = None) -> Trial:
    return plain.trial(reading=reading, observation=observation)


def samples(
    metric: Metric, reading: Reading | None, observation: Observation | None = None
) -> dict[str | None, Sample]:
    items = list(metric.of_trial(trial(reading, observation), "label", WHOLE))
    assert {(sample.metric, sample.unit) for sample in items} <= {("label", metric.unit)}
    return {sample.of: sample for sample in items}


def only(metric: Metric, reading: Reading | None, observation: Observation | None = None) -> Sample:
    (actual,) = samples(metric, reading, observation).values()
    return actual


IN_DOUBT = {"good_at_least": 3, "good_at_most": 7, "doubt": "classes overlap"}


@pytest.mark.parametrize("metric", EVERY)
def test_a_trial_without_a_reading_gives_no_number(metric: type[Metric]) -> None:
    actual = metric().of_trial(trial(None), "label", WHOLE)
    assert all(sample.value is None for sample in actual)


def test_throughput_counts_good_responses() -> None:
    assert only(Throughput(), reading()).value == 99
    assert only(Throughput(count="all"), reading()).value == 100


def test_throughput_in_doubt_is_unknown_with_its_bounds() -> None:
    sole = only(Throughput(), reading(**IN_DOUBT))
    assert sole.value is None
    assert sole.why == "between 3 and 7 good responses: classes overlap"
    assert only(Throughput(count="all"), reading(**IN_DOUBT)).value == 100


def test_errors_are_a_total_and_the_classes_of_the_tool() -> None:
    actual = samples(Errors(), reading())
    assert list(actual) == [None, "status", "read", "timeout"]
    assert [sample.value for sample in actual.values()] == [15, 10, 5, 0]
    assert only(ErrorRate(), reading()).value == 15 / 1005


def test_errors_that_overlap_are_shown_and_never_added() -> None:
    actual = samples(Errors(), reading(**IN_DOUBT, overlapping_errors=True))
    assert actual[None].value is None
    assert "between 3 and 7" in actual[None].why
    assert actual["status"].value == 10
    assert only(ErrorRate(), reading(**IN_DOUBT)).value is None


def test_errors_of_a_tool_that_hides_lost_requests_are_unknown() -> None:
    actual = samples(Errors(), reading(unanswered=None))[None]
    assert actual.value is None
    assert "got no response" in actual.why
    nothing = reading(responses=0, good_at_least=0, good_at_most=0, unanswered=0)
    assert only(ErrorRate(), nothing).why == "no request ended"


LATENCY = Histogram.of({1000: 9000, 2000: 900, 5000: 100})


def test_latency_is_mean_and_percentiles_in_seconds() -> None:
    actual = samples(Latency(), reading(latency=LATENCY))
    assert list(actual) == ["mean", "p50", "p90", "p99"]
    assert [sample.value for sample in actual.values()] == [0.00113, 0.001, 0.001, 0.002]
    assert actual["p99"].estimator == "type-1 quantile of the histogram of every response"
    assert not any(sample.why or sample.lower_bound for sample in actual.values())


def test_one_percentile_is_one_sample() -> None:
    sole = only(Latency(percentile=99.9), reading(latency=LATENCY))
    assert (sole.of, sole.value) == ("p99.9", 0.005)
    assert sole.why == "imprecise with 10000 responses: 100000 are enough"
    assert list(samples(Latency(mean=False), reading(latency=LATENCY))) == ["p50", "p90", "p99"]
    with pytest.raises(ValidationError, match="stands alone"):
        Latency(percentile=50, mean=False)
    with pytest.raises(ValidationError):
        Latency(percentile=100)


def test_too_few_responses_give_no_percentile() -> None:
    actual = samples(Latency(), reading(latency=Histogram.of({1000: 500})))
    assert actual["p50"].why == ""
    assert actual["p90"].why == "imprecise with 500 responses: 1000 are enough"
    assert actual["p99"].value is None
    assert actual["p99"].why == "only 500 responses: p99 needs 1000"


def test_requests_beyond_the_timeout_are_a_lower_bound() -> None:
    late = {"latency": Histogram.of({1000: 9800}), "censored": 200, "censored_from_us": 2_000_000}
    actual = samples(Latency(), reading(**late))
    assert (actual["p99"].value, actual["p99"].lower_bound) == (2, True)
    assert (actual["p90"].value, actual["p90"].lower_bound) == (0.001, False)
    assert actual["mean"].value == (9800 * 0.001 + 200 * 2) / 10_000
    assert actual["mean"].lower_bound
    unknown = samples(Latency(), reading(**late | {"censored_from_us": None}))
    assert {unknown["p99"].why, unknown["mean"].why} == {
        "200 requests took longer than the tool records"
    }


def test_percentiles_of_the_tool_are_taken_as_they_are() -> None:
    options = {"percentiles_by": "ab -e: steps of 1 %", "latency_samples": 20_000}
    options |= {"percentiles_us": {"50": 1500, "90": 2500, "99": 9000}}
    actual = samples(Latency(), reading(**options))
    assert [actual[subject].value for subject in ("p50", "p90", "p99")] == [0.0015, 0.0025, 0.009]
    assert actual["p50"].estimator == "ab -e: steps of 1 %"
    assert actual["mean"].why == "the tool gives no mean of its response times"
    assert samples(Latency(), reading(**options, mean_us=1700))["mean"].value == 0.0017
    finer = only(Latency(percentile=99.9), reading(**options))
    assert finer.why == "the tool gives no p99.9 (ab -e: steps of 1 %)"
    few = only(Latency(percentile=99), reading(**options | {"latency_samples": 999}))
    assert few.why == "only 999 responses: p99 needs 1000"


def test_without_any_response_time_latency_is_unknown() -> None:
    for nothing in (reading(), reading(latency=Histogram.of({}))):
        assert all(sample.value is None for sample in samples(Latency(), nothing).values())


def test_cpu_is_seconds_for_a_good_response_by_role() -> None:
    observed = observation(
        usage(),
        usage(label="proxy", cpu_s=0.99),
        usage(label="wrk", role="loader", cpu_s=None, why="it had gone"),
    )
    actual = samples(Cpu(), reading(), observed)
    assert list(actual) == ["server", "loader"]
    assert actual["server"].value == pytest.approx(0.011)
    assert actual["loader"].why == "it had gone"
    assert list(samples(Cpu(of=("loader",)), reading(), observed)) == ["loader"]


def test_cpu_without_good_responses_or_observation_is_unknown() -> None:
    nothing = reading(good_at_least=0, good_at_most=0)
    assert only(Cpu(), nothing, observation(usage())).why == "no good response"
    assert only(Cpu(), reading(**IN_DOUBT), observation(usage())).why.startswith("between 3")
    missing = only(Cpu(), reading(), observation(usage(cpu_s=None)))
    assert missing.why == "its CPU time was not measured"
    assert {sample.why for sample in samples(Cpu(), reading()).values()} == {"nothing was observed"}


def test_memory_is_the_largest_that_was_seen() -> None:
    observed = observation(usage(), usage(label="proxy", peak_pss_bytes=500, pss_samples=38))
    sole = only(Memory(), reading(), observed)
    assert (sole.of, sole.value, sole.estimator) == ("server", 1500, "largest of 38 samples")
    missing = only(Memory(), reading(), observation(usage(peak_pss_bytes=None, why="no access")))
    assert (missing.value, missing.why) == (None, "no access")


def test_transfer_is_bytes_a_second() -> None:
    assert only(Transfer(), reading()).value == 5000
    assert only(Transfer(), reading(received_bytes=None)).value is None


def test_keepalive_is_responses_a_connection() -> None:
    assert only(KeepAlive(), reading()).why == "nothing was observed"
    sole = only(KeepAlive(), reading(connections=500), observation())
    assert (sole.value, sole.estimator) == (2, "connections as the tool tells")
    counted = only(KeepAlive(), reading(test_connections=1), observation())
    assert counted.value == 20
    assert counted.estimator == "connections from the network's counter TcpPassiveOpens"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"network": "host"}, "shared the machine's network"),
        ({"foreign_connections": "PostgreSQL listens on TCP"}, "PostgreSQL listens on TCP"),
        ({"counters": {}}, "was not read"),
        ({"counters": {"TcpPassiveOpens": 0}}, "no connection was opened"),
    ],
)
def test_keepalive_that_cannot_be_counted_is_unknown(changed: dict[str, Any], reason: str) -> None:
    sole = only(KeepAlive(), reading(), observation(**changed))
    assert sole.value is None
    assert reason in sole.why


def test_processes_are_summed_up_and_what_was_not_timed_is_unknown() -> None:
    timed = {"process_s": (0.5, 0.7, 0.6), "process_user_s": 0.4}
    actual = samples(ProcessTime(), reading(**timed))
    values = {subject: sample.value for subject, sample in actual.items()}
    assert values == pytest.approx({
        "mean": 0.6, "sd": 0.1, "min": 0.5, "max": 0.7, "user": 0.4, "system": None
    })  # fmt: skip
    assert actual["mean"].estimator == "of 3 runs"
    assert actual["system"].why == "3 timed processes tell no system"
    assert samples(ProcessTime(), reading(process_s=(0.5,)))["sd"].value is None
    assert {sample.value for sample in samples(ProcessTime(), reading()).values()} == {None}


def test_a_rate_that_is_not_kept_is_told() -> None:
    late = {"counts": {10: 90, 900: 10}, "sum_us": 9900, "max_us": 900}
    nothing = {"counts": {}, "sum_us": 0, "max_us": 0}
    stored = {"rate": 100, "intended": 1000, "sent": 1000, "lateness": late, "queueing": nothing}
    rates = samples(RateMetric(), reading(schedule=stored))
    values = {subject: rate.value for subject, rate in rates.items()}
    assert values == {"due": 100, "sent": 100, "answered": 100}
    assert {value.why for value in rates.values()} == {""}
    actual = samples(Lateness(), reading(schedule=stored))
    late_s = {subject: item.value for subject, item in actual.items()}
    assert late_s == {"p99": 0.0009, "max": 0.0009, "waited p99": 0, "waited max": 0}
    missed = samples(RateMetric(), reading(schedule=stored | {"sent": 800}))
    assert missed["sent"].why == "200 of 1000 requests that were due were never sent"
    untold = samples(RateMetric(), reading(schedule={"rate": 100}))
    assert [untold[subject].value for subject in ("due", "sent", "answered")] == [None, None, 100]
    assert samples(RateMetric(), reading()) == samples(Lateness(), reading()) == {}
