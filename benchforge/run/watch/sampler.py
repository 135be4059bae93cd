"""Samples of a trial's parts, its network and the machine while a load runs, read from /proc."""

import contextlib
import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchforge.model.trial.observation import Observation, Usage
from benchforge.model.trial.rows import SYSTEM, USAGE, rows_file, usage_line
from benchforge.model.values.case_name import Role
from benchforge.run.http.monitor import Monitoring
from benchforge.run.machine.placement import Stay
from benchforge.run.sandbox.procfs import children, children_told
from benchforge.run.sandbox.sandbox import Running, Sandbox
from benchforge.run.watch.memory import ownerless
from benchforge.run.watch.part import PartProcesses
from benchforge.run.watch.system import System
from benchforge.run.watch.watched import Watched
from benchforge.stats.observation import recomputed
from benchforge.text import door

Services = dict[str, tuple[Role, Running | None]]
"Role and process of each service, by its label; None for one that was running already."
EVERY_S = 0.25
_EARLY_S = EVERY_S / 10  # a beat that comes so much too early is not waited for
_FULLY_EVERY_S = 1.0 - _EARLY_S  # what is expensive, or moves slowly
_LOOK_SHARE = 0.01  # of one CPU at most: many processes are looked at less often
_MEMORY_SHARE = 0.005  # likewise, for each part: sizes cost ten times as much as all else

_RAN = "it was running already: its processes are not known"


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Keep Python from looking for cyclic garbage, which takes CPU time from what is measured."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Watch(contextlib.AbstractContextManager["Watch"]):
    """Looks from the start of the load to its end; `sample` is called in between, every EVERY_S.

    Nothing is written meanwhile, and no garbage is collected. `talkative` says why the network's
    counters hold connections of others. `placement` looks at the CPUs of processes.
    """

    def __init__(
        self, sandbox: Sandbox, services: Services, talkative: str, placement: Stay
    ) -> None:
        self._sandbox, self._stay, self._talkative = sandbox, placement, talkative
        self._parts: dict[str, Watched | Usage] = {}
        self._lines: list[str] = []  # of usage.csv: smaller than rows, in a load of hours
        self._begun: float | None = None
        self._look_due = self._fully_due = 0.0
        self._memory_due: dict[str, float] = {}
        with contextlib.ExitStack() as files:
            self._files = files
            for label, (role, running) in services.items():
                if running is None:
                    usage = Usage(label=label, role=role, cpu_s=None, peak_pss_bytes=None)
                    self._parts[label] = replace(usage, why=_RAN)
                else:
                    self.add(label, role, running)
            self._unassigned = Unassigned(sandbox)
            self._look()
            self._unassigned.begin(counted_from_birth=False)
            self._look_due = self._fully_due = 0.0  # a load tool is seen at the first beat
            self._system = System(sandbox, _FULLY_EVERY_S)
            files.enter_context(uncollected())
            self._own_cpu = time.process_time()
            self._begun = time.monotonic()
            self._files = files.pop_all()

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, label: str, role: Role, running: Running) -> None:
        """Watch a process, too."""
        watched = Watched(self._sandbox, label, role, running)
        self._files.enter_context(contextlib.closing(watched))
        self._parts[label] = watched
        self._stay.look(label, role, watched.pids)

    def leave_out(self, monitor: Monitoring | None) -> None:
        """Take the process of a monitor for none of a part's: it is benchforge's own."""
        if monitor is not None and monitor.running is not None:
            running = monitor.running  # with all below its reaper
            self._unassigned.own_pids |= {running.outer_pid, running.reaper}

    @property
    def _watched(self) -> list[Watched]:
        return [each for each in self._parts.values() if isinstance(each, Watched)]

    def servers(self) -> list[Watched]:
        """Return the servers whose processes are known."""
        return [each for each in self._watched if each.role == "server" and each.pids]

    def sample(self) -> None:
        """Look at the machine, and at the parts unless that has become too expensive."""
        self._system.note(self._now_s())
        if self._now_s() >= self._look_due:
            self._look()

    def _now_s(self) -> float:
        return 0.0 if self._begun is None else time.monotonic() - self._begun

    def _look(self) -> None:
        """Look at all parts; how soon again depends on what it cost."""
        now_s, begun = self._now_s(), time.process_time()
        if fully := now_s >= self._fully_due:
            self._fully_due = now_s + _FULLY_EVERY_S
        for watched in self._watched:
            watched.look(self._now_s(), fully=fully)
            if fully:
                self._stay.look(watched.label, watched.role, watched.pids)
        if fully:
            self._unassigned.look_below_keeper(self._now_s(), self._watched)
        self._look_due = now_s + (time.process_time() - begun) / _LOOK_SHARE - _EARLY_S
        for watched in self._watched:
            row = watched.row_now(self._now_s(), self._memory(watched), fully=fully)
            if row is not None:
                self._lines.append(usage_line(row))

    def _memory(self, watched: Watched) -> int | None:
        """Return how large a part is, where that is due; how soon again depends on what it cost."""
        if (now_s := self._now_s()) < self._memory_due.get(watched.label, 0.0):
            return None
        begun = time.process_time()
        size = watched.memory()
        took = time.process_time() - begun
        self._memory_due[watched.label] = now_s + max(_FULLY_EVERY_S, took / _MEMORY_SHARE)
        return size

    def observation(self, folder: Path) -> Observation:
        """Look for the last time, write usage.csv and system.csv, and return what they tell."""
        seconds = self._now_s()
        own_cpu_s = time.process_time() - self._own_cpu
        grown = self._system.end(self._now_s())
        self._fully_due, self._memory_due = 0.0, {}
        self._look()
        lasts = [watched.last_row(self._sandbox, self._now_s()) for watched in self._watched]
        self._lines += [usage_line(row) for row in lasts if row is not None]
        self._stay.look_at_rest(self._sandbox.init_pid)
        usage, system = rows_file(self._lines), self._system.text()
        door.write(folder, USAGE, usage.encode(), lasting=False)
        door.write(folder, SYSTEM, system.encode(), lasting=False)
        parts = self._parts.values()
        facts = Observation(
            seconds=seconds,
            usage=tuple(each.facts() if isinstance(each, Watched) else each for each in parts),
            network=self._sandbox.mode.network,
            counters=grown,
            foreign_connections=self._talkative,
            sampler_cpu_s=own_cpu_s,
            unassigned_cpu_s=self._unassigned.cpu_s() if children_told() else None,
            unassigned_shared_bytes=self._unassigned.shared_bytes(self._watched),
            machine=self._system.machine(),
        )
        observation = recomputed(facts, usage, system)
        pairs = [(usage, self._parts[usage.label]) for usage in observation.usage]
        explained = [
            each.explained(use) if isinstance(each, Watched) else use for use, each in pairs
        ]
        return observation.model_copy(update={"usage": tuple(explained)})


class Unassigned(PartProcesses):
    """Processes below the keeper and below no part, such as those that a task left."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__("", "server", 0, lambda: ())
        self._keeper = sandbox.init_pid
        self._own_files = sandbox.mode.shared_memory == "private"
        self.own_pids: set[int] = set()
        "Processes of benchforge itself."

    def look_below_keeper(self, at_s: float, parts: Sequence[PartProcesses]) -> None:
        """Look at all of them. What a part has known goes on to be the part's."""
        excluded = {pid for part in parts for pid in part.all_pids} | self.own_pids
        strays = [pid for pid in children(self._keeper, self._keeper) if pid not in excluded]
        self.look(at_s, fully=True, more=strays)

    def shared_bytes(self, parts: Sequence[PartProcesses]) -> int | None:
        """Return the bytes in the trial's /dev/shm that no part has, or None if hidden."""
        pids = [pid for part in parts for pid in part.pids]
        if not self._own_files or not pids:
            return None
        try:
            return ownerless(pids[0], pids)
        except OSError:
            return None
