"""One part of a trial: its processes as they come and go, and what they used."""

from collections.abc import Callable, Iterable, Sequence

from benchforge.model.trial.observation import Role
from benchforge.model.trial.rows import UsageRow
from benchforge.run.watch.children import children_told
from benchforge.run.watch.memory import pss
from benchforge.run.watch.process import Process, stat
from benchforge.run.watch.threads import PartThreads


class PartProcesses:
    """The processes of a part that live, and the account of all that it ever had."""

    def __init__(self, label: str, role: Role, pid: int, find: Callable[[], Iterable[int]]) -> None:
        self.label = label
        self.role: Role = role
        self.pid = pid
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
        in_order = sorted(
            self._processes.values(), key=lambda process: (process.start, process.pid)
        )
        self._processes = {one.pid: one for one in in_order}
        self._first = self._alive()
        if not counted_from_birth:
            self.look(0.0, (), fully=True)
            self.threads.begin()
            self._cpu_begun, self._faults_begun = self._cpu(), self._faults()
            for process in self._processes.values():
                process.cpu.own_first = process.cpu.own
        else:
            for process in self._processes.values():
                process.cpu.own_first = 0

    @property
    def pids(self) -> list[int]:
        """Of those that were there at the last look."""
        return list(self._processes)

    @property
    def seen(self) -> bool:
        """Whether it has any process that /proc shows."""
        return bool(self._processes)

    def look(self, at_s: float, orphans: Sequence[int], *, fully: bool) -> None:
        """Look at all its processes; if `fully`, for new ones too, and among `orphans`.

        Those are of this part if they are of its session.
        A parent is read before its children: one that ends in between is counted once.
        """
        self.threads.begin_look()
        if fully:
            self._take(orphans)
        pending = list(self._processes.values())
        gone: list[Process] = []
        for process in pending:  # it grows meanwhile
            if not process.note():
                gone.append(process)
                continue
            if not fully:
                self.threads.look(process.pid)
                continue
            children = self.threads.look_fully(process.pid)
            adopted = [self._adopt(pid) for pid in children if pid not in self._processes]
            pending += [child for child in adopted if child is not None]
        for process in reversed(gone):
            self._bury(process)
        self.threads.end_look(at_s)

    def _take(self, orphans: Sequence[int]) -> None:
        for pid in orphans if self._children_told else self._find():
            if pid not in self._processes:
                self._adopt(pid, session=self.pid if self._children_told else None)

    def _adopt(self, pid: int, session: int | None = None) -> Process | None:
        seen = stat(pid)
        if seen is None or session not in (None, seen.session):
            return None
        process = self._processes[pid] = Process(pid, seen)
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
        return frozenset((one.pid, one.start) for one in self._processes.values() if one.alive)

    def _cpu(self) -> int:
        return self._lost_cpu + sum(one.cpu.total for one in self._processes.values())

    def _faults(self) -> int:
        return self._lost_faults + sum(one.faults.total for one in self._processes.values())

    def row(self, at_s: float, pss_bytes: int | None, *, fully: bool) -> UsageRow:
        """Return what it used from the beginning of the load to the last look."""
        row = UsageRow(
            time_s=at_s,
            label=self.label,
            role=self.role,
            cpu_s=max(0, self._cpu() - self._cpu_begun) / 1e9,
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
        own = [one.cpu.own - one.cpu.own_first for one in self._processes.values() if one.alive]
        voluntary, involuntary = self.threads.switches()
        return row.model_copy(
            update={
                "voluntary_switches": voluntary,
                "involuntary_switches": involuntary,
                "processes": len(alive),
                "ended_processes": len(self._first - alive),
                "new_processes": len(alive - self._first),
                "process_cpu_s": tuple(sorted((one / 1e9 for one in own), reverse=True)),
            }
        )

    def memory(self) -> int | None:
        """Return the sum of its proportional set sizes in bytes; None where one is hidden."""
        sizes = [pss(pid) for pid in self._processes]
        if None in sizes:
            self.memory_hidden = True
            return None
        return sum(one for one in sizes if one is not None)
