"""One part of a trial: its processes as they come and go, and what they used."""

import os
import time
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from benchforge.model.trial.rows import UsageRow
from benchforge.model.values.case_name import Role
from benchforge.run.sandbox.procfs import children, children_told
from benchforge.run.watch.files import content
from benchforge.run.watch.memory import pss, unmapped
from benchforge.run.watch.threads import PartThreads

_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
# Positions behind the program's name in /proc/PID/stat: see proc(5).
_STATE, _PARENT, _FAULTS, _CHILDREN_FAULTS = 0, 1, 9, 10
_UTIME, _STIME, _CUTIME, _CSTIME, _START = 11, 12, 13, 14, 19
_PROCESS_CLOCK = 2  # CPUCLOCK_SCHED, of all threads: see clock_getcpuclockid(3)
_ENDED = (b"Z", b"X")


class Stat(NamedTuple):
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
    """Return what a process did so far; None when it has ended, or /proc hides it."""
    if (read := content(f"/proc/{pid}/stat")) is None or not read:
        return None
    fields = read[read.rindex(b")") + 2 :].split()
    return Stat(
        alive=fields[_STATE] not in _ENDED,
        parent=int(fields[_PARENT]),
        start=int(fields[_START]),
        own_ns=clock_ns(pid) or (int(fields[_UTIME]) + int(fields[_STIME])) * _TICK_NS,
        waited_ns=(int(fields[_CUTIME]) + int(fields[_CSTIME])) * _TICK_NS,
        faults=int(fields[_FAULTS]),
        waited_faults=int(fields[_CHILDREN_FAULTS]),
    )


def clock_ns(pid: int) -> int:
    """Return the CPU time of a process with all its threads, exactly; 0 when it is not told."""
    try:
        return time.clock_gettime_ns((~pid << 3) | _PROCESS_CLOCK)
    except OSError:
        return 0


class Account:
    """What a process used itself, and what its ended children did; in any unit.

    The kernel adds a child to the parent that waits for it. Other children are claimed as they were
    seen last. Both may count the same child, so that the larger counts.
    """

    def __init__(self, used: int, waited: int) -> None:
        self.own = self.own_first = used
        self._waited = self._waited_first = waited
        self._claimed = 0

    def note(self, used: int, waited: int) -> None:
        """Take over what the kernel says now."""
        self.own = max(self.own, used)
        self._waited = max(self._waited, waited)

    def claim(self, total: int) -> None:
        """Count a child that has ended."""
        self._claimed += total

    @property
    def total(self) -> int:
        """The sum, from the beginning of the process."""
        since = max(self._waited - self._waited_first, self._claimed)
        return self.own + self._waited_first + since


class Process:
    """A process of a part, as it was seen last; of the `reaper` counts only what it waited for."""

    def __init__(self, pid: int, stat_: Stat, *, reaper: bool = False) -> None:
        self.pid, self.reaper = pid, reaper
        self.start = stat_.start
        self.parent = stat_.parent
        self.alive = stat_.alive
        self.cpu = Account(stat_.own_ns * (not self.reaper), stat_.waited_ns)
        self.faults = Account(stat_.faults * (not self.reaper), stat_.waited_faults)

    def note(self) -> bool:
        """Look again; False when the process has ended."""
        process_stat = stat(self.pid)
        if process_stat is None or process_stat.start != self.start:
            return False
        self.parent, self.alive = process_stat.parent, process_stat.alive
        self.cpu.note(process_stat.own_ns * (not self.reaper), process_stat.waited_ns)
        self.faults.note(process_stat.faults * (not self.reaper), process_stat.waited_faults)
        return True


class PartProcesses:
    """The living processes of a part, below its `reaper` or `pid`, and the account of all."""

    def __init__(
        self, label: str, role: Role, pid: int, find: Callable[[], Iterable[int]], reaper: int = 0
    ) -> None:
        self.label = label
        self.role: Role = role
        self.pid, self._reaper = pid, reaper
        self.threads = PartThreads()
        self.memory_hidden = False
        self._children_told = children_told()
        self._find = find
        "All its processes, by a sweep through /proc."
        self._processes: dict[int, Process] = {}
        self._lost_cpu = self._lost_faults = 0
        self._cpu_begun = self._faults_begun = 0
        self._first: frozenset[tuple[int, int]] = frozenset()

    def begin(self, *, counted_from_birth: bool) -> None:
        """Find its processes; what they did until now counts if this part began with the load."""
        # One that has only just begun is alone: its children are found as they come.
        for pid in (self.pid,) if counted_from_birth else self._find():
            self._adopt(pid)
        if self._reaper:
            self._adopt(self._reaper)
        processes = self._processes.values()
        in_order = sorted(processes, key=lambda each: (not each.reaper, each.start, each.pid))
        self._processes = {process.pid: process for process in in_order}
        self._first = self._alive()
        if not counted_from_birth:
            self.look(0.0, fully=True)
            self.threads.begin()
            self._cpu_begun, self._faults_begun = self._cpu(), self._faults()
            for process in self._processes.values():
                process.cpu.own_first = process.cpu.own

    @property
    def pids(self) -> list[int]:
        """Of those that were there at the last look."""
        return [process.pid for process in self._processes.values() if not process.reaper]

    @property
    def busiest(self) -> int:
        """The pid of the process that used the most since the load began; 0 where there is none."""
        used = {each.pid: each.cpu.own - each.cpu.own_first for each in self._living()}
        return max(used, key=used.__getitem__, default=0)

    @property
    def all_pids(self) -> list[int]:
        """Of those and of its reaper."""
        return list(self._processes)

    def look(self, at_s: float, *, fully: bool, more: Collection[int] = ()) -> None:
        """Look at all its processes; if `fully`, for new ones too, and at `more`.

        A parent is read before its children: one that ends in between is counted once.
        """
        self.threads.begin_look()
        if fully:
            for pid in more if self._children_told else self._find():
                if pid not in self._processes:
                    self._adopt(pid)
        pending = list(self._processes.values())
        gone: list[Process] = []
        for process in pending:  # it grows meanwhile
            if not process.note():
                gone.append(process)
                continue
            if not fully:
                self.threads.look(process.pid)
                continue
            pid = process.pid  # the thread of a reaper is none of the part's
            below = children(pid, pid) if process.reaper else self.threads.look_fully(pid)
            adopted = [self._adopt(pid) for pid in below if pid not in self._processes]
            pending += [child for child in adopted if child is not None]
        for process in reversed(gone):
            self._bury(process)
        self.threads.end_look(at_s)

    def _adopt(self, pid: int) -> Process | None:
        if (process_stat := stat(pid)) is None:
            return None
        process = self._processes[pid] = Process(pid, process_stat, reaper=pid == self._reaper)
        process.cpu.own_first = 0  # unless it was there when the load began
        return process

    def _bury(self, process: Process) -> None:
        del self._processes[process.pid]
        self.threads.forget(process.pid)
        if (parent := self._processes.get(process.parent)) is not None:
            parent.cpu.claim(process.cpu.total)
            parent.faults.claim(process.faults.total)
        else:
            self._lost_cpu += process.cpu.total
            self._lost_faults += process.faults.total

    def _alive(self) -> frozenset[tuple[int, int]]:
        return frozenset((process.pid, process.start) for process in self._living())

    def _living(self) -> list[Process]:
        return [each for each in self._processes.values() if each.alive and not each.reaper]

    def _cpu(self) -> int:
        return self._lost_cpu + sum(process.cpu.total for process in self._processes.values())

    def _faults(self) -> int:
        return self._lost_faults + sum(process.faults.total for process in self._processes.values())

    def cpu_s(self) -> float:
        """Return the CPU time of the processes since the load began, in seconds."""
        return max(0, self._cpu() - self._cpu_begun) / 1e9

    def row(self, at_s: float, pss_bytes: int | None, *, fully: bool) -> UsageRow:
        """Return what it used from the beginning of the load to the last look."""
        row = UsageRow(
            time_s=at_s,
            label=self.label,
            role=self.role,
            cpu_s=self.cpu_s(),
            cpu_wait_s=self.threads.waited_s(),
            busiest_thread_cpu_s=self.threads.hottest_s(),
            busy_threads=self.threads.busy(at_s),
            threads=self.threads.count,
            major_faults=max(0, self._faults() - self._faults_begun),
            pss_bytes=pss_bytes,
        )
        return self._with_processes(row) if fully else row

    def _with_processes(self, row: UsageRow) -> UsageRow:
        alive = self._alive()
        times_s = [(each.cpu.own - each.cpu.own_first) / 1e9 for each in self._living()]
        voluntary, involuntary = self.threads.switches()
        return row.model_copy(
            update={
                "voluntary_switches": voluntary,
                "involuntary_switches": involuntary,
                "processes": len(alive),
                "ended_processes": len(self._first - alive),
                "new_processes": len(alive - self._first),
                "process_cpu_s": tuple(sorted(times_s, reverse=True)),
            }
        )

    def memory(self) -> int | None:
        """Return its proportional set size and held shared memory, in bytes; None if hidden."""
        sizes = [pss(pid) for pid in self.pids]
        if None in sizes:
            self.memory_hidden = True
            return None
        return sum(size for size in sizes if size is not None) + unmapped(self.pids)
