"""The threads of a part: which one is the busiest, how long they waited, why they left the CPU."""

import os
from dataclasses import dataclass

from benchforge.run.sandbox.procfs import children
from benchforge.run.watch.files import content

BUSY = 0.05  # of a CPU
_VOLUNTARY, _INVOLUNTARY = b"\nvoluntary_ctxt_switches:", b"\nnonvoluntary_ctxt_switches:"


@dataclass
class Thread:
    """One thread as it was seen last; nanoseconds, and how often."""

    ran: int = 0
    ran_first: int = 0
    "CPU time when the load began."
    waited: int = 0
    voluntary: int = 0
    involuntary: int = 0
    look: int = 0
    "The number of the look that saw it last."

    def add(self, other: "Thread") -> None:
        """Count what another thread did, too."""
        self.waited += other.waited
        self.voluntary += other.voluntary
        self.involuntary += other.involuntary


class PartThreads:
    """All threads of a part, those that ended included as they were seen last."""

    def __init__(self) -> None:
        self.tells_times = False
        "Whether the kernel tells how long threads ran and waited."
        self._live: dict[tuple[int, int], Thread] = {}
        self._by_process: dict[int, list[tuple[int, int]]] = {}
        self._ended = Thread()
        self._ended_busy: list[int] = []
        self._hottest_ended = 0
        self._look = 0
        self._begun = Thread()
        self._switches_told = False

    def begin(self) -> None:
        """Count from now on."""
        for thread in self._live.values():
            thread.ran_first = thread.ran
        self._begun = self._sum()

    def begin_look(self) -> None:
        """Call before the processes of one look."""
        self._look += 1

    def look(self, pid: int) -> None:
        """Look at the threads of a process that are known, for their times alone."""
        for key in self._by_process.get(pid, ()):
            self._note_times(key)

    def look_fully(self, pid: int) -> list[int]:
        """Look at all threads of a process, and at their switches; return its children."""
        try:
            names = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - numbers, not paths
        except OSError:
            return []
        keys = self._by_process[pid] = [(pid, int(name)) for name in names]
        child_pids: list[int] = []
        for key in keys:
            self._note_times(key)
            self._note_switches(key)
            child_pids += children(*key)
        return child_pids

    def _note_times(self, key: tuple[int, int]) -> None:
        times = (content(f"{_folder(key)}/schedstat") or b"").split()
        thread = self._live.setdefault(key, Thread())
        thread.look = self._look
        if times:
            ran, waited = int(times[0]), int(times[1])
            if ran < thread.ran:  # another thread by the same number
                self._end(thread)
                thread = self._live[key] = Thread(look=self._look)
            thread.ran, thread.waited = ran, waited
            self.tells_times |= ran > 0

    def _note_switches(self, key: tuple[int, int]) -> None:
        if status := content(f"{_folder(key)}/status"):
            thread = self._live[key]
            thread.voluntary = _count(status, _VOLUNTARY)
            thread.involuntary = _count(status, _INVOLUNTARY)
            self._switches_told = True

    def end_look(self, elapsed_s: float) -> None:
        """Call after the processes of one look, so long after the load began."""
        bound = BUSY * elapsed_s * 1e9
        for key in [key for key, thread in self._live.items() if thread.look != self._look]:
            thread = self._live.pop(key)
            self._end(thread)
            if thread.ran - thread.ran_first >= bound:
                self._ended_busy.append(thread.ran - thread.ran_first)

    def ready(self) -> bool:
        """Return whether a thread runs, waits for a CPU, or for a disk."""
        stats = (content(f"{_folder(key)}/stat") for key in self._live)
        return any(stat[stat.rindex(b")") + 2] in b"RD" for stat in stats if stat)

    def forget(self, pid: int) -> None:
        """Know no more of a process that has ended."""
        self._by_process.pop(pid, None)

    def _end(self, thread: Thread) -> None:
        self._ended.add(thread)
        self._hottest_ended = max(self._hottest_ended, thread.ran - thread.ran_first)

    def _sum(self) -> Thread:
        total = Thread()
        for thread in (self._ended, *self._live.values()):
            total.add(thread)
        return total

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._live)

    def hottest_s(self) -> float | None:
        """CPU time of the thread that used the most since the load began."""
        if not self.tells_times:
            return None
        ran = [thread.ran - thread.ran_first for thread in self._live.values()]
        return max([self._hottest_ended, *ran]) / 1e9

    def busy(self, elapsed_s: float) -> int | None:
        """How many used at least 5 % of a CPU of the time since the load began."""
        if not self.tells_times or elapsed_s <= 0:
            return None
        ran = [thread.ran - thread.ran_first for thread in self._live.values()]
        return sum(busy_ns >= BUSY * elapsed_s * 1e9 for busy_ns in [*self._ended_busy, *ran])

    def waited_s(self) -> float | None:
        """How long they could have run and waited for a CPU since the load began."""
        return (self._sum().waited - self._begun.waited) / 1e9 if self.tells_times else None

    def switches(self) -> tuple[int | None, int | None]:
        """Voluntary and involuntary context switches since the load began."""
        if not self._switches_told:
            return None, None
        total, begun = self._sum(), self._begun
        return total.voluntary - begun.voluntary, total.involuntary - begun.involuntary


def _folder(key: tuple[int, int]) -> str:
    return f"/proc/{key[0]}/task/{key[1]}"


def _count(status: bytes, name: bytes) -> int:
    position = status.find(name)
    return int(status[position + len(name) :].split(None, 1)[0]) if position >= 0 else 0
