"""Checks of the machine: its clock, heat and memory, what others took, and who shares CPUs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import (
    LIMITS,
    Row,
    altered,
    asked,
    at_least_as_bad,
    header,
    ids,
    machine,
    observation,
    only,
    parts,
    rows,
    trial,
    usage,
)

from benchforge.checks import ask
from benchforge.checks.machine import clock, noise
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import Foreign
from benchforge.model.trial.trial import Trial

OWN_S = 15.02  # what the three parts and the sampler used
CPU_S = 40.0
NEIGHBOUR = {"machine": machine(busy_s=OWN_S + 0.66 * CPU_S)}
QUIET = {"pswpin": 0, "pswpout": 0, "oom_kill": 0}
SET = "whether the clock was set: "


ROWS = [
    *rows("T2", "machine.clock_step_s", (0.0, "pass", 0), (-0.0009, "pass", 0.0009)),
    *rows("T2", "machine.clock_step_s", (0.001, "warn", 0.001), (-0.001, "warn", 0.001)),
    *rows("T2", "machine.clock_step_s", (0.049, "warn"), (-0.05, "fail"), (0.05, "fail", 0.05)),
    *rows("T2", "machine.clock_step_s", (None, "unknown", None, SET)),
    *rows("T2", "machine", (None, "unknown", None, SET)),
    *rows("T3", "machine.longest_gap_s", (0.3, "pass"), (0.9, "warn"), (1.6, "fail")),
    *rows("T3", "machine.longest_gap_s", (None, "unknown")),
    *rows("T3", "machine", (None, "unknown")),
    *rows("F1", "machine.overheated", (0, "pass"), (3, "fail", 3), (None, "unknown")),
    *rows("F1", "machine", (None, "unknown")),
    *rows("F2", "machine.frequency_mhz", ((2990, 3000, 3010), "pass"), (None, "unknown")),
    *rows("F2", "machine.frequency_mhz", ((2900, 3000, 3040), "pass"), ((0, 0, 0), "unknown")),
    *rows("F2", "machine.frequency_mhz", ((2800, 3000, 3100), "warn")),
    *rows("M1:", "machine.paging", (QUIET, "pass"), ({}, "unknown"), ({"pswpin": 0}, "unknown")),
    *rows("M1:", "machine.paging", (QUIET | {"pswpin": 1}, "fail")),
    *rows("M1:", "machine.paging", (QUIET | {"pswpout": 1}, "fail")),
    *rows("M1:", "machine", (None, "unknown")),
    *rows("M1:flask", "server.major_faults", (0, "pass", 0), (9, "pass", 9), (10, "warn", 10)),
    *rows("M1:flask", "server.major_faults", (10**6, "warn", 10**6), (None, "unknown")),
    *rows("M2", "machine.paging", (QUIET, "pass"), (QUIET | {"oom_kill": 1}, "fail")),
    *rows("M2", "machine", (None, "unknown")),
    *rows("M3:flask", "server.memory_growth", (-0.3, "pass behaviour"), (0.09, "pass behaviour")),
    *rows("M3:flask", "server.memory_growth", (0.1, "warn behaviour"), (2.0, "warn behaviour")),
    *rows("M3:flask", "server.memory_growth", (None, "unknown behaviour")),
    # 4 % when quiet, 66 % beside a neighbour.
    *rows("N1", "machine.busy_s", (OWN_S, "pass", 0), (OWN_S + 0.04 * CPU_S, "pass", 0.04)),
    *rows("N1", "machine.busy_s", (OWN_S + 0.06 * CPU_S, "warn", 0.06)),
    *rows("N1", "machine.busy_s", (OWN_S + 0.66 * CPU_S, "fail", 0.66)),
    *rows("N1", "machine.busy_s", (None, "unknown", None, "how busy")),
    *rows("N1", "machine", (None, "unknown", None, "not what the machine did")),
    *rows("N1", "server.cpu_s", (None, "unknown", None, "what flask used is not known")),
    # Our own parts are never foreign.
    *rows("N1", "server.cpu_s", (25.0, "pass", 0), machine=machine(busy_s=35.0)),
    # 0.02 to 0.03 s when quiet, 0.33 to 0.55 s beside a neighbour.
    *rows("N2:flask", "server.cpu_wait_s", (0.3, "pass"), (3.3, "fail"), **NEIGHBOUR),
    *rows("N2:flask", "server.cpu_wait_s", (5.5, "fail"), **NEIGHBOUR),
    *rows("N2:flask", "server.cpu_wait_s", (0.3, "pass"), placement=None),
    *rows("N2:flask", "server.cpu_wait_s", (None, "unknown"), (0.8, "warn", 0.08)),
    *rows("N4", "machine.stolen_s", (0.0, "pass"), (0.1, "pass"), (0.24, "warn"), (0.8, "fail")),
    *rows("N4", "machine.stolen_s", (None, "unknown")),
    *rows("N4", "machine.stolen_s", (0.0, "unknown"), (0.5, "fail"), seconds=1.0),  # in ticks
    *rows("N5", "machine.throttled", (0, "pass"), (1, "fail")),
    *rows("N5", "machine", (None, "unknown")),
    # 13 to 71 on a core of one's own, 4,237 to 7,672 on the same one.
    *rows("P2:flask", "server.involuntary_switches", (130, "pass", 13), **NEIGHBOUR),
    *rows("P2:flask", "server.involuntary_switches", (3_420, "pass", 342), **NEIGHBOUR),
    *rows("P2:flask", "server.involuntary_switches", (37_000, "warn", 3_700), **NEIGHBOUR),
    *rows("P2:flask", "server.involuntary_switches", (76_720, "fail", 7_672), **NEIGHBOUR),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.check}-{row.outcome}")
def test_a_quiet_trial_of_which_one_thing_is_changed(row: Row) -> None:
    row.holds()


@pytest.mark.parametrize(
    ("id_", "field", "values"),
    [
        ("M3:flask", "server.memory_growth", st.floats(-1, 10)),
        ("P2:flask", "server.involuntary_switches", st.integers(0, 10**6)),
        ("L5", "loader.cpu_wait_s", st.floats(0, 20)),
    ],
)
@given(st.data())
def test_more_is_never_better(
    id_: str, field: str, values: st.SearchStrategy[float], data: st.DataObject
) -> None:
    less, more = (altered(field, n) for n in sorted(data.draw(st.tuples(values, values))))
    assert at_least_as_bad(asked(more, *id_.split(":")), asked(less, *id_.split(":")))


@pytest.mark.parametrize(
    ("id_", "facts", "status", "says"),
    [
        *(("T1", {"clocksource": name}, "pass", name) for name in ("tsc", "kvm-clock")),
        ("T1", {"clocksource": "hyperv_clocksource_tsc_page"}, "pass", ""),
        ("T1", {"clocksource": "arch_sys_counter"}, "pass", ""),
        *(("T1", {"clocksource": name}, "fail", "slow") for name in ("hpet", "refined-jiffies")),
        *(("T1", {"clocksource": name}, "unknown", "") for name in (None, "")),
        ("F3", {}, "pass", "performance"),
        ("F3", {"governor": "powersave"}, "warn", "the governor is powersave"),
        ("F3", {"boost": "1"}, "warn", "turbo"),
        ("F3", {"boost": None, "no_turbo": "0"}, "warn", "turbo"),
        ("F3", {"boost": None, "no_turbo": "1"}, "pass", "no turbo"),
        ("F3", {"boost": None}, "unknown", "turbo is not told"),
        ("F3", {"mains": False}, "warn", "on battery"),
        ("F3", {"mains": True, "power_profile": "performance"}, "pass", "performance"),
        ("F3", {"power_profile": "quiet"}, "warn", "its power profile is quiet"),
        ("F3", {"governor": None}, "unknown", "the governor is not told"),
        ("F3", {"governor": None, "virtual": True}, "unknown", "guest"),
        *(("N6", {"load_average": [n, 0, 0]}, "pass", "") for n in (0.7, 1.9)),
        ("N6", {"load_average": [2.1, 0, 0]}, "warn", "an earlier run"),
        ("N6", {"load_average": None}, "unknown", ""),
        ("N6", {"load_average": []}, "unknown", ""),
        ("N6", {"cpus_usable": None}, "unknown", "the number of CPUs"),
    ],
)
def test_facts_of_the_machine(id_: str, facts: dict[str, Any], status: str, says: str) -> None:
    check = only(ask.of_session(header(**facts), (), LIMITS), id_)
    assert (check.status, check.scope, check.subject) == (status, "result", "apparatus")
    assert check.invalidates == ("latency" if id_ == "T1" else "all")
    assert says in check.message


# F2 and F4


def at(mean: float) -> Trial:
    return altered("machine.frequency_mhz", (mean, mean, mean))


@pytest.mark.parametrize(
    ("mean", "status"), [(3000, "pass"), (3059, "pass"), (3061, "warn"), (3151, "fail")]
)
def test_f2_compares_no_cases_at_other_frequencies(mean: float, status: str) -> None:
    cases = [[at(3000), at(3000)], [at(mean), at(mean)]]
    (check,) = clock.frequencies(cases, LIMITS)
    assert (check.id, check.scope, check.status) == ("F2", "comparison", status)


def test_f2_is_unknown_where_a_frequency_is() -> None:
    hidden = altered("machine.frequency_mhz", None)
    (check,) = clock.frequencies([[at(3000)], [at(3000), hidden]], LIMITS)
    assert check.status == "unknown"
    assert list(clock.frequencies([[at(3000)]], LIMITS)) == []


@given(st.floats(1, 10_000), st.floats(0.5, 2), st.floats(0.1, 10))
def test_f2_has_no_unit(mhz: float, ratio: float, scale: float) -> None:
    def value(first: float, second: float) -> float:
        (check,) = clock.frequencies([[at(first)], [at(second)]], LIMITS)
        assert check.value is not None
        return float(check.value)

    scaled = value(mhz * scale, mhz * ratio * scale)
    assert value(mhz, mhz * ratio) == pytest.approx(scaled, rel=1e-4, abs=1e-9)


def test_f4_warns_of_a_machine_that_warms_up() -> None:
    def check(*trials: Trial) -> Check:
        return only(clock.governor(header(), trials, LIMITS), "F4")

    warm = [
        trial(number=number, machine=machine(temperature_c=(first, 60.0)))
        for number, first in enumerate((45.0, 49.0, 51.0), 1)
    ]
    hidden = trial(number=9, machine=machine(temperature_c=None))
    assert (check(*reversed(warm)).status, check(*warm).value) == ("warn", 6)
    series = (check(*warm[:2]), check(*warm[:2], hidden), check(*warm, hidden), check())
    assert [item.status for item in series] == ["pass", "unknown", "warn", "unknown"]


# M, N


def test_m1_and_m3_let_the_load_tool_grow() -> None:
    item = trial(parts=parts(loader={"memory_growth": 5.0, "major_faults": 5}))
    assert {check.component for check in noise.memory(item, LIMITS)} == {"", "flask", "agents"}


def foreign(share: float, seconds: float = 10.0, **changed: Any) -> Check:
    mine = parts(**{role: {"cpu_s": 0.0} for role in ("server", "backend", "loader")})
    busy = share * 4 * seconds + 0.02
    return asked(trial(parts=mine, seconds=seconds, machine=machine(busy_s=busy, **changed)), "N1")


def test_n1_names_the_others() -> None:
    neighbours = (Foreign(program="cc1plus", cpu_s=20), Foreign(program="ld", cpu_s=6.4))
    assert foreign(0.66, foreign=neighbours).message == (
        "others used 66 % of the 4 CPUs (cc1plus 20 s and ld 6.4 s): stop them, or measure on a "
        "machine of its own"
    )


def test_n1_is_unknown_of_a_short_load_and_says_so() -> None:
    actual = foreign(0.0, seconds=0.5)
    assert actual.status == "unknown"
    assert actual.message == (
        "a load of 500 ms tells CPU time to 7.07 % only, and 5 % matter: load longer"
    )
    statuses = [foreign(share, seconds=0.5).status for share in (0.66, 0.13)]
    assert [*statuses, foreign(0.0, seconds=1.0).status] == ["fail", "warn", "pass"]


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.2, 100))
def test_n1_is_never_better_with_more_foreign_cpu(
    item: float, other: float, seconds: float
) -> None:
    less, more = sorted((item, other))
    assert at_least_as_bad(foreign(more, seconds), foreign(less, seconds))


@given(st.floats(0, 0.99), st.integers(1, 50))
def test_n1_has_the_same_share_in_a_longer_load(share: float, times: int) -> None:
    short, long = foreign(share, 10.0), foreign(share, 10.0 * times)
    assert short.value is not None
    assert long.value == pytest.approx(short.value, abs=1e-5)


@pytest.mark.parametrize(("waited", "status"), [(0.03, "pass"), (0.33, "warn"), (0.55, "warn")])
def test_n2_of_a_server_that_waits_without_a_neighbour(waited: float, status: str) -> None:
    check = asked(altered("server.cpu_wait_s", waited * 10, placement=None), "N2", "flask")
    assert check.status == status
    assert ("shares its CPUs with backend and loader" in check.message) == (status == "warn")
    # In a short load nobody knows what others used.
    short = {"seconds": 0.1, "machine": machine(busy_s=0.3), "placement": None}
    quick = altered("server.cpu_wait_s", waited * 0.1, **short)
    assert (asked(quick, "N1").status, asked(quick, "N2", "flask").status) == ("unknown", status)


def components(item: Trial, id_: str) -> list[str]:
    return [check.component for check in ask.of_trial(item, LIMITS) if check.id == id_]


def test_n2_and_p2_ask_services_and_each_busy_thread() -> None:
    waits = {"cpu_wait_s": 0.8, "involuntary_switches": 20_000, "busy_threads": 4}
    item = trial(parts=parts(server=waits))
    assert asked(item, "N2", "flask").value == 0.02
    assert asked(item, "P2", "flask").value == 500
    assert components(item, "N2") == ["flask", "agents"]
    assert components(item, "P2") == ["flask", "agents", "closed"]
    more = trial(parts=parts(server={"cpu_wait_s": 9.0}), workers={"flask": 3})  # of CPUs 0-1
    assert components(more, "N2") == ["agents"]
    few = more.model_copy(update={"workers": {"flask": 2}})
    assert asked(few, "N2", "flask").status == "warn"


@pytest.mark.parametrize(
    ("name", "label", "share", "status"),
    [
        # CPU 4.5 % when quiet, 62 to 98 % when noisy.
        *(("cpu.some", "cpu", 0.045, "pass"), ("cpu.some", "cpu", 0.62, "fail")),
        *(("cpu.some", "cpu", 0.98, "fail"), ("io.some", "io", 0.02, "warn")),
        *(("io.some", "io", 0.05, "fail"), ("memory.full", "memory", 0.002, "warn")),
        ("memory.full", "memory", 0.02, "fail"),
    ],
)
def test_n3_of_pressure(name: str, label: str, share: float, status: str) -> None:
    pressed = machine().pressure | {name: share * 10}
    noisy = machine(pressure=pressed, busy_s=OWN_S + 0.66 * CPU_S)
    check = asked(trial(machine=noisy), "N3", label)
    assert check.status == status
    assert check.value == pytest.approx(share)
    alone = asked(trial(machine=machine(pressure=pressed)), "N3", label)
    assert alone.status == ("warn" if label == "cpu" and status == "fail" else status)


def test_n3_is_unknown_without_pressure() -> None:
    item = altered("machine.pressure", {"io.some": 0.0})
    assert asked(item, "N3", "io").status == "pass"
    assert asked(item, "N3", "cpu").status == asked(item, "N3", "memory").status == "unknown"
    assert "/proc/pressure/cpu" in asked(item, "N3", "cpu").message


def test_n5_calls_a_quota_of_the_load_tool_a_fault_and_one_of_the_server_not() -> None:
    assert "N5" not in ids(altered("machine.throttled", None))
    stopped = {"quota_cpus": 0.5, "throttled": 3}
    of_trial = ask.of_trial(trial(parts=parts(loader=stopped)), LIMITS)
    actual = [check for check in of_trial if check.id == "N5"]
    assert [(item.status, item.component) for item in actual] == [("fail", "closed"), ("pass", "")]
    assert asked(trial(parts=parts(server=stopped)), "N5").status == "pass"


def test_n1_names_what_belongs_to_no_part_and_blames_no_others() -> None:
    noisy = observation(machine=machine(busy_s=25.0))
    assert asked(trial(observation=noisy), "N1").status == "fail"
    check = asked(trial(observation=noisy.model_copy(update={"unassigned_cpu_s": 9.5})), "N1")
    assert check.status == "pass"
    assert "processes of the trial that belong to no part 9.5 s" in check.message


def test_n1_and_n2_are_unknown_where_a_part_runs_elsewhere() -> None:
    unseen = dict.fromkeys(("cpu_s", "cpu_wait_s", "involuntary_switches"))
    outside = usage("running", "server", **unseen, why="it was running already")
    item = trial(parts=(outside, usage("closed", "loader")))
    assert asked(item, "N1").status == asked(item, "N2", "running").status == "unknown"
    check = asked(item, "P2", "running")
    assert (check.status, check.value) == ("unknown", None)
    assert check.message.endswith("not known: it was running already")
