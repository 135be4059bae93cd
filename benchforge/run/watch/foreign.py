"""Processes that are no part of the trial, and what they use meanwhile."""

import os
import time
from collections.abc import Mapping
from typing import NamedTuple

from benchforge.model.trial.observation import Foreign
from benchforge.run.sandbox.keeper import below, family
from benchforge.run.sandbox.procfs import descendants
from benchforge.run.watch.files import content
from benchforge.run.watch.part import clock_ns, stat

MOST = 10
_TICKS = os.sysconf("SC_CLK_TCK")
_TICK_NS = 10**9 // _TICKS
_START = 19  # behind the program's name in /proc/PID/stat, in ticks since the machine started


class Others(NamedTuple):
    """What all processes that /proc shows have used until a moment."""

    used: Mapping[int, int]
    "CPU time by pid, in ns."
    own_pids: frozenset[int]
    "The pids of this process and of all below it."
    tick: int
    "The moment, in ticks since the machine started."


def look() -> Others:
    """Look at everybody: at their clocks, since a file takes ten times as long to read."""
    tick = int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - numbers
    me = os.getpid()
    own_pids = frozenset(descendants(me) or below({me}, family()))
    return Others({pid: _used_ns(pid) for pid in pids}, own_pids, tick)


def _used_ns(pid: int) -> int:
    return clock_ns(pid) or ((facts := stat(pid)) and facts.own_ns) or 0


def busiest(first: Others, last: Others) -> tuple[Foreign, ...]:
    """Return those that used most between two moments, at least a tick, and still live."""
    grown: list[tuple[int, str]] = []
    for pid in last.used.keys() - first.own_pids - last.own_pids:
        used, earlier = last.used[pid], first.used.get(pid, 0)
        if not 0 <= used - earlier < _TICK_NS and (read := content(f"/proc/{pid}/stat")):
            name, _, fields = read.partition(b"(")[2].rpartition(b")")
            # Whoever began in the tick of the first look had used less than a tick by then.
            reused = int(fields.split()[_START]) >= first.tick
            grown.append((used - earlier * (not reused), name.decode(errors="replace")))
    top = sorted((entry for entry in grown if entry[0] >= _TICK_NS), reverse=True)[:MOST]
    return tuple(Foreign(program=printable(name), cpu_s=used / 1e9) for used, name in top)


def printable(name: str) -> str:
    """Return a name whose other characters are question marks."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)
