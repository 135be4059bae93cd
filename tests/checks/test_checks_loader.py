"""Checks of the load tool: its CPU, its arithmetic, its schedule, its waiting."""

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import (
    APART,
    LIMITS,
    asked,
    at_least_as_bad,
    ids,
    machine,
    parts,
    reading,
    trial,
    usage,
)
from present import present
from recorded.tools import recorded

from benchforge.checks import ask
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading, Schedule
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.model.trial.trial import Load
from benchforge.parts.part import Driver
from benchforge.parts.registry import Registry

OWN = {"L1", "L3", "L4", "L5", "P1", "P2", "N1", "N2", "N3", "N4", "N5", "F1", "F2"} | {
    *("M1", "M2", "M3", "T2", "O1", "O2", "S2")
}


def closed(label: Reading, connections: int = 16) -> dict[str, object]:
    return {"reading": label, "load": Load(connections=connections, concurrency=connections)}


# A healthy trial


def test_a_healthy_trial_fires_none() -> None:
    actual = [check for check in ask.of_trial(trial(), LIMITS) if check.id in OWN]
    assert {check.status for check in actual} == {"pass"}, actual
    assert {check.id for check in actual} == OWN - {"L4", "O2"}
    assert all(check.message and check.source for check in actual)
    assert all(check.value is not None and check.threshold for check in actual)


def test_a_trial_that_nobody_observed_passes_nothing_but_its_reading() -> None:
    actual = [c for c in ask.of_trial(trial(observation=None), LIMITS) if c.id in OWN]
    assert {check.id for check in actual if check.status == "pass"} == {"L3", "O1", "S2"}
    assert {check.status for check in actual} == {"pass", "unknown"}
    assert all(check.message for check in actual)


# L1


def test_a_tool_that_never_sleeps_is_not_judged_by_its_cpu() -> None:
    hot = parts(loader={"busiest_thread_cpu_s": 9.9})
    assert asked(trial(parts=hot), "L1").status == "fail"
    restless = Load(connections=16, concurrency=16, sleeps=False)
    check = asked(trial(parts=hot, load=restless), "L1")
    assert (check.status, check.value) == ("unknown", None)
    assert "also while it waits" in check.message


@pytest.mark.parametrize(
    ("hottest", "status"), [(0.79, "pass"), (0.80, "warn"), (0.94, "warn"), (0.95, "fail")]
)
def test_the_hottest_thread_says_whether_the_tool_had_cpu(hottest: float, status: str) -> None:
    check = asked(trial(parts=parts(loader={"busiest_thread_cpu_s": hottest * 10})), "L1")
    assert (check.status, check.value, check.subject) == (status, hottest, "apparatus")
    assert ("more threads" in check.message) == (status != "pass")


def test_a_quota_is_the_whole_of_what_a_thread_may_use() -> None:
    held = {"busiest_thread_cpu_s": 1.17, "quota_cpus": 0.12, "throttled": 90}
    check = asked(trial(parts=parts(loader=held)), "L1")
    assert (check.status, check.value) == ("fail", 0.975)
    assert "used 97.5 % of the 0.12 CPUs of its quota" in check.message


def test_the_hottest_of_several_processes_counts() -> None:
    hottest = {"locust": 0.2, "locust-1": 9.8}
    tools = [usage(name, "loader", busiest_thread_cpu_s=used) for name, used in hottest.items()]
    check = asked(trial(parts=tools), "L1")
    assert (check.status, check.component) == ("fail", "locust-1")
    assert check.message.startswith("the hottest thread of locust-1 used 98 % of a CPU: ")


def test_one_process_that_is_not_known_makes_it_unknown_unless_another_fails() -> None:
    hidden = usage("locust-1", "loader", busiest_thread_cpu_s=None, why="it ended before")
    check = asked(trial(parts=(usage("locust", "loader"), hidden)), "L1")
    assert (check.status, check.value) == ("unknown", None)
    assert check.message.endswith("locust-1 is not known: it ended before")
    hot = usage("locust", "loader", busiest_thread_cpu_s=9.9)
    assert asked(trial(parts=(hot, hidden)), "L1").status == "fail"


def test_a_tool_of_one_thread_is_known_by_its_process() -> None:
    loader = {"busiest_thread_cpu_s": None, "cpu_s": 9.6}
    load = Load(connections=16, concurrency=16, processes=1)
    assert asked(trial(parts=parts(loader=loader), load=load), "L1").status == "fail"
    assert asked(trial(parts=parts(loader=loader)), "L1").status == "unknown"


def test_a_client_is_measured_and_not_doubted() -> None:
    busy = parts(loader={"busiest_thread_cpu_s": 10.0})
    assert not ids(trial(parts=busy, load=Load(kind="client"))) & {"L1", "L3", "O1"}
    assert not ids(trial(parts=busy, reading=reading(process_s=(0.1,)))) & {"L1", "L3", "O1"}


# L3: 16 connections; the rate times the mean is what it calls N


@pytest.mark.parametrize(
    ("name", "mean_us", "under_way", "status"),
    [
        ("fast, as wrk prints", 316, 14.7, "pass"),
        ("fast, as it was", 288, 13.4, "warn"),
        ("stalls, as wrk prints", 14_100, 498, "fail"),
        ("stalls, as it was", 395, 13.9, "warn"),
        ("sleepers, as wrk prints", 29_900, 47, "fail"),
        ("sleepers, as it was", 10_100, 15.95, "pass"),
    ],
)
def test_too_many_in_flight(name: str, mean_us: float, under_way: float, status: str) -> None:
    responses = round(under_way / mean_us * 1e7)
    subject = reading(responses=responses, latency=None, mean_us=mean_us, latency_samples=responses)
    check = asked(trial(**closed(subject)), "L3")
    assert check.status == status, name
    assert check.value == pytest.approx(under_way / 16, rel=1e-3)
    assert check.subject == "apparatus"
    number = float(check.message.partition(" requests were under way")[0])
    assert number == pytest.approx(under_way, abs=0.06)


@pytest.mark.parametrize("tool", ["wrk", "h2load", "locust", "oha", "hey", "weighttp"])
def test_no_healthy_recording_is_synthetic(tool: str) -> None:
    recording, load = recorded(tool, {"weighttp": "0.5-healthy"}.get(tool, "healthy"))
    check = asked(trial(reading=recording, load=load), "L3")
    assert check.status in {"pass", "warn"}
    assert 0.3 < present(check.value) <= 1.02


def test_what_wrk_prints_of_a_server_that_stalls_is_synthetic() -> None:
    recording, load = recorded("wrk", "stalls")
    assert asked(trial(reading=recording, load=load), "L3").status in {"pass", "warn"}
    update = {"latency": None, "mean_us": recording.printed["latency_mean_us"]}
    printed = recording.model_copy(update=update)
    assert asked(trial(reading=printed, load=load), "L3").status == "fail"


def test_requests_beyond_the_timeout_were_under_way_too() -> None:
    latency = Histogram.of({1000: 100_000})  # of 16 connections for 10 s; 60 s of 160 are late
    late = reading(responses=100_060, latency=latency, censored=60, censored_from_us=1_000_000)
    check = asked(trial(**closed(late)), "L3")
    assert (check.status, check.value) == ("pass", 1.0)
    unknown = late.model_copy(update={"censored_from_us": None})
    assert asked(trial(**closed(unknown)), "L3").status == "unknown"


def test_requests_of_which_only_a_time_out_is_known_may_explain_an_idle_loop() -> None:
    # A server stood still for 4 of 8 s: each of 16 requests took 4 s, and is known to take 2.
    late = {"censored": 16, "censored_from_us": 2_000_000, "latency": Histogram.of({3200: 20_000})}
    stood = reading(seconds=8, responses=20_016, **late)
    check = asked(trial(**closed(stood)), "L3")
    assert (check.status, check.value) == ("unknown", None)
    assert "16 requests took longer than it records: whether it was idle" in check.message
    few = stood.model_copy(update={"censored": 4})  # not even with all of 8 s
    assert asked(trial(**closed(few)), "L3").status == "warn"


def test_lost_requests_may_explain_an_idle_loop() -> None:
    few = {"latency": Histogram.of({1000: 1000}), "responses": 1000}
    assert asked(trial(**closed(reading(**few))), "L3").status == "warn"
    for lost in (3, None):
        assert asked(trial(**closed(reading(**few, unanswered=lost))), "L3").status == "unknown"


def test_a_short_load_of_long_requests_is_not_idle() -> None:
    # 10 connections for 3 s, requests of 0.8 s: three ended on each, and one was under way.
    subject = reading(seconds=3, responses=30, latency=Histogram.of({800_000: 30}))
    assert asked(trial(**closed(subject, 10)), "L3").status == "pass"
    actual = subject.model_copy(update={"in_flight": Histogram.of({600_000: 10})})
    assert asked(trial(**closed(actual, 10)), "L3").value == pytest.approx(1.0)


def test_thinking_is_no_idleness() -> None:
    subject = reading(responses=16_000, latency=Histogram.of({1000: 16_000}))
    thinks = Load(connections=16, concurrency=16, think_s=0.009)
    assert asked(trial(reading=subject, load=thinks), "L3").status == "pass"
    assert asked(trial(**closed(subject)), "L3").status == "warn"


def flow(think_s: float | None, paid: int) -> dict[str, object]:
    """Return a load of 16 users in flows of two steps, of which some were ended by its end."""
    subject = reading(responses=1000 + paid, latency=Histogram.of({1000: 1000 + paid}))
    kinds = {"buy.add": reading(responses=1000), "buy.pay": reading(responses=paid)}
    even: dict[str, Any] = {"share": 1, "records": 1000}
    steps = {
        "buy.add": StreamKind(request=Request(path="/add"), **even),
        "buy.pay": StreamKind(
            request=Request(path="/pay"), after="buy.add", think_s=think_s, **even
        ),
    }
    stream = Stream(records=1000, sha256="0", kinds=steps)
    subject = subject.model_copy(update={"kinds": kinds, "records_taken": (1000 + paid,)})
    return {**closed(subject), "stream": stream}


def test_pauses_of_flows_are_no_idleness() -> None:
    pause = (16 * reading().seconds - 2) / 1000
    assert asked(trial(**flow(pause, 1000)), "L3").status == "pass"
    assert asked(trial(**flow(pause / 2, 1000)), "L3").status == "warn"
    assert asked(trial(**flow(None, 1000)), "L3").status == "warn"


@given(st.floats(0.01, 5))
def test_flows_that_think_at_the_end_are_no_other_mix(think_s: float) -> None:
    thinking = round(1000 / reading().seconds * think_s)
    assert asked(trial(**flow(think_s, 1000 - thinking)), "R1").status == "pass"
    missing = 1000 - 16 - 2 * thinking - math.ceil(5 * math.sqrt(thinking)) - 20
    if missing > 0:
        assert asked(trial(**flow(think_s, missing)), "R1").status == "fail"


@given(st.integers(0, 4000), st.integers(0, 4000), st.integers(0, 2**32))
def test_processes_that_took_unequal_numbers_send_the_mix(item: int, other: int, seed: int) -> None:
    random_ = Random(seed)
    dealt = [kind for _ in range(2000) for kind in random_.sample("aaab", 4)]
    sent = [*dealt[::2][:item], *dealt[1::2][:other]]
    kinds = {kind: reading(responses=sent.count(kind)) for kind in "ab"}
    subject = reading(responses=len(sent), records_taken=(item, other), kinds=kinds)
    shares = {
        kind: StreamKind(share=share, records=share * 2000, request=Request(path="/"))
        for kind, share in (("a", 3), ("b", 1))
    }
    stream = Stream(records=8000, sha256="0", kinds=shares)
    status = asked(trial(**closed(subject), stream=stream), "R1").status
    assert status == ("pass" if sent else "unknown")


def test_without_connections_or_a_mean_it_is_unknown() -> None:
    assert asked(trial(load=None), "L3").status == "unknown"
    assert asked(trial(load=Load()), "L3").status == "unknown"
    assert asked(trial(**closed(reading(latency=None))), "L3").status == "unknown"


@given(st.floats(0.01, 100), st.integers(1, 1000))
def test_littles_law_has_no_unit(scale: float, times: int) -> None:
    """So many times the requests in so many times the seconds are as believable."""

    def share(seconds: float, count: int) -> float:
        counts = {"responses": count, "latency": None, "mean_us": 1000, "latency_samples": count}
        subject = reading(seconds=seconds, **counts)
        return present(asked(trial(**closed(subject)), "L3").value)

    assert share(scale * times, 1000 * times) == pytest.approx(share(scale, 1000), rel=1e-4)


# L4


def paced(late: dict[int, int] | None, sent: int = 10_000, **changed: object) -> dict[str, object]:
    lateness = None if late is None else Histogram.of(late)
    schedule = Schedule(rate=1000, intended=10_000, sent=sent, lateness=lateness)
    latency = Histogram.of({1000: 9_000, 2000: 1000})
    fields = {"responses": sent, "latency": latency, "schedule": schedule} | changed
    return {"reading": reading(**fields), "load": Load(rate=1000, concurrency=64, connections=64)}


def test_a_closed_loop_has_no_schedule() -> None:
    assert "L4" not in ids(trial())


def test_an_open_loop_that_is_on_time_passes_and_its_cpu_is_not_asked() -> None:
    item = trial(**paced({50: 10_000}), parts=parts(loader={"busiest_thread_cpu_s": 9.9}))
    assert asked(item, "L4", "rate").status == "pass"
    assert asked(item, "L4", "lateness").status == "pass"
    assert asked(item, "L4", "lateness").value == pytest.approx(0.025, rel=0.01)
    assert not ids(item) & {"L1", "L3", "O1"}


def test_a_tool_that_is_late_spoils_its_latencies() -> None:
    check = asked(trial(**paced({50: 9_000, 200: 1_000})), "L4", "lateness")
    assert (check.status, check.subject, check.invalidates) == ("fail", "apparatus", "latency")
    assert check.threshold == "fail at 0.1 of the response times' 99th percentile"


def test_requests_not_sent_are_the_servers_doing_only_where_the_tool_was_on_time() -> None:
    on_time = asked(trial(**paced({50: 10_000}, sent=9_000)), "L4", "rate")
    assert (on_time.status, on_time.subject, on_time.value) == ("fail", "behaviour", 0.9)
    late = asked(trial(**paced({5000: 10_000}, sent=9_000)), "L4", "rate")
    assert (late.status, late.subject) == ("fail", "apparatus")
    busy = trial(**paced(None, sent=9_000), parts=parts(loader={"busiest_thread_cpu_s": 9.9}))
    assert asked(busy, "L4", "rate").subject == "apparatus"
    assert asked(trial(**paced(None, sent=9_000)), "L4", "rate").subject == "behaviour"


@pytest.mark.parametrize(("sent", "status"), [(9_900, "pass"), (9_899, "fail")])
def test_the_rate_is_kept_to_one_in_a_hundred(sent: int, status: str) -> None:
    assert asked(trial(**paced({50: 10_000}, sent=sent)), "L4", "rate").status == status


def test_lateness_that_is_not_told_is_unknown() -> None:
    assert asked(trial(**paced(None)), "L4", "lateness").status == "unknown"
    assert asked(trial(**paced({50: 10}, latency=None)), "L4", "lateness").status == "unknown"
    given_up = paced({50: 10}, latency=Histogram.of({1000: 1}), censored=5, censored_from_us=10_000)
    assert asked(trial(**given_up), "L4", "lateness").status == "pass"


def test_wrk2_is_held_to_its_rate() -> None:
    for name, status in (("healthy", "pass"), ("overload", "fail")):
        recording, load = recorded("wrk2", name)
        check = asked(trial(reading=recording, load=load), "L4", "rate")
        assert check.status == status
        assert "L3" not in ids(trial(reading=recording, load=load))
    assert check.subject == "behaviour"
    assert "the server cannot keep 1,000/s" in check.message


# L5: 0.03 when quiet and 0.33 to 0.51 beside a neighbour

NEIGHBOUR = {"busy_s": 15.0 + 0.66 * 40}


@pytest.mark.parametrize(
    ("waited", "status"), [(0.03, "pass"), (0.05, "warn"), (0.33, "fail"), (0.51, "fail")]
)
def test_a_tool_beside_a_neighbour_waits(waited: float, status: str) -> None:
    item = trial(parts=parts(loader={"cpu_wait_s": waited * 10}), machine=machine(**NEIGHBOUR))
    assert asked(item, "L5").status == status
    assert asked(item, "L5").transient


def test_waiting_is_counted_for_each_busy_thread() -> None:
    four = parts(loader={"cpu_wait_s": 1.6, "busy_threads": 4})
    assert asked(trial(parts=four), "L5").value == 0.04
    assert asked(trial(parts=parts(loader={"cpu_wait_s": None})), "L5").status == "unknown"


def test_co_location_alone_is_a_warning_and_named() -> None:
    waits = parts(loader={"cpu_wait_s": 4.0})
    check = asked(trial(parts=waits, placement=None), "L5")
    assert check.status == "warn"
    assert "shares its CPUs with server and backend" in check.message
    neighbour = trial(parts=waits, placement=None, machine=machine(**NEIGHBOUR))
    assert asked(neighbour, "L5").status == "fail"
    stolen = trial(parts=waits, placement=None, machine=machine(stolen_s=1.0))
    assert asked(stolen, "L5").status == "fail"


def test_a_tool_that_waits_on_cpus_of_its_own_has_too_few() -> None:
    check = asked(trial(parts=parts(loader={"cpu_wait_s": 4.0}), placement=APART), "L5")
    assert (check.status, check.subject) == ("fail", "apparatus")
    assert "too few for its threads" in check.message


@given(st.floats(0, 20), st.floats(0, 20))
def test_more_waiting_is_never_better(item: float, other: float) -> None:
    less, more = sorted((item, other))
    actual = [asked(trial(parts=parts(loader={"cpu_wait_s": x})), "L5") for x in (less, more)]
    assert at_least_as_bad(actual[1], actual[0])


# What a driver says of its load


def test_every_load_tool_says_what_it_was_told() -> None:
    options: dict[str, dict[str, Any]] = {
        "h2load": {"protocol": "h2c", "streams": 8},
        "pace": {"rate": "500/s"},
        "k6": {"users": 7},
        "wrk": {"connections": 9, "threads": 2},
    }
    actual = [Registry().part("loader", name).model_validate(options[name]) for name in options]
    loads = {part.name: part.load() for part in actual if isinstance(part, Driver)}
    assert loads["h2load"].concurrency == 80
    assert loads["pace"].rate == 500
    assert loads["wrk"].concurrency == 8
    assert (loads["k6"].rate, loads["k6"].concurrency, loads["k6"].kind) == (None, 7, "loader")
    client = Registry().part("client", "http_client").model_validate({})
    assert isinstance(client, Driver)
    assert client.load().kind == "client"
