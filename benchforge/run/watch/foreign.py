"""Processes that are no part of the trial, and what they use meanwhile."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from benchforge.model.trial.observation import Foreign
from benchforge.run.sandbox.keeper import below
from benchforge.run.watch.files import content

MOST = 10
_TICKS = os.sysconf("SC_CLK_TCK")
_UTIME, _STIME, _START = 11, 12, 19  # behind the program's name in /proc/PID/stat

Key = tuple[int, int]
"pid and start: a process for good."


@dataclass(frozen=True)
class Others:
    """All processes that /proc shows at one moment, except for ours."""

    used: Mapping[Key, tuple[str, int]]
    "Name and CPU time of each process, in ticks."
    ours: frozenset[int]
    "The pids that were left out."


def look(also_ours: Collection[int] = ()) -> Others:
    """Look at everybody but this process, all below it, and `also_ours`."""
    used: dict[Key, tuple[str, int]] = {}
    kin: dict[int, tuple[int, int, int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - numbers, not paths
        if name.isdigit() and (read := content(f"/proc/{name}/stat")):
            at, end = read.index(b"("), read.rindex(b")")
            fields = read[end + 2 :].split()
            kin[int(name)] = (int(fields[1]), int(fields[2]), int(fields[3]))
            program = read[at + 1 : end].decode(errors="replace")
            ticks = int(fields[_UTIME]) + int(fields[_STIME])
            used[int(name), int(fields[_START])] = (program, ticks)
    ours = frozenset({*below({os.getpid()}, kin), *also_ours})
    return Others({key: value for key, value in used.items() if key[0] not in ours}, ours)


def busiest(before: Others, after: Others) -> tuple[Foreign, ...]:
    """Return those that used most between two moments, as far as they were there at the second."""
    ours = before.ours | after.ours
    grown = [
        (ticks - before.used.get(key, (program, 0))[1], program)
        for key, (program, ticks) in after.used.items()
        if key[0] not in ours
    ]
    top = sorted((one for one in grown if one[0] > 0), reverse=True)[:MOST]
    return tuple(Foreign(program=_printable(name), cpu_s=ticks / _TICKS) for ticks, name in top)


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)
