"""What a trial's parts, its network and the machine do while a load runs, read from /proc."""

import contextlib
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from benchforge.model.observation import Machine, Observation, Role, Usage
from benchforge.model.rows import SYSTEM, TIME, USAGE, UsageRow, system_text, usage_text
from benchforge.run.here import Here, Running
from benchforge.run.placement import Stay
from benchforge.run.watch import foreign, machine, network, speed
from benchforge.run.watch.threads import children
from benchforge.run.watch.watched import Watched
from benchforge.stats.observed import recomputed

EVERY_S = 0.25
_FULLY_EVERY_S = 1.0  # what is expensive, or moves slowly
_LOOK_SHARE = 0.01  # of one CPU at most: many processes are looked at less often
_MEMORY_SHARE = 0.003  # likewise; their sizes cost ten times as much as all else
_EARLY_S = EVERY_S / 10  # a beat that comes so much too early is not waited for


class Watch:
    """Looks from the start of the load to its end; `sample` is called in between, every EVERY_S.

    Nothing is written meanwhile. `talkative` says why the network's counters hold connections of
    others than the load tool. `stay` looks on which CPUs the processes are that are found. Leaving
    it lets go of all files.
    """

    def __init__(
        self,
        here: Here,
        services: dict[str, tuple[Role, Running | None]],
        talkative: str,
        stay: Stay,
    ) -> None:
        self._here = here
        self._stay = stay
        self._talkative = talkative
        self._parts: dict[str, Watched | Usage] = {}
        self._usage: list[UsageRow] = []
        self._system: list[dict[str, float]] = []
        self._cpus = sorted(os.sched_getaffinity(0))
        self._begun: float | None = None
        self._look_due = self._fully_due = self._memory_due = self._slow_due = 0.0
        with contextlib.ExitStack() as files:
            self._files = files
            for label, (role, running) in services.items():
                if running is None:
                    self._parts[label] = _running_already(label, role)
                else:
                    self._watch(label, role, running)
            celsius = speed.celsius()
            self._others = foreign.look()
            self._look()
            # A load tool is seen at the first beat.
            self._look_due = self._fully_due = self._memory_due = 0.0
            self._machine = files.enter_context(contextlib.closing(machine.Reader(self._cpus)))
            self._network = files.enter_context(contextlib.closing(network.Reader(here.init_pid)))
            self._counters = here.counters()
            self._note_machine()
            self._note_heat(celsius)
            self._own_cpu = time.process_time()
            self._begun = time.monotonic()
            self._files = files.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._files.close()

    def add_loader(self, label: str, running: Running) -> None:
        """Watch a process of the load tool too."""
        self._watch(label, "loader", running)

    def _watch(self, label: str, role: Role, running: Running) -> None:
        watched = Watched(self._here, label, role, running)
        self._files.enter_context(contextlib.closing(watched))
        self._parts[label] = watched
        self._stay.look(label, role, watched.part.pids)

    @property
    def _watched(self) -> list[Watched]:
        return [one for one in self._parts.values() if isinstance(one, Watched)]

    def sample(self) -> None:
        """Look at the machine, and at the parts unless that has become too expensive."""
        self._note_machine()
        if self._now_s() >= self._look_due:
            self._look()

    def _now_s(self) -> float:
        return 0.0 if self._begun is None else time.monotonic() - self._begun

    def _note_machine(self) -> None:
        now_s = self._now_s()
        if fully := now_s >= self._slow_due:
            self._slow_due = now_s + _FULLY_EVERY_S - _EARLY_S
        row = {TIME: now_s, **self._machine.row(fully=fully), **self._network.row(fully=fully)}
        self._system.append(row)

    def _note_heat(self, celsius: float | None) -> None:
        if celsius is not None:
            self._system[-1]["heat.celsius"] = celsius

    def _look(self) -> None:
        """Look at all parts; how soon again depends on what it cost."""
        now_s, begun = self._now_s(), time.process_time()
        fully = now_s >= self._fully_due
        orphans = self._orphans() if fully else []
        for one in self._watched:
            one.part.look(self._now_s(), orphans, fully=fully)
            if fully:
                self._stay.look(one.label, one.role, one.part.pids)
        looked = time.process_time()
        sizes: dict[str, int | None] = {}
        if now_s >= self._memory_due:
            sizes = {one.label: one.part.memory() for one in self._watched}
            took = time.process_time() - looked
            self._memory_due = now_s + max(_FULLY_EVERY_S, took / _MEMORY_SHARE) - _EARLY_S
        rows = (one.row(self._now_s(), sizes.get(one.label), fully=fully) for one in self._watched)
        self._usage += [row for row in rows if row is not None]
        self._look_due = now_s + (looked - begun) / _LOOK_SHARE - _EARLY_S
        if fully:
            self._fully_due = now_s + _FULLY_EVERY_S - _EARLY_S

    def _orphans(self) -> list[int]:
        """Return the processes right below the keeper that are not known to be of a part."""
        known = {pid for one in self._watched for pid in one.part.pids}
        init = self._here.init_pid
        return [pid for pid in children(init, init) if pid not in known]

    def observation(self, folder: Path) -> Observation:
        """Look for the last time, write usage.csv and system.csv into `folder`, say what was seen.

        Each figure that the two files tell is computed from what they say.
        """
        seconds = self._now_s()
        own = time.process_time() - self._own_cpu
        after = self._here.counters()
        self._slow_due = self._fully_due = self._memory_due = 0.0
        self._note_machine()
        self._look()
        self._note_heat(speed.celsius())
        lasts = [one.last_row(self._here, self._now_s()) for one in self._watched]
        self._usage += [row for row in lasts if row is not None]
        self._stay.look_at_rest(self._here.init_pid)
        usage, system = usage_text(self._usage), system_text(self._system)
        (folder / USAGE).write_text(usage)
        (folder / SYSTEM).write_text(system)
        facts = Observation(
            seconds=seconds,
            usage=tuple(
                one.facts() if isinstance(one, Watched) else one for one in self._parts.values()
            ),
            network=self._here.mode.network,
            counters=_grown(self._counters, after),
            foreign_connections=self._talkative,
            sampler_cpu_s=own,
            machine=Machine(
                cpus=len(self._cpus),
                ports=self._here.mode.ports,
                foreign=foreign.busiest(self._others, foreign.look()),
            ),
        )
        seen = recomputed(facts, usage, system)
        return seen.model_copy(update={"usage": tuple(map(self._explained, seen.usage))})

    def _explained(self, usage: Usage) -> Usage:
        part = self._parts[usage.label]
        return part.explained(usage) if isinstance(part, Watched) else usage


def _running_already(label: str, role: Role) -> Usage:
    return Usage(
        label=label,
        role=role,
        cpu_s=None,
        peak_pss_bytes=None,
        why="it was running already: its processes are not known",
    )


def _grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {
        name: after[name] - value
        for name, value in before.items()
        if name in after and after[name] != value
    }
