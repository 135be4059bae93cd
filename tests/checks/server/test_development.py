"""S7, D1 to D3, D5: whether processes lived on, how they were run, what they wrote and did."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.observed import LIMITS, answer, loader, observation, only, reading, trial, usage
from made.quiet_trial import Row

from benchforge.checks import ask
from benchforge.checks.server import development
from benchforge.model.trial.answers.monitor import Probes
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial


def server(**changed: Any) -> Trial:
    return trial(observation=observation(usage(**changed), loader()))


def backend(**changed: Any) -> Trial:
    database = usage(label="backend-db", role="backend", **changed)
    return trial(observation=observation(usage(), database, loader()))


def signs(*marks: str) -> Trial:
    return server(development_signs=marks)


def page(*debug: str) -> Trial:
    probes = Probes(before=20, after=5, distinct=1, most_frequent=(), debug=debug or None)
    return trial(probes=probes)


def by_method(ran: str | None) -> Trial:
    return trial(load={"method": "async-map"}, reading=reading(method=ran))


UNSEEN = trial(observation=None, answers=())
OUTSIDE = server(ended_processes=None, why="it was running already")
HIDDEN = ({"open_files_limit": None}, {"why": "no environment: signs may be missing"})
WERKZEUG = answer(headers={"server": "Werkzeug/3.0.1 Python/3.12.3"})
OWN_NAME = reading(server_software="WSGIServer/0.2 CPython/3.12.3")
PROFILER = "loaded: _lsprof.cpython-311.so"
QUEUE = "WARNING:waitress.queue:Task queue depth is 8"
LOGGED = "127.0.0.1 - - [27/Nov/2026] GET /"

ROWS = [
    Row("S7:server-a", server(ended_processes=1, new_processes=1), "fail behaviour", 1, "crashed"),
    Row("S7:server-a", server(ended_processes=1, new_processes=2), "fail behaviour", 2),
    Row("S7:server-a", server(ended_processes=3, new_processes=0), "fail behaviour", 3),
    Row("S7:server-a", server(new_processes=2), "warn behaviour", 2, "none ended and 2 began"),
    Row("S7", trial(), "pass behaviour"),
    Row("S7", OUTSIDE, "unknown behaviour", says="running already"),
    Row("S7", UNSEEN, "unknown behaviour"),
    # A backend may have a process for each connection.
    Row("S7", backend(new_processes=9), "pass behaviour"),
    *(
        Row("D1", signs(f"debug: {sign}"), "fail behaviour", says=sign)
        for sign in ("--reload", "FLASK_DEBUG=1", "PYTHONDEVMODE", "runserver")
    ),
    Row("D1", trial(answers=(WERKZEUG,)), "fail behaviour"),
    Row("D1", trial(reading=OWN_NAME), "fail behaviour"),
    Row("D1", trial(reading=OWN_NAME, observation=None), "fail behaviour"),
    Row("D1", page("Django's page"), "fail behaviour", says="Django's page"),
    Row("D1", page(), "pass behaviour"),
    # No sign is a pass only where somebody looked.
    *(Row(id_, trial(), "pass behaviour") for id_ in ("D1", "D2")),
    *(Row(id_, server(**fields), "unknown behaviour") for id_ in ("D1", "D2") for fields in HIDDEN),
    *(Row(id_, UNSEEN, "unknown behaviour") for id_ in ("D1", "D2", "D3")),
    # A tracer comes from outside, and other instruments with the server.
    Row("D2", signs("instrument: TracerPid 17"), "fail apparatus"),
    Row("D2", signs("instrument: libasan.so.8"), "fail behaviour"),
    # An app may import cProfile and profile nothing: nothing in /proc shows which.
    Row("D2", signs(PROFILER), "warn behaviour", says="_lsprof"),
    Row("D2", signs("instrument: -m cProfile", PROFILER), "fail behaviour"),
    Row("D2:backend-db", backend(development_signs=("instrument: valgrind",)), "fail behaviour"),
    *(Row("D3", server(printed_bytes=n), "pass behaviour", n / 20_000) for n in (0, 399_999)),
    *(Row("D3", server(printed_bytes=n), "warn behaviour", n / 2e4) for n in (400_000, 2_000_000)),
    Row("D3", server(printed_bytes=1_600_000, printed_line=LOGGED), "warn behaviour", says=LOGGED),
    Row("D3", server(printed_bytes=None), "unknown behaviour"),
    Row("D5", by_method("async-map"), "pass behaviour", says="async-map"),
    Row("D5", by_method("async-for"), "fail behaviour", says="async-for"),
    Row("D5", by_method(None), "unknown behaviour"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.check}-{row.outcome}")
def test_processes(row: Row) -> None:
    row.holds()


def test_d2_doubts_a_trial_by_a_tracer_and_not_by_an_instrument() -> None:
    for sign, believed in (("libasan.so.8", True), ("TracerPid 17", False)):
        checks = tuple(ask.of_trial(signs(f"instrument: {sign}"), LIMITS))
        assert trial(checks=checks).believed is believed


def test_s7_calls_a_worker_that_began_late_no_crash() -> None:
    assert "crashed" not in only(development.restarts(server(new_processes=2), LIMITS)).message


def test_d3_names_the_message_of_a_log_and_the_cure_of_a_queue_of_threads() -> None:
    message = only(development.logging(printing("a", 1_600_000, QUEUE), LIMITS)).message
    assert QUEUE in message
    assert "requests wait for a thread" in message
    assert "at least 16 threads" in message
    assert QUEUE in between(1_600_000, 0, line=QUEUE).message
    assert "thread" not in only(development.logging(printing("a", 100, QUEUE), LIMITS)).message


def printing(name: str, printed: int | None, line: str = "") -> Trial:
    observed = observation(usage(printed_bytes=printed, printed_line=line))
    return trial(server=name, observation=observed)


def between(*printed: int | None, line: str = "") -> Check:
    sides = [[printing(f"s{n}", item, line)] for n, item in enumerate(printed)]
    return only(development.of_comparison(sides, LIMITS))


def test_d3_fails_where_one_logs_and_another_does_not() -> None:
    check = between(1_600_000, 0)
    assert (check.status, check.scope) == ("fail", "comparison")
    assert "s0 writes to logs for each request and s1 does not" in check.message
    assert between(1_600_000, None).status == "unknown"
    nobody = only(development.of_comparison([[printing("a", 0)], []], LIMITS))
    assert (nobody.id, nobody.status) == ("D3", "unknown")
    assert list(development.of_comparison([[printing("a", 0)]], LIMITS)) == []


@given(st.lists(st.integers(0, 1_000_000), min_size=2, max_size=5))
def test_d3_compares_who_logs(printed: list[int]) -> None:
    logs = [item >= 400_000 for item in printed]
    assert between(*printed).status == ("fail" if any(logs) and not all(logs) else "pass")


def test_d5_asks_no_method_of_what_has_one() -> None:
    assert not list(development.method(trial(reading=reading(method="async-map")), LIMITS))
    assert only(development.logging(trial(reading=None), LIMITS)).status == "unknown"
