"""The suite of a duel whose servers take turns: a ratio needs a tenth of the time, or less."""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from benchforge.cli.measure.duel.suite import blocks_in, repeated, trial_times
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.machine.placement import Places, machine, places
from benchforge.run.sandbox.host import LocalHost
from benchforge.suite.plan import START_AND_STOP_S
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import SuiteErrors

SLICE: Final = "100ms"
_LONGEST_S = 2.0  # of the load of a server in a block: longer ones gain nothing
_REQUESTS = 50  # in a slice
_ENDS = 0.1  # of a slice, in which the last requests are answered
_SHORTEST_SLICE_MS, _LONGEST_SLICE_MS, _STEP_MS = 100, 300, 50
_TOGETHER = 0.5  # of the time of their starts one after the other
_STILL_S = 0.5  # that a server may stand still: half of what the run allows


def too_slow(seconds: Mapping[str, float]) -> str:
    """Return which server is too slow to take turns, by the seconds of its answer; empty if none.

    In the slices of all others a server stands still, and a slice has fifty requests.
    """
    others = len(seconds) - 1
    slow = [one for one, taken in seconds.items() if taken * _REQUESTS * others > _STILL_S]
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


def in_turns(
    tables: Tables, time_s: float, slice_ms: int, start_s: float = START_AND_STOP_S
) -> Tables:
    """Return the table [repeat] with turns: as many blocks as fit."""
    repeat, servers = as_table(tables["repeat"]), len(as_table(tables["servers"]))
    times = trial_times(servers, time_s, start_s)
    each_s = min(_LONGEST_S, times.load_s)
    slice_ms = max(_SHORTEST_SLICE_MS, min(slice_ms, math.floor(1000 * each_s / 2)))
    block_s = servers * (times.warmup_s + each_s + _TOGETHER * start_s)
    return {
        "repeat": {
            **repeated(blocks_in(time_s, block_s)),
            "warmup": repeat["warmup"],
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
