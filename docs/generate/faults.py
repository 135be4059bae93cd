"""A fault for each check, planted in recorded results: whether the check finds it, in each way.

A fault changes what was recorded of trials, of those of one case alone where cases are compared.
"""

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from benchforge.model.trial.histogram import Histogram
from benchforge.stats.turns import order, probe_lengths

Result = dict[str, Any]
_MUCH, _MANY = 1e3, 10**9


class Fault(NamedTuple):
    """What is changed in a recorded result."""

    paths: Mapping[str, Any]
    "New values in each trial by their places; a function gets the trial and the value before."
    compared: bool = False
    "True if only the trials of the first case of a scenario change."
    others: Mapping[str, Any] = MappingProxyType({})
    "New values in the trials of all other cases then."


def _share(times: float) -> Callable[[Any, Any], int]:
    return lambda _, value: round(value * times)


def _rates(times: Callable[[Any], float], *, compared: bool = True) -> Fault:
    """Return that trials have so many times their responses."""
    names = ("responses", "good_at_least", "good_at_most")
    paths = {f"reading.{name}": lambda trial, n: round(n * times(trial)) for name in names}
    return Fault(paths, compared=compared)


def _by_round(times: Callable[[Any, int], float]) -> Mapping[str, Any]:
    """Return that slices have so many times their responses, by the trial and the round."""

    def changed(trial: Any, slices: Any) -> Any:
        for number, piece in enumerate(slices):
            piece["responses"] = round(piece["responses"] * times(trial, number))
        return slices

    return {"turns.slices": changed}


def _without_cpu(_: Any, slices: Any) -> Any:
    return [piece | {"cpu_s": 0.0, "foreign_cpu_s": 0.0} for piece in slices]


def _place(trial: Any, number: int) -> float:
    turns = trial["turns"]
    orders = [*order(turns["seed"], len(turns["trials"]), turns["rounds"])]
    return 2.0 ** orders[number].index(turns["trials"].index(trial["number"]))


def _timers(trial: Any, _: Any) -> Any:
    slice_s = trial["turns"]["slice_s"]
    return [
        {"slice_s": length_s, "seconds": length_s, "responses": round(_MUCH * (length_s + slice_s))}
        for length_s in [*probe_lengths(slice_s)][1:]
    ]


def _seconds(trial: Any, _: Any) -> float:
    return float(trial["turns"]["frozen_s"])


def _uneven_kinds(_: Any, kinds: Any) -> Any:
    for kind in [*kinds.values()][:1]:
        kind["responses"] *= 10
    return kinds


def _warming(_: Any, completed: Sequence[int]) -> list[int]:
    return [round(count * (1 + 3 * n / len(completed))) for n, count in enumerate(completed)]


def _near(result: Any, ceilings: Any) -> Any:
    """Return ceilings that are what a trial with the same load tool made."""
    for ceiling in ceilings:
        trial = ceiling["trial"]
        digest, readings = trial["driver_digest"], result["trials"]
        readings = [item["reading"] for item in readings if item["driver_digest"] == digest]
        rates = [reading["responses"] / reading["seconds"] for reading in readings]
        trial["reading"]["responses"] = round(max(rates) * trial["reading"]["seconds"])
    return ceilings


def _pressure(_: Any, __: Any) -> Any:
    return {"cpu.some": _MUCH, "io.some": _MUCH, "memory.full": _MUCH}


_IDLE = {"cpu_s": 1e-3, "busiest_thread_cpu_s": 1e-3, "process_cpu_s": []}
_SLOW: Final = Histogram.of({1000: 1000, 5_000_000: 5}).model_dump(mode="json")
_LATE: Final = Histogram.of({1000: 100, 41_000: 900}).model_dump(mode="json")
_SERVER, _LOADER = "observation.usage[server].", "observation.usage[loader]."
FAULTS: Mapping[str, Fault] = {
    "D1": Fault({f"{_SERVER}development_signs": ["debug: --reload"]}),
    "D2": Fault({f"{_SERVER}development_signs": ["instrument: TracerPid 7"]}),
    "D3": Fault({f"{_SERVER}printed_bytes": _MANY}, compared=True),
    "D4": Fault({"processes.*.executable": "/opt/python2.7/bin/python2.7"}),
    "D5": Fault({"reading.method": "another"}),
    "E1": Fault(
        {f"reading.good_at_{end}": _share(0.5) for end in ("least", "most")}, compared=True
    ),
    "E2": Fault({"reading.errors.timeout": _MANY}),
    "E3": Fault({"probes.wrong": {"expected status 200, got 503": 7}}),
    "E3 comparison": Fault({"probes.most_frequent.*.answer.status": 503}, compared=True),
    "E4": Fault({"probes.most_frequent.*.answer.header_bytes": 9999}, compared=True),
    "E5": Fault({"load.options_digest": "another"}, compared=True),
    "E6": Fault(
        {
            "load_answers.load.wrong": lambda trial, _: trial["load_answers"]["load"]["judged"],
            "monitor.wrong": lambda trial, _: trial["monitor"]["moments"],
        }
    ),
    "E6 comparison": Fault({"load_answers": None, "monitor": None}),
    "E7": Fault({"reading.sampled.*.wrong": "another body"}),
    "G1": Fault({"fingerprint": "another"}),
    "H2": Fault({"header.hosts.load.facts.cpu": "another"}),
    "H3": Fault({"hosts.*.sent_bytes": _MANY, "hosts.*.received_bytes": _MANY}),
    "H4": Fault({"hosts.*.links.*.bytes_per_s": 1.0}),
    "H5": Fault({"hosts.*.clock_moved_s": _MUCH}),
    "H6": Fault({"hosts.load.started_s": _MUCH}),
    "H8": Fault({f"hosts.*.{_LOADER}busiest_thread_cpu_s": _MUCH}),
    "I1": Fault({"turns.frozen_cpu_s": _seconds}),
    "I2": Fault(
        {"turns.slices.*.foreign_cpu_s": _MUCH},
        compared=True,
        others={"turns.slices.*.foreign_cpu_s": 0.0},
    ),
    "I3": Fault({"turns.slices.*.drained_s": _MUCH}),
    "I4": Fault(_by_round(_place)),
    "I5": Fault(_by_round(lambda _, number: 1.1**number), compared=True),
    "I6": Fault(_by_round(lambda _, number: number % 2)),
    "I8": Fault(
        {"reading.responses": lambda trial, count: count * (1 if trial["turns"] else 3)},
        compared=True,
    ),
    "I9": Fault(
        {
            "turns.slices.*.cpu_s": 0.0,
            "turns.slices.*.loader_cpu_s": 0.0,
            "turns.slices.*.responses": _share(0.2),
            "turns.cpu_wait_s": 0.0,
            "turns.probed": _timers,
        }
    ),
    "K1": Fault(
        {"observation.counters.TcpPassiveOpens": _MANY, "reading.connections": _MANY},
        compared=True,
    ),
    "K2": Fault({"observation.counters.TcpExtListenOverflows": 9}),
    "K3": Fault({"observation.counters.TcpExtTCPTimeouts": 9}),
    "K4": Fault(
        {
            "observation.counters.TcpExtDelayedACKs": _MANY,
            "reading.latency": _LATE,
            "reading.service_time": _LATE,
        },
    ),
    "K5": Fault(
        {"exhaustions": [{"resource": "ports", "label": "loader", "line": "EADDRNOTAVAIL"}]}
    ),
    "K6": Fault({"observation.usage.*.open_files_limit": 1}),
    "K7": Fault({"listener.is_server": False}),
    "L1": Fault({f"{_LOADER}busiest_thread_cpu_s": _MUCH, f"{_LOADER}cpu_s": _MUCH}),
    "L2": Fault({"ceilings": _near}),
    "L3": Fault({"reading.seconds": lambda _, seconds: seconds / 10}),
    "L4": Fault({"reading.schedule.sent": _share(0.5)}),
    "L5": Fault({f"{_LOADER}cpu_wait_s": _MUCH}),
    "M1": Fault({"observation.machine.paging.pswpin": 9}),
    "M2": Fault({"observation.machine.paging.oom_kill": 9}),
    "M3": Fault({f"{_SERVER}memory_growth": 9.0}),
    "N1": Fault({"observation.machine.busy_s": _MUCH}),
    "N2": Fault({f"{_SERVER}cpu_wait_s": _MUCH}),
    "N3": Fault({"observation.machine.pressure": _pressure}),
    "N4": Fault({"observation.machine.stolen_s": _MUCH}),
    "N6": Fault({"header.facts.load_average": [99.0, 99.0, 99.0]}),
    "O1": Fault({"reading.latency": _SLOW}),
    "P1": Fault(
        {
            "placement": None,
            "hosts.*.observation.usage": lambda trial, usage: [
                *usage,
                *trial["observation"]["usage"],
            ],
        }
    ),
    "P1 result": Fault({"header.hosts.*.facts.boot": "one"}),
    "P2": Fault({"observation.usage.*.involuntary_switches": _MANY}),
    "R1": Fault({"reading.kinds": _uneven_kinds}),
    "R2": Fault({"reading.records_taken": [1]}),
    "S1": Fault({"reading.series.completed": _warming}),
    "S2": Fault({"reading.latency": None, "reading.latency_samples": 5}),
    "S3": Fault({"block": 1}, compared=True),
    "S4": _rates(lambda trial: 3 if trial["case"]["placebo"] else 1, compared=False),
    "S5": _rates(lambda trial: 1 + 2 * (trial["block"] % 2)),
    "S6": _rates(lambda trial: 9 if trial["block"] in {2, 4} else 1),
    "S7": Fault({f"{_SERVER}ended_processes": 1, f"{_SERVER}new_processes": 1}),
    "S8": _rates(lambda trial: math.exp(trial["block"])),
    "T1": Fault({"header.facts.clocksource": "hpet"}),
    "T2": Fault({"observation.machine.clock_step_s": 9.0}),
    "T3": Fault({"observation.machine.longest_gap_s": _MUCH}),
    "W1": Fault(
        {
            "workers": lambda trial, _: {trial["case"]["server"]: 4},
            "workers_declared": [],
            f"{_SERVER}process_cpu_s": [9.0, 1.0, 1.0, 1.0],
            f"{_SERVER}cpu_s": _MUCH,
        },
        compared=True,
    ),
    "W2": Fault(
        {
            **{f"observation.usage.*.{name}": value for name, value in _IDLE.items()},
            "observation.machine.pressure": {},
            "observation.machine.busy_s": 0.1,
            "turns.slices": _without_cpu,
        }
    ),
    "W3": Fault({"observation.usage[backend].busiest_thread_cpu_s": _MUCH}),
    "W4": Fault({"encryption.store": "tls"}, compared=True),
    "W5": Fault({"observation.after": {"cpu_s": _MUCH, "seconds": 2.0, "idle": False}}),
}


def fault_of(id_: str, scope: str) -> Fault | None:
    """Return the fault that a check of a scope must find."""
    return FAULTS.get(f"{id_} {scope}") or FAULTS.get(id_)


def planted_in(recorded: Mapping[str, Any], fault: Fault) -> Result:
    """Return a recorded result with a fault."""
    result = copy.deepcopy(dict(recorded))
    result["header"]["loosened_thresholds"] = {}  # those of the tests call no noise loud
    firsts: dict[str, Any] = {}
    for path, value in fault.paths.items():
        if path.startswith(("header.", "ceilings")):
            _change(result, path.split("."), value, result)
    for trial in result["trials"]:
        case = trial["case"]
        first = None if case["placebo"] else firsts.setdefault(case["scenario"], case)
        _plant(fault.others if fault.compared and case != first else fault.paths, trial)
    for ceiling in result["ceilings"]:
        _plant(fault.paths, ceiling["trial"])
    return result


def _plant(paths: Mapping[str, Any], trial: Any) -> None:
    for path, value in paths.items():
        _change(trial, path.split("."), value, trial)
        if trial["hosts"] and path.startswith("observation."):  # as each host saw it
            _change(trial, ["hosts", "*", *path.split(".")], value, trial)


def _change(parent: Any, names: Sequence[str], value: Any, trial: Any) -> None:
    """Set what is at a place, if all above it is there."""
    name, role = names[0].removesuffix("]"), ""
    name, _, role = name.partition("[")
    for key in _keys(parent, name):
        if len(names) == 1:
            previous = parent[key] if isinstance(parent, list) else parent.get(key)
            if callable(value) and previous is None:
                continue
            parent[key] = value(trial, previous) if callable(value) else copy.deepcopy(value)
        elif role:
            for item in parent[key]:
                if item["role"] == role:
                    _change(item, names[1:], value, trial)
        elif isinstance(parent, list) or parent.get(key) is not None:
            _change(parent[key], names[1:], value, trial)


def _keys(parent: Any, name: str) -> Iterable[Any]:
    if name != "*":
        return [name]
    return [*range(len(parent))] if isinstance(parent, list) else [*parent]
