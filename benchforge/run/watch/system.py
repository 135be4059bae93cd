"""The machine and the trial's network while a load runs: the rows of system.csv."""

import contextlib
import os

from benchforge.model.observation import Machine
from benchforge.model.rows import TIME
from benchforge.run.here import Here
from benchforge.run.watch import foreign, machine, network, speed

_HEAT = "heat.celsius"


class System:
    """Reads both from `begin` on; what takes long, strangers and sensors, before and after."""

    def __init__(self, here: Here, fully_every_s: float) -> None:
        self.rows: list[dict[str, float]] = []
        self._here = here
        self._every_s = fully_every_s
        self._due = 0.0
        self._cpus = sorted(os.sched_getaffinity(0))
        with contextlib.ExitStack() as files:
            self._others = foreign.look()
            celsius = speed.celsius()
            self._machine = files.enter_context(contextlib.closing(machine.Reader(self._cpus)))
            self._network = files.enter_context(contextlib.closing(network.Reader(here.init_pid)))
            self._counters = here.counters()
            self.note(0.0)
            self._add_heat(celsius)
            self._files = files.pop_all()

    def note(self, now_s: float) -> None:
        """Add a row; what moves slowly too, where that is due."""
        if fully := now_s >= self._due:
            self._due = now_s + self._every_s
        row = {**self._machine.row(fully=fully), **self._network.row(fully=fully)}
        self.rows.append({TIME: now_s, **row})

    def end(self, now_s: float) -> dict[str, int]:
        """Add the last row; return by how much each counter of the network grew."""
        after = self._here.counters()
        self._due = 0.0
        self.note(now_s)
        self._add_heat(speed.celsius())
        return {
            name: after[name] - before
            for name, before in self._counters.items()
            if name in after and after[name] != before
        }

    def machine(self) -> Machine:
        """Return what the rows do not tell of the machine."""
        return Machine(
            cpus=len(self._cpus),
            ports=self._here.mode.ports,
            foreign=foreign.busiest(self._others, foreign.look()),
        )

    def _add_heat(self, celsius: float | None) -> None:
        if celsius is not None:
            self.rows[-1][_HEAT] = celsius

    def close(self) -> None:
        """Let go of all files."""
        self._files.close()
