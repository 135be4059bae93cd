"""Freezing the services of a trial while others have their turn, and seeing that they stand still.

A process is stopped by a signal that it can neither catch nor ignore. It goes to all that the trial
started but the load tool, daemons too: they are below the trial's keeper.
"""

import contextlib
import signal
import time
from collections.abc import Callable, Collection, Iterable

from benchforge.errors import LaunchLost
from benchforge.run.sandbox.sandbox import Running, Sandbox
from benchforge.run.watch.files import content

STOPPED_WITHIN_S = 1.0
_LOOK_EVERY_S = 0.0002
_AGAIN_S = 0.01
_STANDS = b"TtZX"  # stopped, traced, or ended: /proc/PID/stat


class Freezer:
    """The services of one trial, which run or stand still; times are CPU seconds."""

    def __init__(self, sandbox: Sandbox, loader: Running) -> None:
        self._sandbox = sandbox
        self._loader = loader
        self._loader_pids = sandbox.processes(loader)
        self._used: dict[int, int] = {}
        self.frozen_cpu_s = 0.0
        "What was used between `freeze` and `thaw`."

    def freeze(self) -> float:
        """Stop all services; return what they used since they were thawed.

        Raises LaunchLost where one does not stop.
        """
        before, self._used = self._used, _used_ns(until_they_stand(self._stopped))
        return _grown_s(before, self._used)

    def _stopped(self) -> Collection[int]:
        self._sandbox.signal_others(signal.SIGSTOP, self._loader)
        return self._sandbox.others(self._loader)

    def thaw(self) -> None:
        """Let all services go on, and note what they used meanwhile."""
        now = _used_ns(self._sandbox.others(self._loader))
        self.frozen_cpu_s += _grown_s(self._used, now)
        self._used = now
        self._sandbox.signal_others(signal.SIGCONT, self._loader)

    def loader_cpu_s(self) -> float:
        """Return what the load tool used so far."""
        return sum(_used_ns(self._loader_pids).values()) / 1e9


def stopped(sandbox: Sandbox, running: Running) -> Collection[int]:
    """Stop a program and all that it started, and return their pids."""
    sandbox.signal(running, signal.SIGSTOP)
    return sandbox.processes(running)


def until_they_stand(stop: Callable[[], Collection[int]]) -> Collection[int]:
    """Stop processes until all of them stand still, and return their pids. Raises LaunchLost.

    `stop` sends the signal and returns their pids. A process that was being forked did not get it:
    so it is called until all stand that were there before.
    """
    deadline, before = time.monotonic() + STOPPED_WITHIN_S, set[int]()
    while True:
        pids = stop()
        again = time.monotonic() + _AGAIN_S
        while (moving := [pid for pid in pids if not _stands(pid)]) and time.monotonic() < again:
            time.sleep(_LOOK_EVERY_S)
        if moving and time.monotonic() > deadline:
            message = f"process {moving[0]} goes on running although it was stopped"
            hint = 'its servers cannot take turns: set interleave = "off" in this scenario'
            raise LaunchLost("drive", message, hint)
        if not moving and before.issuperset(pids):
            return pids
        before = set() if moving else set(pids)


def _stands(pid: int) -> bool:
    stat = content(f"/proc/{pid}/stat")
    return stat is None or stat[stat.rindex(b")") + 2] in _STANDS


def _used_ns(pids: Iterable[int]) -> dict[int, int]:
    """Return the CPU time of each process with all of its threads, those that ended included."""
    used: dict[int, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended
            used[pid] = time.clock_gettime_ns(_clock(pid))
    return used


def _clock(pid: int) -> int:
    """Return the kernel's id of a process's CPU clock: clock_getcpuclockid(3)."""
    return (~pid << 3) | 2


def _grown_s(before: dict[int, int], after: dict[int, int]) -> float:
    """Return by how much the processes that are there now used more than before."""
    return sum(max(0, used - before.get(pid, 0)) for pid, used in after.items()) / 1e9
