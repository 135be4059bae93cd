"""W1 to W3: what each was told to have and used, what was used up, and the backend."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import plain, quiet_trial
from made.observed import LIMITS, loader, observation, only, reading, trial, usage
from made.quiet_trial import Row
from made.turns import other_slices, turns

from benchforge.checks.server import resources
from benchforge.checks.server.resources import limiter
from benchforge.checks.sizes import sizes
from benchforge.model.suite.placement import ActualPlacement
from benchforge.model.summary.summary import Comparison
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import MachineUsage, Usage
from benchforge.model.trial.reading import Load, Schedule
from benchforge.model.trial.trial import StartedProcess, Trial


def with_usage(*usages: Usage, **changed: Any) -> Trial:
    machine = changed.pop("machine", MachineUsage(cpus=4, busy_s=15.0))
    return trial(observation=observation(*usages, machine=machine), **changed)


def shared(*times: float) -> Trial:
    return with_usage(usage(process_cpu_s=times))


def idle(tool: Usage | None = None, *, trial: dict[str, Any] | None = None, **used: Any) -> Trial:
    """A trial that used up nothing, but for what is changed."""
    fields = {"cpu_s": 3.0, "busiest_thread_cpu_s": 1.5, "process_cpu_s": (1.5, 1.5)}
    quiet = loader(cpu_s=2.0, busiest_thread_cpu_s=2.0)
    return with_usage(usage(**fields | used), tool or quiet, **trial or {})


def database(**used: Any) -> Usage:
    return usage(label="backend-db", role="backend", **used)


def waits(busy_s: float, waited_s: float = 0.1, cpu_s: float = 1.0, **changed: Any) -> Trial:
    """A quiet trial that used up nothing, beside what kept the CPUs busy."""
    mine = {"cpu_s": cpu_s, "busiest_thread_cpu_s": 0.5, "cpu_wait_s": waited_s}
    same = quiet_trial.parts(server=mine, backend=mine, loader=mine)
    machine = quiet_trial.machine(busy_s=busy_s)
    return quiet_trial.trial(machine=machine, parts=same, **changed)


def taking_turns(cpu_s: float, others_s: float | None = 0.005, **changed: Any) -> Trial:
    """A trial of slices of 100 ms, of which 4 ms come after the last request was started."""
    took = other_slices(turns(*[200] * 20), cpu_s=cpu_s, foreign_cpu_s=others_s)
    return quiet_trial.trial(turns=took, **changed)


HELD: dict[str, Any] = {"cpu_s": 1.17, "busiest_thread_cpu_s": 1.1, "quota_cpus": 0.12}
HELD |= {"throttled": 98}
OUTSIDE = {"cpu_s": None, "why": "it was running already"}
STARTED: dict[str, Any] = {"environment": {}, "stdout": "a.out", "stderr": "a.err"}
STARTED |= {"exit_code": None, "executable": "/usr/bin/python3.12"}
PYTHON = {"processes": (StartedProcess(label="server-a", argv=("x",), **STARTED),)}
BACKEND: dict[str, Any] = {
    "processes": (StartedProcess(label="backend-db", argv=("x",), **STARTED),)
}
FOUR = {"workers": {"a": 4}}
DISK = {"machine": MachineUsage(cpus=4, busy_s=1.0, pressure={"io.some": 0.6})}
FIRST_CPU: dict[str, Any] = {"placement": ActualPlacement(cpus={"server": "0"})}
TURNS: dict[str, Any] = {"cpu_s": 9.4, "process_cpu_s": (9.4,)}

ROWS = [
    Row("W1", trial(), "pass behaviour", says="0.95 CPUs with 2 busy threads, told to have 2"),
    *(Row("W1", shared(*times), "pass behaviour") for times in ((5.0, 5.0, 0.0), (5.9, 4.0, 0.0))),
    *(Row("W1", shared(*times), "warn behaviour") for times in ((7.0, 4.0, 0.0), (9.5, 0.0, 0.0))),
    *(Row("W1", shared(*times), "unknown behaviour") for times in ((0.15, 0.05, 0.0), ())),
    # Which processes are workers is not always known.
    Row("W1", trial(workers={"a": 8}), "unknown behaviour", says="3 processes"),
    Row("W1", with_usage(usage(process_cpu_s=(9.5,)), **FOUR), "pass behaviour"),
    Row("W1", trial(workers={}), "pass behaviour"),
    Row("W1", with_usage(usage(cpu_s=None, why="hidden")), "unknown behaviour", says="hidden"),
    Row("W1", trial(observation=None), "unknown behaviour"),
    Row("W2", idle(), "warn behaviour", says="unexplained limit"),
    Row("W2", idle(trial=FOUR, **TURNS), "warn behaviour"),
    *(
        Row("W2", item, "pass behaviour", says=f"used up: {says}")
        for item, says in (
            (idle(cpu_s=18.1), "CPUs of server-a ("),  # of two workers
            (idle(trial=FIRST_CPU, cpu_s=9.2), "CPUs of server-a ("),
            (idle(busiest_thread_cpu_s=9.6), "a thread of server-a ("),
            (idle(trial=FOUR | PYTHON, **TURNS), "a Python process of server-a"),
            (idle(loader(busiest_thread_cpu_s=9.9)), "a thread of loader-w"),
            (idle(database(cpu_s=37.0, busiest_thread_cpu_s=5.0)), "backend-db"),
            (idle(trial=DISK), "waiting for the disk"),
            (idle(**HELD), "the quota of 0.12 CPUs of server-a, which stopped it 98 times"),
            # What the trial itself used of all CPUs.
            (waits(39.9, cpu_s=12.5), "all CPUs together"),
        )
    ),
    # Others at work explain no limit, unless the trial had to wait for them.
    *(Row("W2", waits(*busy), "warn behaviour") for busy in ((4.0, 0.1), (39.9, 0.1), (4.0, 0.5))),
    Row("W2", waits(39.9, 0.5), "unknown behaviour", says="give it a quiet machine"),
    # Programs that are timed one after the other use up nothing.
    Row("W2", waits(4.0, reading=plain.reading(process_s=(0.1, 0.1))), "pass behaviour"),
    Row("W2", idle(trial={"load": {"connections": 1}}), "pass behaviour", says="at a time"),
    Row("W2", idle(trial={"reading": reading(schedule=Schedule(rate=3000))}), "warn behaviour"),
    Row("W2", idle(cpu_s=None), "unknown behaviour"),
    Row("W2", trial(observation=None), "unknown behaviour"),
    Row("W2:waits", taking_turns(0.072), "warn behaviour", 0.75, "waited for the load tool"),
    Row("W2:waits", taking_turns(0.092, **FIRST_CPU), "pass behaviour", 0.958),
    *(
        Row("W2:waits", item, "unknown behaviour", says="always busy is not known")
        for item in (taking_turns(0.092), taking_turns(0.092, **FIRST_CPU, **BACKEND))
    ),
    *(
        Row("W2:waits", taking_turns(0.072, others_s), "unknown behaviour", says="others used CPUs")
        for others_s in (0.011, None)
    ),
    Row("W2", taking_turns(0.01, load={"connections": 1}), "pass behaviour", says="at a time"),
    *(
        Row("W3:backend-db", with_usage(usage(), database(**used)), f"{status} behaviour")
        for status, used in (
            ("pass", {"cpu_s": 20.0, "busiest_thread_cpu_s": 5.0}),
            ("warn", {"cpu_s": 36.1, "busiest_thread_cpu_s": 5.0}),
            ("warn", {"cpu_s": 9.5, "busiest_thread_cpu_s": 9.4}),
            ("pass", {"cpu_s": 9.5, "busiest_thread_cpu_s": None}),
            ("warn", HELD),
            ("unknown", OUTSIDE),
        )
    ),
    Row("W3", trial(observation=observation(database(), machine=None)), "unknown behaviour"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.check}-{row.outcome}")
def test_resources(row: Row) -> None:
    row.holds()


def test_w2_asks_no_limit_of_a_rate_and_w3_nothing_without_a_backend() -> None:
    """A load that is not to be faster has no limit: at a rate, and of users who think."""
    thinks = Load(connections=16, concurrency=16, declared_s=10, think_s=0.1)
    for item in (
        idle(trial={"reading": reading(schedule=Schedule(rate=2000))}),
        waits(4.0, load=thinks),
    ):
        assert list(limiter(item, LIMITS)) == []
    assert list(resources.backend(trial(), LIMITS)) == []


@given(st.floats(0.001, 0.095), st.floats(0.001, 0.095))
def test_w2_in_turns_has_the_size_of_the_utilization_law(first: float, second: float) -> None:
    def of(name: str, cpu_s: float, **changed: Any) -> Trial:
        item = taking_turns(cpu_s, case=plain.named(name), **FIRST_CPU | changed)
        return item.model_copy(update={"checks": tuple(resources.in_turns(item, LIMITS))})

    trials = [of("a", first), of("b", second)]
    names = tuple(item.case for item in trials)
    comparison = Comparison(scenario="s", driver="w", vary={}, cases=names, checks=())
    size = sizes(comparison, trials, ()).by_id.get("W2")
    if min(first, second) / 0.096 < 0.85:
        assert size == pytest.approx(
            max(first, second) / min(first, second) - 1, rel=1e-3, abs=0.002
        )
    else:
        assert size is None
    wide = {"placement": ActualPlacement(cpus={"server": "0-1"})}  # two threads, each half busy
    assert "W2" not in sizes(comparison, [of("a", first, **wide), trials[1]], ()).by_id


def side(name: str, n: int | None, cpu_s: float | None = 9.5, *, declared: bool = False) -> Trial:
    workers = {} if n is None else {name: n}
    observed = observation(usage(cpu_s=cpu_s))
    says = (name,) if declared else ()
    return trial(server=name, observation=observed, workers=workers, workers_declared=says)


def between(*sides: Trial) -> dict[str, Check]:
    checks = resources.of_comparison([[side] for side in sides], LIMITS)
    return {item.component: item for item in checks}


def test_w1_fails_for_different_budgets_unless_the_suite_says_them() -> None:
    assert between(side("a", 2), side("b", 2))["told"].status == "pass"
    silent = between(side("a", 2, declared=True), side("b", 4))["told"]
    assert silent.status == "fail"
    assert "does not say so of b" in silent.message
    load = between(side("a", 2, declared=True), side("b", 4, declared=True))["told"]
    assert load.status == "pass"
    assert between(side("a", 2), side("b", None))["told"].status == "unknown"


def test_w1_of_sides_that_used_other_shares_of_the_machine() -> None:
    used = [between(side("a", 2), side("b", 2, cpu_s))["used"] for cpu_s in (11.8, 11.9, None)]
    assert [check.status for check in used] == ["pass", "warn", "unknown"]
    assert between(side("a", 2, 0.0), side("b", 2))["used"].status == "unknown"
    assert only(resources.of_comparison([[], []], LIMITS)).status == "unknown"


@given(st.lists(st.floats(0.1, 100), min_size=2, max_size=5))
def test_w1_compares_the_least_use_and_the_most(cpu_s: list[float]) -> None:
    check = between(*(side(f"s{n}", 2, item) for n, item in enumerate(cpu_s)))["used"]
    apart = max(cpu_s) / min(cpu_s) - 1
    assert check.value == pytest.approx(apart, rel=1e-5, abs=1e-9)
    if abs(apart - 0.25) > 1e-9:
        assert check.status == ("warn" if apart > 0.25 else "pass")
