"""Freezing the services of a trial while others have their turn: SIGSTOP to all but the load tool.

Daemons get it too: they are below the trial's keeper.
"""

import signal
import time
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path

from benchforge.errors import LaunchLost
from benchforge.run.sandbox.keeper import stands
from benchforge.run.sandbox.sandbox import Running, Sandbox
from benchforge.run.watch.files import content
from benchforge.run.watch.part import clock_ns

STOPPED_WITHIN_S = 1.0
_LOOK_EVERY_S = 0.0002
_AGAIN_S = 0.01


class Freezer:
    """The services of one trial, which run or stand still; times are CPU seconds."""

    def __init__(self, sandbox: Sandbox, loader: Running) -> None:
        self._sandbox, self._loader = sandbox, loader
        self._loader_pids = sandbox.processes(loader)
        self._used: dict[int, int] = {}
        self.frozen_cpu_s = 0.0
        "What was used between `freeze` and `thaw`."

    def freeze(self) -> float:
        """Stop all services; return their CPU time since they were thawed. Raises LaunchLost."""
        stop = partial(self._sandbox.signal, self._loader, signal.SIGSTOP, "others")
        pids = until_they_stand(stop, partial(self._sandbox.others, self._loader))
        thawed, self._used = self._used, _used_ns(pids)
        return _grown_s(thawed, self._used)

    def thaw(self) -> None:
        """Let all services go on, and note what they used meanwhile: who stands forks nobody."""
        frozen, self._used = self._used, _used_ns(self._used)
        self.frozen_cpu_s += _grown_s(frozen, self._used)
        self._sandbox.signal(self._loader, signal.SIGCONT, "others")

    def loader_cpu_s(self) -> float:
        """Return what the load tool used so far."""
        return sum(_used_ns(self._loader_pids).values()) / 1e9

    def waited_s(self) -> float:
        """Return how long threads of the services and of the load tool waited for a CPU so far."""
        folders = (Path(f"/proc/{pid}/task") for pid in (*self._used, *self._loader_pids))
        files = (file for folder in folders for file in folder.glob("*/schedstat"))
        waits = [(content(str(file)) or b"").split() for file in files]
        return sum(int(words[1]) for words in waits if words) / 1e9


def stopped(sandbox: Sandbox, running: Running) -> Collection[int]:
    """Stop a program and all that it started; return their pids. Raises LaunchLost."""
    stop = partial(sandbox.signal, running, signal.SIGSTOP)
    return until_they_stand(stop, partial(sandbox.processes, running))


def until_they_stand(
    stop: Callable[[], object], running: Callable[[], Collection[int]]
) -> Collection[int]:
    """Stop processes until all of them stand still, and return their pids. Raises LaunchLost.

    `stop` sends the signal, again and again: a process that was being forked did not get it.
    `running` returns their pids.
    """
    deadline = time.monotonic() + STOPPED_WITHIN_S
    while True:
        stop()
        pids, again = set(running()), time.monotonic() + _AGAIN_S
        while (moving := [pid for pid in pids if not stands(pid)]) and time.monotonic() < again:
            time.sleep(_LOOK_EVERY_S)
        if moving and time.monotonic() > deadline:
            message = f"process {moving[0]} goes on running although it was stopped"
            hint = 'its servers cannot take turns: set interleave = "off" in this scenario'
            raise LaunchLost("drive", message, hint)
        if not moving and pids.issuperset(running()):
            return pids


def _used_ns(pids: Iterable[int]) -> dict[int, int]:
    return {pid: used for pid in pids if (used := clock_ns(pid))}


def _grown_s(first_ns: dict[int, int], last_ns: dict[int, int]) -> float:
    """Return by how much the processes that are there now used more than before."""
    return sum(max(0, used - first_ns.get(pid, 0)) for pid, used in last_ns.items()) / 1e9
