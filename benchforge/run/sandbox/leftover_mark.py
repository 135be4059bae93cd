"""The mark of a trial: all that a keeper starts carries it, daemons too.

It is a resource limit that no kernel looks at since Linux 2.4.25, and names the keeper: who carries
the mark of a dead keeper was left behind. Process namespaces make it unnecessary.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchforge.run.sandbox.keeper import stat_of
from benchforge.run.sandbox.procfs import kill, named

_LOCKS = 10  # RLIMIT_LOCKS; Python has no name for it
_LINE = b"Max file locks"
_PID_BITS, _START_BITS = 22, 36  # pids end at 2**22; 2**36 ticks are 21 years since the boot
_OURS = 0b01011 << (_PID_BITS + _START_BITS)
_OURS_MASK = -1 << (_PID_BITS + _START_BITS)
_STATE, _STARTED = 0, 19  # positions after the program's name in /proc/PID/stat
_LOOK_EVERY_S = 0.01
KILLED_WITHIN_S = 5.0  # a killed process ends at once, unless the kernel itself hangs
_HAS_TIME = os.path.lexists("/proc/self/ns/time")


def mark(pid: int) -> int | None:
    """Mark a process, and so all that it will start; None where the kernel does not let us."""
    import resource  # noqa: PLC0415 - readers of results run without it

    number = _number(pid)
    try:
        resource.prlimit(pid, _LOCKS, (number, number))
    except (OSError, ValueError):
        return None
    return number


def carriers(number: int) -> list[int]:
    """Return the pids of all that carry a mark, and run."""
    return [pid for pid, carried in _marked() if carried == number]


def orphans() -> list[int]:
    """Return the pids of all that were left behind: the keeper that they name is dead."""
    carried = _carried(os.getpid())  # somebody measures us: what we belong to is not ours to end
    alive: dict[int, bool] = {}
    pids: list[int] = []
    for pid, number in _marked():
        if number == carried:
            continue
        if number not in alive:
            keeper = number & ((1 << _PID_BITS) - 1)
            alive[number] = _lives(keeper) and _number(keeper) == number
        if not alive[number]:
            pids.append(pid)
    return pids


def ended(
    find: Callable[[], list[int]], still: Callable[[int], object] | None = None
) -> tuple[list[str], list[int]]:
    """Kill all that are found, those too that they start meanwhile.

    Return the names of those that ended, and the pids of those that did not. `still` tells that a
    pid is not another's by now: by default, it carries a mark.
    """
    names: dict[int, str] = {}
    deadline = time.monotonic() + KILLED_WITHIN_S
    while (pids := find()) and time.monotonic() < deadline:
        names |= {pid: named(pid) for pid in pids if pid not in names}
        for pid in pids:
            kill(pid, still or _carried)
        time.sleep(_LOOK_EVERY_S)
    return [name for pid, name in names.items() if pid not in pids], pids


def _number(pid: int) -> int:
    """Return the mark of what a keeper starts. The later it began, the lower: limits only sink."""
    begun = (1 << _START_BITS) - 1 - int(stat_of(f"/proc/{pid}")[_STARTED])
    return _OURS | begun << _PID_BITS | pid


def _marked() -> Iterator[tuple[int, int]]:
    """Yield pid and mark of all that carry one in our own namespace."""
    own_namespaces = _namespaces("self")
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - numbers, not paths
        number = _carried(int(name))
        if number is None or own_namespaces is None or _namespaces(name) != own_namespaces:
            continue
        if _lives(int(name)):
            yield int(name), number


def _namespaces(pid: str) -> tuple[Path, ...] | None:
    """In which pids and start times mean the same; None where they cannot be read."""
    kinds = Path(f"/proc/{pid}/ns/pid"), Path(f"/proc/{pid}/ns/time")
    try:
        # Before Linux 5.6 there is one time for all.
        return tuple(kind.readlink() for kind in kinds if kind.name == "pid" or _HAS_TIME)
    except OSError:
        return None


def _carried(pid: int) -> int | None:
    try:
        lines = Path(f"/proc/{pid}/limits").read_bytes().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith(_LINE):
            hard = line.split()[-2]
            if hard.isdigit() and int(hard) & _OURS_MASK == _OURS:
                return int(hard)
    return None


def _lives(pid: int) -> bool:
    try:
        return stat_of(f"/proc/{pid}")[_STATE] not in {b"Z", b"X"}
    except OSError:
        return False
