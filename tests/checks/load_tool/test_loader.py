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
    Row,
    asked,
    ids,
    machine,
    parts,
    reading,
    rows,
    trial,
    usage,
)
from present import present
from recorded.tools import recorded

from benchforge.checks import ask
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Load, Reading, Schedule
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.model.trial.trial import Trial
from benchforge.parts.part import Driver
from benchforge.parts.registry import Registry

OWN = {"L1", "L3", "L4", "L5", "P1", "P2", "N1", "N2", "N3", "N4", "N5", "F1", "F2"} | {
    *("M1", "M2", "M3", "T2", "O1", "O2", "S2")
}


def closed(read: Reading, connections: int = 16, **load: Any) -> Trial:
    fields = {"connections": connections, "concurrency": connections} | load
    return trial(reading=read, load=Load.model_validate(fields))


def tools(*used: float | None) -> Trial:
    """Processes of a load tool by the CPU time of the hottest thread of each."""
    names = ("locust", "locust-1")
    fields = [{"busiest_thread_cpu_s": n, "why": "" if n else "it ended before"} for n in used]
    pairs = zip(names, fields, strict=False)
    return trial(parts=tuple(usage(name, "loader", **more) for name, more in pairs))


def paced(late: dict[int, int] | None, sent: int = 10_000, **changed: object) -> dict[str, object]:
    lateness = None if late is None else Histogram.of(late)
    schedule = Schedule(rate=1000, intended=10_000, sent=sent, lateness=lateness)
    latency = Histogram.of({1000: 9_000, 2000: 1000})
    fields = {"responses": sent, "latency": latency, "schedule": schedule} | changed
    return {"reading": reading(**fields), "load": Load(rate=1000, concurrency=64, connections=64)}


def flow(think_s: float | None, paid: int) -> Trial:
    """Return a load of 16 users in flows of two steps, of which some were ended by its end."""
    subject = reading(responses=1000 + paid, latency=Histogram.of({1000: 1000 + paid}))
    kinds = {"buy.add": reading(responses=1000), "buy.pay": reading(responses=paid)}
    even: dict[str, Any] = {"share": 1, "records": 1000, "request": Request(path="/x")}
    steps = {
        "buy.add": StreamKind(**even),
        "buy.pay": StreamKind(after="buy.add", think_s=think_s, **even),
    }
    stream = Stream(records=1000, sha256="0", kinds=steps)
    subject = subject.model_copy(update={"kinds": kinds, "records_taken": (1000 + paid,)})
    return closed(subject).model_copy(update={"stream": stream})


NEIGHBOUR = {"machine": machine(busy_s=15.0 + 0.66 * 40)}
HOT = "loader.busiest_thread_cpu_s"
BUSY = parts(loader={"busiest_thread_cpu_s": 9.9})
HELD = parts(loader={"busiest_thread_cpu_s": 1.17, "quota_cpus": 0.12, "throttled": 90})
RESTLESS = Load(connections=16, concurrency=16, sleeps=False)
THREAD = Load(connections=16, concurrency=16, processes=1)
FEW = {"latency": Histogram.of({1000: 1000}), "responses": 1000}
LATE = {"responses": 100_060, "latency": Histogram.of({1000: 100_000}), "censored": 60}
# A server stood still for 4 of 8 s: each of 16 requests took 4 s, and is known to take 2.
STOOD = {"seconds": 8, "responses": 20_016, "latency": Histogram.of({3200: 20_000})}
STOOD |= {"censored": 16, "censored_from_us": 2_000_000}
# 10 connections for 3 s, requests of 0.8 s: three ended on each, and one was under way.
LONG = {"seconds": 3, "responses": 30, "latency": Histogram.of({800_000: 30})}
THINKS = reading(responses=16_000, latency=Histogram.of({1000: 16_000}))
PAUSE = (16 * reading().seconds - 2) / 1000
GIVEN_UP: dict[str, Any] = {
    "latency": Histogram.of({1000: 1}),
    "censored": 5,
    "censored_from_us": 10_000,
}
FOUR = parts(loader={"cpu_wait_s": 1.6, "busy_threads": 4})

ROWS = [
    *rows("L1", HOT, (7.9, "pass", 0.79), (8.0, "warn", 0.80, "more threads")),
    *rows("L1", HOT, (9.4, "warn", 0.94), (9.5, "fail", 0.95, "more threads")),
    Row("L1", trial(parts=BUSY, load=RESTLESS), "unknown", says="also while it waits"),
    Row("L1", trial(parts=HELD), "fail", 0.975, "used 97.5 % of the 0.12 CPUs of its quota"),
    Row("L1:locust-1", tools(0.2, 9.8), "fail", 0.98, "thread of locust-1 used 98 % of a CPU: "),
    Row("L1", tools(4.5, None), "unknown", says="locust-1 is not known: it ended before"),
    Row("L1", tools(9.9, None), "fail"),
    # A tool of one thread is known by its process.
    *rows("L1", HOT, (None, "unknown")),
    Row("L1", trial(parts=parts(loader={"busiest_thread_cpu_s": None}), load=THREAD), "pass", 0.5),
    # 16 connections for 10 s; 60 s of 160 are late.
    Row("L3", closed(reading(**LATE, censored_from_us=1_000_000)), "pass", 1),
    Row("L3", closed(reading(**LATE)), "unknown"),
    Row("L3", closed(reading(**STOOD)), "unknown", says="longer than it records: whether it was"),
    Row("L3", closed(reading(**STOOD | {"censored": 4})), "warn"),  # not even with all of 8 s
    Row("L3", closed(reading(**FEW)), "warn"),
    *(Row("L3", closed(reading(**FEW, unanswered=lost)), "unknown") for lost in (3, None)),
    Row("L3", closed(reading(**LONG), 10), "pass"),
    Row("L3", closed(reading(**LONG, in_flight=Histogram.of({600_000: 10})), 10), "pass", 1),
    Row("L3", closed(THINKS, think_s=0.009), "pass"),
    Row("L3", closed(THINKS), "warn"),
    Row("L3", flow(PAUSE, 1000), "pass"),
    *(Row("L3", flow(pause, 1000), "warn") for pause in (PAUSE / 2, None)),
    *(Row("L3", trial(load=load), "unknown") for load in (None, Load())),
    Row("L3", closed(reading(latency=None)), "unknown"),
    Row("L4:rate", trial(**paced({50: 10_000}), parts=BUSY), "pass behaviour"),
    Row("L4:lateness", trial(**paced({50: 10_000}), parts=BUSY), "pass", 0.025),
    Row("L4:lateness", trial(**paced({50: 9_000, 200: 1_000})), "fail"),
    Row("L4:rate", trial(**paced({50: 10_000}, sent=9_900)), "pass behaviour"),
    Row("L4:rate", trial(**paced({50: 10_000}, sent=9_899)), "fail behaviour"),
    Row("L4:rate", trial(**paced({50: 10_000}, sent=9_000)), "fail behaviour", 0.9),
    Row("L4:rate", trial(**paced({5000: 10_000}, sent=9_000)), "fail"),
    Row("L4:rate", trial(**paced(None, sent=9_000), parts=BUSY), "fail"),
    Row("L4:rate", trial(**paced(None, sent=9_000)), "fail behaviour"),
    Row("L4:lateness", trial(**paced(None)), "unknown"),
    Row("L4:lateness", trial(**paced({50: 10}, latency=None)), "unknown"),
    Row("L4:lateness", trial(**paced({50: 10}, **GIVEN_UP)), "pass"),
    # 0.03 s when quiet, and 0.33 to 0.51 s beside a neighbour.
    *rows("L5", "loader.cpu_wait_s", (0.3, "pass"), (0.5, "warn"), **NEIGHBOUR),
    *rows("L5", "loader.cpu_wait_s", (3.3, "fail"), (5.1, "fail"), **NEIGHBOUR),
    Row("L5", trial(parts=FOUR), "pass", 0.04),
    *rows("L5", "loader.cpu_wait_s", (None, "unknown")),
    *rows("L5", "loader.cpu_wait_s", (4.0, "fail"), placement=None, **NEIGHBOUR),
    *rows("L5", "loader.cpu_wait_s", (4.0, "fail"), placement=None, machine=machine(stolen_s=1.0)),
    *rows(
        "L5",
        "loader.cpu_wait_s",
        (4.0, "warn", 0.4, "shares its CPUs with server and backend"),
        placement=None,
    ),
    *rows(
        "L5", "loader.cpu_wait_s", (4.0, "fail", 0.4, "too few for its threads"), placement=APART
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.check}-{row.outcome}")
def test_load_tools(row: Row) -> None:
    row.holds()


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


def test_what_is_not_asked() -> None:
    """Of a client or a timed process, which is measured, and of a tool that was on time."""
    assert not ids(trial(parts=BUSY, load=Load(kind="client"))) & {"L1", "L3", "O1"}
    assert not ids(trial(parts=BUSY, reading=reading(process_s=(0.1,)))) & {"L1", "L3", "O1"}
    assert not ids(trial(**paced({50: 10_000}), parts=BUSY)) & {"L1", "L3", "O1"}
    assert "L4" not in ids(trial())


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
def test_l3_of_too_many_in_flight(name: str, mean_us: float, under_way: float, status: str) -> None:
    responses = round(under_way / mean_us * 1e7)
    subject = reading(responses=responses, latency=None, mean_us=mean_us, latency_samples=responses)
    check = asked(closed(subject), "L3")
    assert (check.status, check.subject) == (status, "apparatus"), name
    assert check.value == pytest.approx(under_way / 16, rel=1e-3)
    number = float(check.message.partition(" requests were under way")[0])
    assert number == pytest.approx(under_way, abs=0.06)


@pytest.mark.parametrize("tool", ["wrk", "h2load", "locust", "oha", "hey", "weighttp"])
def test_l3_calls_no_healthy_recording_synthetic(tool: str) -> None:
    recording, load = recorded(tool, {"weighttp": "0.5-healthy"}.get(tool, "healthy"))
    check = asked(trial(reading=recording, load=load), "L3")
    assert check.status in {"pass", "warn"}
    assert 0.3 < present(check.value) <= 1.02


def test_l3_calls_what_wrk_prints_of_a_server_that_stalls_synthetic() -> None:
    recording, load = recorded("wrk", "stalls")
    assert asked(trial(reading=recording, load=load), "L3").status in {"pass", "warn"}
    update = {"latency": None, "mean_us": recording.printed["latency_mean_us"]}
    printed = recording.model_copy(update=update)
    assert asked(trial(reading=printed, load=load), "L3").status == "fail"


@given(st.floats(0.01, 5))
def test_r1_passes_flows_that_think_at_the_end(think_s: float) -> None:
    thinking = round(1000 / reading().seconds * think_s)
    assert asked(flow(think_s, 1000 - thinking), "R1").status == "pass"
    missing = 1000 - 16 - 2 * thinking - math.ceil(5 * math.sqrt(thinking)) - 20
    if missing > 0:
        assert asked(flow(think_s, missing), "R1").status == "fail"


@given(st.integers(0, 4000), st.integers(0, 4000), st.integers(0, 2**32))
def test_r1_passes_processes_that_took_unequal_numbers(item: int, other: int, seed: int) -> None:
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
    status = asked(closed(subject).model_copy(update={"stream": stream}), "R1").status
    assert status == ("pass" if sent else "unknown")


@given(st.floats(0.01, 100), st.integers(1, 1000))
def test_l3_by_littles_law_has_no_unit(scale: float, times: int) -> None:
    """So many times the requests in so many times the seconds are as believable."""

    def share(seconds: float, count: int) -> float:
        counts = {"responses": count, "latency": None, "mean_us": 1000, "latency_samples": count}
        return present(asked(closed(reading(seconds=seconds, **counts)), "L3").value)

    assert share(scale * times, 1000 * times) == pytest.approx(share(scale, 1000), rel=1e-4)


# L4


def test_l4_spoils_the_latencies_of_a_tool_that_is_late() -> None:
    check = asked(trial(**paced({50: 9_000, 200: 1_000})), "L4", "lateness")
    assert check.invalidates == "latency"
    assert check.threshold == "fail at 0.1 of the response times' 99th percentile"


def test_l4_holds_wrk2_to_its_rate() -> None:
    for name, status in (("healthy", "pass"), ("overload", "fail")):
        recording, load = recorded("wrk2", name)
        check = asked(trial(reading=recording, load=load), "L4", "rate")
        assert check.status == status
        assert "L3" not in ids(trial(reading=recording, load=load))
    assert check.subject == "behaviour"
    assert "the server cannot keep 1,000/s" in check.message


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
