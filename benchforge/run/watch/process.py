"""One process: what it used, and what its children used that ended."""

import os
import time
from dataclasses import dataclass

from benchforge.run.watch.files import content

_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
# Positions behind the program's name in /proc/PID/stat: see proc(5).
_STATE, _PARENT, _FAULTS, _CHILDREN_FAULTS = 0, 1, 9, 10
_UTIME, _STIME, _CUTIME, _CSTIME, _START = 11, 12, 13, 14, 19
_PROCESS_CLOCK = 2  # CPUCLOCK_SCHED, of all threads: see clock_getcpuclockid(3)
_ENDED = (b"Z", b"X")


@dataclass(frozen=True)
class Stat:
    """What /proc/PID/stat says now; times in nanoseconds."""

    alive: bool
    "False for a process that ended and was not waited for."
    parent: int
    start: int
    "Start time in ticks since the machine started. With the pid, it identifies a process."
    own_ns: int
    waited_ns: int
    "Time of its ended children that it waited for, and of theirs."
    faults: int
    waited_faults: int


def stat(pid: int) -> Stat | None:
    """Return what a process did so far; None when it is no more, or not shown."""
    if (read := content(f"/proc/{pid}/stat")) is None or not read:
        return None
    fields = read[read.rindex(b")") + 2 :].split()
    return Stat(
        alive=fields[_STATE] not in _ENDED,
        parent=int(fields[_PARENT]),
        start=int(fields[_START]),
        own_ns=_clock_ns(pid) or (int(fields[_UTIME]) + int(fields[_STIME])) * _TICK_NS,
        waited_ns=(int(fields[_CUTIME]) + int(fields[_CSTIME])) * _TICK_NS,
        faults=int(fields[_FAULTS]),
        waited_faults=int(fields[_CHILDREN_FAULTS]),
    )


def _clock_ns(pid: int) -> int:
    """CPU time of a process and of its threads that ended, exactly; 0 when it is not told."""
    try:
        return time.clock_gettime_ns((~pid << 3) | _PROCESS_CLOCK)
    except OSError:
        return 0


class Account:
    """What a process used itself, and what its ended children did; in any unit.

    The kernel adds a child to its parent when the parent waits for it. What nobody waits for is
    not added: such a child is claimed with what was last seen of it. Both may speak of the same
    child, so that the larger counts.
    """

    def __init__(self, own: int, waited: int) -> None:
        self.own = self.own_first = own
        self._waited = self._waited_first = waited
        self._claimed = 0

    def note(self, own: int, waited: int) -> None:
        """Take over what the kernel says now."""
        self.own = max(self.own, own)
        self._waited = max(self._waited, waited)

    def claim(self, total: int) -> None:
        """Count a child that is no more."""
        self._claimed += total

    @property
    def total(self) -> int:
        """All of it, from the beginning of the process."""
        since = max(self._waited - self._waited_first, self._claimed)
        return self.own + self._waited_first + since


class Process:
    """A process of a part, as it was seen last.

    Of the part's `reaper` counts only what it waited for: that is all that ever fell to it.
    """

    def __init__(self, pid: int, seen: Stat, *, reaper: bool = False) -> None:
        self.pid = pid
        self.reaper = reaper
        self.start = seen.start
        self.parent = seen.parent
        self.alive = seen.alive
        self.cpu = Account(seen.own_ns * (not self.reaper), seen.waited_ns)
        self.faults = Account(seen.faults * (not self.reaper), seen.waited_faults)

    def note(self) -> bool:
        """Look again; False when the process is no more."""
        seen = stat(self.pid)
        if seen is None or seen.start != self.start:
            return False
        self.parent, self.alive = seen.parent, seen.alive
        self.cpu.note(seen.own_ns * (not self.reaper), seen.waited_ns)
        self.faults.note(seen.faults * (not self.reaper), seen.waited_faults)
        return True
