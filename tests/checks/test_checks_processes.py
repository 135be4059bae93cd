"""S7, D1 to D3, D5: whether processes lived on, how they were run, what they wrote and did."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.observed import LIMITS, answer, loader, observation, only, reading, trial, usage

from benchforge.checks.server import development, programs
from benchforge.checks.server.development import development_mode, instruments, logging
from benchforge.model.trial.answers.monitor import Probes
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial


def server(**changed: Any) -> Trial:
    return trial(observation=observation(usage(**changed), loader()))


# --- S7 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ended", "begun", "value"), [(1, 1, 1), (1, 2, 2), (3, 0, 3)])
def test_a_process_that_ended_is_a_finding(ended: int, begun: int, value: int) -> None:
    check = only(programs.restarts(server(ended_processes=ended, new_processes=begun), LIMITS))
    assert (check.status, check.subject, check.value) == ("fail", "behaviour", value)
    assert check.component == "server-a"


def test_a_worker_that_began_late_is_no_crash() -> None:
    check = only(programs.restarts(server(ended_processes=0, new_processes=2), LIMITS))
    assert (check.status, check.subject, check.value) == ("warn", "behaviour", 2)
    assert "none ended and 2 began" in check.message
    assert "crashed" not in check.message


def test_processes_that_lived_through_and_those_that_were_not_seen() -> None:
    assert only(programs.restarts(trial(), LIMITS)).status == "pass"
    unseen = server(ended_processes=None, why="it was running already")
    hidden = only(programs.restarts(unseen, LIMITS))
    assert hidden.status == "unknown"
    assert "running already" in hidden.message
    assert only(programs.restarts(trial(observation=None), LIMITS)).status == "unknown"


def test_a_backend_may_have_a_process_for_each_connection() -> None:
    database = usage(label="backend-db", role="backend", new_processes=9)
    observed = observation(usage(), database, loader())
    assert only(programs.restarts(trial(observation=observed), LIMITS)).status == "pass"


# --- D1 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sign", ["debug: --reload", "debug: FLASK_DEBUG=1", "debug: PYTHONDEVMODE", "debug: runserver"]
)
def test_a_development_mode_is_a_finding(sign: str) -> None:
    check = only(development_mode(server(development_signs=(sign,)), LIMITS))
    assert (check.status, check.subject) == ("fail", "behaviour")
    assert sign.removeprefix("debug: ") in check.message


def test_a_server_that_calls_itself_one_for_development() -> None:
    header = {"server": "Werkzeug/3.0.1 Python/3.12.3"}
    assert only(development_mode(trial(answers=(answer(headers=header),)), LIMITS)).status == "fail"
    actual = trial(reading=reading(server_software="WSGIServer/0.2 CPython/3.12.3"))
    assert only(development_mode(actual, LIMITS)).status == "fail"
    unseen = actual.model_copy(update={"observation": None})
    assert only(development_mode(unseen, LIMITS)).status == "fail"


def test_a_page_for_developers_is_a_sign_where_there_is_no_other() -> None:
    page = Probes(before=20, after=5, distinct=1, most_frequent=(), debug=("Django's page",))
    check = only(development_mode(trial(probes=page), LIMITS))
    assert (check.status, check.subject) == ("fail", "behaviour")
    assert "Django's page" in check.message
    for none in ((), None):
        quiet = page.model_copy(update={"debug": none})
        assert only(development_mode(trial(probes=quiet), LIMITS)).status == "pass"


@pytest.mark.parametrize(
    "changed", [{"open_files_limit": None}, {"why": "no environment: signs may be missing"}]
)
def test_no_sign_is_a_pass_only_where_somebody_looked(changed: Any) -> None:
    assert only(development_mode(trial(), LIMITS)).status == "pass"
    assert only(instruments(trial(), LIMITS)).status == "pass"
    for family in (development_mode, instruments):
        assert only(family(server(**changed), LIMITS)).status == "unknown"
        assert only(family(trial(observation=None, answers=()), LIMITS)).status == "unknown"


# --- D2 ------------------------------------------------------------------------------------------


def test_a_tracer_comes_from_outside_and_other_instruments_with_the_server() -> None:
    traced = only(instruments(server(development_signs=("instrument: TracerPid 17",)), LIMITS))
    assert (traced.status, traced.subject) == ("fail", "apparatus")
    assert not trial(checks=(traced,)).believed
    covered = only(instruments(server(development_signs=("instrument: libasan.so.8",)), LIMITS))
    assert (covered.status, covered.subject) == ("fail", "behaviour")
    assert trial(checks=(covered,)).believed


def test_an_instrument_that_is_only_there_is_a_reservation() -> None:
    """An app may import cProfile and profile nothing: nothing in /proc shows which."""
    signs = ("loaded: _lsprof.cpython-311.so",)
    check = only(instruments(server(development_signs=signs), LIMITS))
    assert (check.status, check.subject) == ("warn", "behaviour")
    assert "_lsprof" in check.message
    used = server(development_signs=("instrument: -m cProfile", *signs))
    assert only(instruments(used, LIMITS)).status == "fail"


def test_each_service_is_looked_at() -> None:
    traced = usage(label="backend-db", role="backend", development_signs=("instrument: valgrind",))
    observed = observation(usage(), traced)
    statuses = {it.component: it.status for it in instruments(trial(observation=observed), LIMITS)}
    assert statuses == {"server-a": "pass", "backend-db": "fail"}
    items = list(development_mode(trial(observation=observed), LIMITS))
    assert [item.component for item in items] == ["server-a"]


# --- D3 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "status"), [(0, "pass"), (399_999, "pass"), (400_000, "warn"), (2_000_000, "warn")]
)
def test_a_log_of_each_request_warns(printed: int, status: str) -> None:
    check = only(logging(server(printed_bytes=printed), LIMITS))
    assert (check.status, check.subject) == (status, "behaviour")
    assert check.value == pytest.approx(printed / 20_000, rel=1e-5)


QUEUE = "WARNING:waitress.queue:Task queue depth is 8"


def test_a_log_names_its_message_and_a_queue_of_threads_its_cure() -> None:
    line = "127.0.0.1 - - [27/Nov/2026] GET /"
    logged = server(printed_bytes=1_600_000, printed_line=line)
    assert line in only(logging(logged, LIMITS)).message
    check = only(logging(server(printed_bytes=1_600_000, printed_line=QUEUE), LIMITS))
    assert (check.status, check.subject) == ("warn", "behaviour")
    assert QUEUE in check.message
    assert "requests wait for a thread" in check.message
    assert "at least 16 threads" in check.message
    assert QUEUE in between(1_600_000, 0, line=QUEUE).message
    quiet = server(printed_bytes=100, printed_line=QUEUE)
    assert "thread" not in only(logging(quiet, LIMITS)).message


def test_what_was_printed_is_unknown() -> None:
    assert only(logging(server(printed_bytes=None), LIMITS)).status == "unknown"
    assert only(logging(trial(observation=None), LIMITS)).status == "unknown"
    assert only(logging(trial(reading=None), LIMITS)).status == "unknown"


def printing(name: str, printed: int | None, line: str = "") -> Trial:
    observed = observation(usage(printed_bytes=printed, printed_line=line))
    return trial(server=name, observation=observed)


def between(*printed: int | None, line: str = "") -> Check:
    sides = [[printing(f"s{n}", item, line)] for n, item in enumerate(printed)]
    return only(development.of_comparison(sides, LIMITS))


def test_one_logs_and_another_does_not() -> None:
    check = between(1_600_000, 0)
    assert (check.status, check.scope) == ("fail", "comparison")
    assert "s0 writes to logs for each request and s1 does not" in check.message
    assert between(0, 0).status == "pass"
    assert between(1_600_000, 1_700_000).status == "pass"
    assert between(1_600_000, None).status == "unknown"


def test_what_is_not_believed_is_not_compared() -> None:
    check = only(development.of_comparison([[printing("a", 0)], []], LIMITS))
    assert (check.id, check.status) == ("D3", "unknown")
    assert list(development.of_comparison([[printing("a", 0)]], LIMITS)) == []


@given(st.lists(st.integers(0, 1_000_000), min_size=2, max_size=5))
def test_logging_is_compared_by_who_does(printed: list[int]) -> None:
    logs = [item >= 400_000 for item in printed]
    assert between(*printed).status == ("fail" if any(logs) and not all(logs) else "pass")


# --- D5 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ran", "status"), [("async-map", "pass"), ("async-for", "fail"), (None, "unknown")]
)
def test_a_client_that_takes_another_way_than_it_is_called(ran: str | None, status: str) -> None:
    request = trial(load={"method": "async-map"}, reading=reading(method=ran))
    check = only(programs.method(request, LIMITS))
    assert (check.status, check.subject) == (status, "behaviour")
    assert ran is None or ran in check.message
    assert not list(programs.method(trial(reading=reading(method=ran)), LIMITS))
