"""W1 to W3: what each was told to have and used, what was used up, and the backend."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.observed import LIMITS, loader, observation, only, reading, trial, usage

from benchforge.checks.server import resources
from benchforge.checks.server.resources import backend, limiter, workers
from benchforge.model.suite.placement import ActualPlacement
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import MachineUsage, Usage
from benchforge.model.trial.reading import Schedule
from benchforge.model.trial.trial import StartedProcess, Trial


def with_usage(*usages: Usage, **changed: Any) -> Trial:
    machine = changed.pop("machine", MachineUsage(cpus=4, busy_s=15.0))
    return trial(observation=observation(*usages, machine=machine), **changed)


# --- W1 ------------------------------------------------------------------------------------------


def test_what_a_server_used_is_told() -> None:
    check = workers(trial(), LIMITS)
    assert check.status == "pass"
    assert "0.95 CPUs with 2 busy threads, told to have 2" in check.message


@pytest.mark.parametrize(
    ("times", "status"),
    [
        *(((5.0, 5.0, 0.0), "pass"), ((5.9, 4.0, 0.0), "pass"), ((7.0, 4.0, 0.0), "warn")),
        *(((9.5, 0.0, 0.0), "warn"), ((0.15, 0.05, 0.0), "unknown"), ((), "unknown")),
    ],
)
def test_workers_that_do_not_share_the_work(times: tuple[float, ...], status: str) -> None:
    check = workers(with_usage(usage(process_cpu_s=times)), LIMITS)
    assert (check.status, check.subject) == (status, "behaviour")


def test_which_processes_are_workers_is_not_always_known() -> None:
    threads = workers(with_usage(usage(), workers={"a": 8}), LIMITS)
    assert threads.status == "unknown"
    assert "3 processes" in threads.message
    alone = workers(with_usage(usage(process_cpu_s=(9.5,)), workers={"a": 4}), LIMITS)
    assert alone.status == "pass"
    assert workers(with_usage(usage(), workers={}), LIMITS).status == "pass"


def test_cpu_that_was_not_seen_is_unknown() -> None:
    assert workers(with_usage(usage(cpu_s=None, why="hidden")), LIMITS).status == "unknown"
    assert workers(trial(observation=None), LIMITS).status == "unknown"


def side(name: str, n: int | None, cpu_s: float | None = 9.5, *, declared: bool = False) -> Trial:
    workers = {} if n is None else {name: n}
    observed = observation(usage(cpu_s=cpu_s))
    says = (name,) if declared else ()
    return trial(server=name, observation=observed, workers=workers, workers_declared=says)


def between(*sides: Trial) -> dict[str, Check]:
    checks = resources.of_comparison([[side] for side in sides], LIMITS)
    return {item.component: item for item in checks}


def test_different_budgets_fail_unless_the_suite_says_them() -> None:
    assert between(side("a", 2), side("b", 2))["told"].status == "pass"
    silent = between(side("a", 2, declared=True), side("b", 4))["told"]
    assert silent.status == "fail"
    assert "does not say so of b" in silent.message
    load = between(side("a", 2, declared=True), side("b", 4, declared=True))["told"]
    assert load.status == "pass"
    assert between(side("a", 2), side("b", None))["told"].status == "unknown"


@pytest.mark.parametrize(
    ("cpu_s", "status"), [(9.5, "pass"), (11.8, "pass"), (11.9, "warn"), (None, "unknown")]
)
def test_sides_that_used_other_shares_of_the_machine(cpu_s: float | None, status: str) -> None:
    assert between(side("a", 2), side("b", 2, cpu_s))["used"].status == status


def test_without_trials_or_cpu_time_there_is_nothing_to_compare() -> None:
    assert only(resources.of_comparison([[], []], LIMITS)).status == "unknown"
    assert between(side("a", 2, 0.0), side("b", 2))["used"].status == "unknown"


@given(st.lists(st.floats(0.1, 100), min_size=2, max_size=5))
def test_use_is_compared_by_the_least_and_the_most(cpu_s: list[float]) -> None:
    check = between(*(side(f"s{n}", 2, item) for n, item in enumerate(cpu_s)))["used"]
    apart = max(cpu_s) / min(cpu_s) - 1
    assert check.value == pytest.approx(apart, rel=1e-5, abs=1e-9)
    if abs(apart - 0.25) > 1e-9:
        assert check.status == ("warn" if apart > 0.25 else "pass")


# --- W2 ------------------------------------------------------------------------------------------

IDLE = {"cpu_s": 3.0, "busiest_thread_cpu_s": 1.5, "process_cpu_s": (1.5, 1.5)}
QUIET = loader(cpu_s=2.0, busiest_thread_cpu_s=2.0)


def test_nothing_used_up_is_an_unexplained_limit() -> None:
    check = only(limiter(with_usage(usage(**IDLE), QUIET), LIMITS))
    assert (check.status, check.subject) == ("warn", "behaviour")
    assert "unexplained limit" in check.message


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"cpu_s": 18.1}, "CPUs of server-a"),  # of two workers
        ({"busiest_thread_cpu_s": 9.6}, "a thread of server-a"),
    ],
)
def test_a_server_that_is_used_up_is_named(changed: Any, named: str) -> None:
    check = only(limiter(with_usage(usage(**(IDLE | changed)), QUIET), LIMITS))
    assert check.status == "pass"
    assert f"used up: {named} (" in check.message


def test_threads_of_python_take_turns() -> None:
    busy = usage(**(IDLE | {"cpu_s": 9.4, "process_cpu_s": (9.4,)}))
    fields: dict[str, Any] = {"environment": {}, "stdout": "a.out", "stderr": "a.err"}
    fields |= {"exit_code": None, "executable": "/usr/bin/python3.12"}
    process = StartedProcess(label="server-a", argv=("x",), **fields)
    changed: dict[str, Any] = {"workers": {"a": 4}}
    assert only(limiter(with_usage(busy, QUIET, **changed), LIMITS)).status == "warn"
    python = only(limiter(with_usage(busy, QUIET, processes=(process,), **changed), LIMITS))
    assert "used up: a Python process of server-a" in python.message


def test_others_that_are_used_up_are_named() -> None:
    idle = usage(**IDLE)
    sole = only(limiter(with_usage(idle, loader(busiest_thread_cpu_s=9.9)), LIMITS))
    assert "used up: a thread of loader-w" in sole.message
    database = usage(label="backend-db", role="backend", cpu_s=37.0, busiest_thread_cpu_s=5.0)
    assert "used up: backend-db" in only(limiter(with_usage(idle, database), LIMITS)).message
    disk = MachineUsage(cpus=4, busy_s=1.0, pressure={"io.some": 0.6})
    waits = only(limiter(with_usage(idle, QUIET, machine=disk), LIMITS))
    assert "waiting for the disk" in waits.message


def test_cpus_of_its_own_are_the_budget() -> None:
    first_cpu = ActualPlacement(cpus={"server": "0"})
    mine = with_usage(usage(**(IDLE | {"cpu_s": 9.2})), QUIET, placement=first_cpu)
    assert "used up: CPUs of server-a" in only(limiter(mine, LIMITS)).message


def test_a_quota_is_the_budget_however_small_it_is() -> None:
    held = {"cpu_s": 1.17, "busiest_thread_cpu_s": 1.1, "quota_cpus": 0.12, "throttled": 98}
    sole = only(limiter(with_usage(usage(**(IDLE | held)), QUIET), LIMITS))
    assert "used up: the quota of 0.12 CPUs of server-a, which stopped it 98 times" in sole.message
    database = usage(label="backend-db", role="backend", **held)
    assert only(backend(with_usage(usage(**IDLE), database), LIMITS)).status == "warn"


def test_one_request_at_a_time_uses_up_nothing_and_a_rate_is_no_limit() -> None:
    idle = with_usage(usage(**IDLE), QUIET)
    item = idle.model_copy(update={"load": trial(load={"connections": 1}).load})
    assert only(limiter(item, LIMITS)).status == "pass"
    stored = reading(schedule=Schedule(rate=2000))
    assert list(limiter(idle.model_copy(update={"reading": stored}), LIMITS)) == []
    missed = reading(schedule=Schedule(rate=3000))
    assert only(limiter(idle.model_copy(update={"reading": missed}), LIMITS)).status == "warn"


def test_a_limit_that_nobody_saw_is_unknown() -> None:
    assert only(limiter(with_usage(usage(cpu_s=None), QUIET), LIMITS)).status == "unknown"
    assert only(limiter(trial(observation=None), LIMITS)).status == "unknown"


# --- W3 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cpu_s", "hottest", "status"),
    [(20.0, 5.0, "pass"), (36.1, 5.0, "warn"), (9.5, 9.4, "warn"), (9.5, None, "pass")],
)
def test_a_backend_that_is_used_up(cpu_s: float, hottest: float | None, status: str) -> None:
    database = usage(label="backend-db", role="backend", cpu_s=cpu_s, busiest_thread_cpu_s=hottest)
    check = only(backend(with_usage(usage(), database), LIMITS))
    assert (check.status, check.subject, check.component) == (status, "behaviour", "backend-db")
    assert ("you measured the backend" in check.message) == (status == "warn")


def test_a_backend_that_was_not_seen_is_unknown_and_none_is_no_question() -> None:
    hidden = usage(label="backend-db", role="backend", cpu_s=None, why="it was running already")
    assert only(backend(with_usage(usage(), hidden), LIMITS)).status == "unknown"
    unseen = observation(usage(label="backend-db", role="backend"), machine=None)
    assert only(backend(trial(observation=unseen), LIMITS)).status == "unknown"
    assert list(backend(trial(), LIMITS)) == []
