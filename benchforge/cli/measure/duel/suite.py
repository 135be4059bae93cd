"""The suite of a duel: what is asked, by which load tool, for how long, and at which rate."""

import functools
import hashlib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from benchforge.cli.measure.duel.servers import Contender, from_there, relative_to
from benchforge.cli.measure.serve.server import Served
from benchforge.cli.plugins.options import suite_in_toml
from benchforge.errors import OutputDamaged, TrialFailed
from benchforge.model.suite.until import LEAST_BLOCKS
from benchforge.model.trial.reading import Reading
from benchforge.parts.fault import reading_of, warming
from benchforge.parts.site import Output
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.machine.placement import Places, machine, places
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.trial.stages.drive import LoadToolRun, drive
from benchforge.run.trial.stages.warm_up import target_of
from benchforge.suite.plan import START_AND_STOP_S
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import SuiteErrors
from benchforge.text.readable import amount, figure, listed

_MARK = "# Written by benchforge duel. To go on with it: benchforge run FILE"
_DIGEST = "# Until it is edited, duel may replace it: "
PRECISION = 0.05
MOST, _FIT = 200, 8  # blocks: at most, and those that fit into the time
_FIRST_ANSWER_S = 50.0  # by then three blocks are measured, and three give an interval
_BLOCKS_OF_FIRST_ANSWER = 3
_LONGEST_LOAD_S = 5
_SHORTEST_S = 0.2
_STARTS_PER_LOAD = 6  # at most

SLICE: Final = "100ms"
_EACH_S, _LONGEST_S = 1.0, 1.5  # of the load of a server in a block: more blocks tell more
_ROUNDS = 6  # of slices: with fewer nobody sees whether the ratio drifts
WARMUP_S = 0.3
"Warm-up of servers that were seen to be warm then, in seconds."
_REQUESTS = 50  # in a slice
_ENDS = 0.1  # of a slice, in which the last requests are answered
_SHORTEST_SLICE_MS, _LONGEST_SLICE_MS, _STEP_MS = 100, 300, 50
_TOGETHER = 0.5  # of the time of their starts one after the other
_STILL_S = 0.5  # that a server may stand still: half of what the run allows


@dataclass(frozen=True)
class Question:
    """What the servers of a duel are asked, and how."""

    method: str = "GET"
    path: str = "/"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    status: int = 200
    connections: int = 16
    rate: str | None = None
    keep_alive: bool = True
    "False for a connection of its own for each request."
    backends: Mapping[str, str | None] = field(default_factory=dict)
    "Datasets by kind of backend; None for no data."
    time_s: float = 180.0
    "Limit of the measurement, in seconds."
    within: float = PRECISION
    "Share to a side of each ratio, at which the measurement ends."
    start_s: float = START_AND_STOP_S
    "Time to start and stop a server, in seconds: the mean of all."
    warm: bool = False
    "True if all servers were seen to reach their rate in a short warm-up."
    wrk: bool = False
    "True if wrk is there, and may send the load."
    right: Tables = field(default_factory=dict)
    "Keys of `expect` in which the first answers agree."
    judged: str = ""
    "Names of these keys."


@dataclass(frozen=True)
class TrialTimes:
    """How long a trial lasts, and how many blocks there can be. All times in seconds."""

    warmup_s: float
    load_s: float
    blocks: int

    @property
    def whole(self) -> bool:
        """True if the times are whole seconds: some load tools take no others."""
        return self.load_s.is_integer() and self.warmup_s.is_integer()


def trial_times(servers: int, time_s: float, start_s: float = START_AND_STOP_S) -> TrialTimes:
    """Return the times of a trial so that eight blocks fit, and the first answer comes early.

    A trial has a fifth of its time for the warm-up, the rest for the load: whole seconds, where it
    has two or more. A load takes a sixth of the time to start and stop or more, even if fewer
    blocks fit: shorter ones would leave most of the time to starts. There are as many blocks as
    begin in the time, at least three: an interval takes no fewer.
    """
    each_s = min(time_s / (_FIT * servers), _FIRST_ANSWER_S / (_BLOCKS_OF_FIRST_ANSWER * servers))
    free_s = each_s - start_s
    if free_s >= 2:  # noqa: PLR2004 - a second each
        warmup_s = float(max(1, math.floor(free_s / 5)))
        load_s = float(min(_LONGEST_LOAD_S, math.floor(free_s - warmup_s)))
    else:
        warmup_s = round(max(_SHORTEST_S, free_s / 4), 1)
        load_s = round(max(_SHORTEST_S, free_s * 3 / 4, start_s / _STARTS_PER_LOAD), 1)
    block_s = servers * (warmup_s + load_s + start_s)
    return TrialTimes(warmup_s, load_s, blocks_in(time_s, block_s))


def blocks_in(time_s: float, block_s: float) -> int:
    """Return the number of blocks for a time: those that fit, and the last begins in it."""
    fit = math.floor(time_s / block_s)
    begin = fit if fit < LEAST_BLOCKS else math.ceil(time_s / block_s)
    return min(MOST, max(_BLOCKS_OF_FIRST_ANSWER, begin))


def repeated(blocks: int, within: float = PRECISION) -> Tables:
    """Return how often: until the precision, or, where `until` has too few blocks, a number."""
    if blocks < LEAST_BLOCKS:
        return {"blocks": blocks}
    return {"until": f"{100 * within:g}%", "between": [LEAST_BLOCKS, blocks]}


def too_short(servers: int, question: Question) -> str:
    """Return that the time is too short for an interval, and which is not; empty if it is not."""
    times = trial_times(servers, question.time_s, question.start_s)
    block_s = servers * (times.warmup_s + times.load_s + question.start_s)
    if question.time_s >= _BLOCKS_OF_FIRST_ANSWER * block_s:
        return ""
    least_s = math.ceil(_BLOCKS_OF_FIRST_ANSWER * block_s)
    return (
        f"--time {question.time_s:g}s is too short: an interval takes {_BLOCKS_OF_FIRST_ANSWER} "
        f"blocks, about {least_s} s for {servers} servers; a useful one takes a minute or more"
    )


def tables_of(servers: Mapping[str, Contender], question: Question, folder: Path) -> Tables:
    """Return the suite of a duel, for a file in `folder`."""
    times = trial_times(len(servers), question.time_s, question.start_s)
    request: Tables = {"method": question.method, "path": question.path}
    if question.headers:
        request["headers"] = dict(question.headers)
    if question.body is not None:
        request["body"] = question.body
    expect: Tables = {"status": question.status, **question.right}
    scenario: Tables = {
        **({"title": f"judged by {question.judged}"} if question.judged else {}),
        "request": request,
        "servers": [*servers],
        "loaders": ["load"],
        "expect": expect,
    }
    backends: Tables = {
        kind: {"use": kind} if dataset is None else {"use": kind, "dataset": _data(dataset, folder)}
        for kind, dataset in question.backends.items()
    }
    if backends:
        scenario["backends"] = [*backends]
    closed = "" if question.keep_alive else ", a connection for each request"
    return {
        "benchforge": 1,
        "name": "duel",
        "title": f"{listed([*servers])}: {question.method} {question.path}{closed}",
        **({"backends": backends} if backends else {}),
        "servers": {label: relative_to(folder, server.table) for label, server in servers.items()},
        "loaders": {"load": _load(question, times)},
        "scenarios": {"duel": scenario},
        "repeat": {**repeated(times.blocks, question.within), "warmup": _seconds(times.warmup_s)},
    }


def text(tables: Tables) -> str:
    """Return the suite as TOML."""
    written = suite_in_toml(tables)
    return f"{_MARK}\n{_DIGEST}{_digest(written)}\n{written}"


def why_kept(content: str) -> str:
    """Return why duel may not replace a file with this content; empty if it wrote all of it."""
    first, _, rest = content.partition("\n")
    digest, _, written = rest.partition("\n")
    if first != _MARK:
        return "it was not written by duel"
    return "" if digest == f"{_DIGEST}{_digest(written)}" else "it was edited"


def _digest(written: str) -> str:
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def described(servers: Mapping[str, Contender]) -> Sequence[str]:
    """Return a line for each server: its label, and what was given; and what {python} is."""
    lines = [f"{label}: {server.given}" for label, server in servers.items()]
    if any("{python}" in value.given for value in servers.values()):
        lines.append(f"{{python}} is {sys.executable}: for another one, write its path instead")
    return lines


def _load(question: Question, times: TrialTimes) -> Tables:
    """Return the load tool: wrk where it can do it, since pace is at its limit sooner."""
    wrk = question.wrk and question.keep_alive and question.rate is None and times.whole
    load: Tables = {
        "use": "wrk" if wrk else "pace",
        "connections": question.connections,
        "duration": _seconds(times.load_s),
    }
    if not question.keep_alive:
        load["keep_alive"] = False
    return load if question.rate is None else {**load, "rate": question.rate}


def _data(dataset: str, folder: Path) -> str:
    """Return the name of a built-in dataset as it is, a path, which has a slash, as in `folder`."""
    if "/" not in dataset:
        return dataset
    path = from_there(dataset, folder)
    return path if "/" in path else f"./{path}"


def _seconds(seconds: float) -> str:
    return f"{seconds:g}s"


def too_slow(seconds: Mapping[str, float]) -> str:
    """Return which server is too slow to take turns, by the seconds of its answer; empty if none.

    In the slices of all others a server stands still, and a slice has fifty requests.
    """
    others = len(seconds) - 1
    slow = [label for label, taken in seconds.items() if taken * _REQUESTS * others > _STILL_S]
    return f"{slow[0]} is too slow for short slices" if slow else ""


def slice_of(servers: int, connections: int, answer_s: float) -> int:
    """Return the length of a slice in milliseconds, by the seconds of the slowest server's answer.

    Each connection has a request under way when a slice ends, and the server answers them one after
    the other. A longer slice keeps that part small. No server stands still for longer than the run
    allows, which is twice as long as `_STILL_S`.
    """
    wanted_ms = 1000 * connections * answer_s / _ENDS
    most_ms = min(_LONGEST_SLICE_MS, 1000 * _STILL_S / max(1, servers - 1))
    steps = min(math.ceil(wanted_ms / _STEP_MS), math.floor(most_ms / _STEP_MS))
    return max(_SHORTEST_SLICE_MS, steps * _STEP_MS)


def in_turns(tables: Tables, question: Question, slice_ms: int) -> Tables:
    """Return the table [repeat] with turns: as many blocks as fit."""
    servers, time_s = len(as_table(tables["servers"])), question.time_s
    times = trial_times(servers, time_s, question.start_s)
    warmup_s = min(WARMUP_S, times.warmup_s) if question.warm else times.warmup_s
    each_s = min(max(_EACH_S, _ROUNDS * slice_ms / 1000), _LONGEST_S, times.load_s)
    slice_ms = max(_SHORTEST_SLICE_MS, min(slice_ms, math.floor(1000 * each_s / 2)))
    block_s = servers * (warmup_s + each_s + _TOGETHER * question.start_s)
    return {
        "repeat": {
            **repeated(blocks_in(time_s, block_s), question.within),
            "warmup": _seconds(warmup_s),
            "interleave": f"{slice_ms}ms",
            "each": f"{each_s:g}s",
        }
    }


@functools.cache
def has_private_networks() -> bool:
    """Return whether trials have networks of their own: few containers may make them.

    Only an attempt shows it. Raises TrialFailed where not even a trial without one can start.
    """
    with scratch_folder() as folder, LocalHost().trial(folder) as sandbox:
        return sandbox.mode.network == "private"


def apart(suite: Suite) -> Places:
    """Return the CPUs of servers and load tool, if the latter can have its own; else nothing.

    Where the kernel puts it otherwise, on the CPU of the server or on another, differs between two
    launches of the same server by far more than most changes do.
    """
    try:
        return places(replace(suite, placement="auto"), machine())
    except SuiteErrors:
        return {}


def suite_or_why(tables: Tables, load: Callable[[Tables], Suite]) -> Suite | str:
    """Return the suite of tables with turns, or why its servers cannot take turns."""
    if not has_private_networks():
        return "this machine, or this container, gives trials no private network"
    try:
        return load(tables)
    except SuiteErrors as error:
        return error.faults[0].message


SCENARIO, LOADER = "at-one-rate", "at-rate"
_FIRST_LOAD_S = 1.0
_SPAN_S = 0.3
_GROWS = 1.05  # times the rate after the warm-up: then the server still becomes faster
_SHARE = 0.5  # of the rate that the slowest server answered
_LATER = 0.7  # of the first start, which reads files from the disk
_ALL_BLOCKS_S = 5.0  # of a server, in all blocks
_AROUND_S = 0.35  # of a trial: probes, two starts of its load tool, its stop
_LONGEST_RATED_S = 1.0
_BLOCKS = {4: 0.5, 3: 0.2}
"Number of blocks, and for how long a load is in as many at least, in seconds."
LEAST_TIME_S = 30.0
"Limit of a measurement from which on servers have a first load, in seconds."


class FirstLoad(NamedTuple):
    """What a server answered in a short closed loop, right after its first start."""

    per_s: float = 0.0
    "Responses per second; 0 if the load failed."
    warm: bool = False
    "True if its rate was seen not to grow after a short warm-up."


class LatencyPlan(NamedTuple):
    """The rate that all servers receive, and for how long."""

    rate: float
    load_s: float
    blocks: int


def first_load(served: Served) -> FirstLoad:
    """Load a server for a moment, and return what it answered."""
    scope, driver = served.scope, warming(served.scope.case.driver, _FIRST_LOAD_S)
    target = target_of(scope, served.answering.probe)
    tool = LoadToolRun(driver, target, "first-load")
    try:
        reading = reading_of(driver, Output(target, drive(scope.sandbox, tool, scope.recorder)))
    except (TrialFailed, OutputDamaged):
        return FirstLoad()
    return FirstLoad(reading.responses / reading.seconds, is_warm(reading))


def is_warm(reading: Reading) -> bool:
    """Return True if a load's rate did not grow after a short warm-up."""
    series = reading.series
    if series is None:
        return False
    bins, first = round(_SPAN_S / series.bin_s), round(WARMUP_S / series.bin_s)
    early, late = series.completed[first : first + bins], series.completed[-bins:]
    if not sum(early) or not sum(late):
        return False
    # Noise makes one part faster than another, and seldom each bin than each other.
    return sum(late) <= _GROWS * sum(early) or min(late) <= max(early)


def latency_plan(
    loads: Mapping[str, FirstLoad], starts_s: Mapping[str, float], question: Question
) -> LatencyPlan | str:
    """Return at which rate response times are measured, or why they are not.

    `starts_s` has the seconds that each server takes to start.
    """
    if question.time_s < LEAST_TIME_S:
        return f"--time is below {amount('s', LEAST_TIME_S)}"
    slowest = min(loads, key=lambda label: loads[label].per_s)
    if not loads[slowest].per_s:
        return f"the first load of {slowest} failed"
    rate = max(1.0, float(f"{_SHARE * loads[slowest].per_s:.2g}"))
    start_s = _LATER * sum(starts_s.values()) / len(starts_s)
    warmup_s = WARMUP_S if question.warm else _FIRST_LOAD_S
    for blocks, least_s in _BLOCKS.items():
        load_s = _ALL_BLOCKS_S / blocks - start_s - warmup_s - _AROUND_S
        if load_s >= least_s:
            return LatencyPlan(rate, round(min(_LONGEST_RATED_S, load_s), 1), blocks)
    slow = (
        f"the servers take {amount('s', start_s)} to start and {amount('s', warmup_s)} to warm up"
    )
    return f"{slow}, which leaves no time for it"


def with_latency(tables: Tables, plan: LatencyPlan) -> Tables:
    """Return the tables of a duel with a scenario that measures response times at one rate."""
    loaders, scenarios = as_table(tables["loaders"]), as_table(tables["scenarios"])
    load, duel = as_table(loaders["load"]), as_table(scenarios["duel"])
    at_rate: Tables = {
        **load,
        "use": "pace",
        "duration": f"{plan.load_s:g}s",
        "rate": f"{figure(plan.rate, 15).replace(',', '')}/s",
    }
    scenario: Tables = {
        **{key: value for key, value in duel.items() if key != "title"},
        "loaders": [LOADER],
        "latency_of": "duel",
        "interleave": "off",
        "blocks": plan.blocks,
    }
    return {"loaders": {**loaders, LOADER: at_rate}, "scenarios": {**scenarios, SCENARIO: scenario}}
