"""The machine and the trial's network while a load runs: the rows of system.csv."""

import os

from benchforge.model.trial.observation import MachineUsage
from benchforge.model.trial.rows import TIME, rows_file, system_line
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.run.watch import foreign, machine

_HEAT = "heat.celsius"


class System:
    """Reads both from `begin` on; what takes long, strangers and sensors, before and after."""

    def __init__(self, sandbox: Sandbox, fully_every_s: float) -> None:
        self._lines: list[str] = []
        self._sandbox, self._every_s, self._due = sandbox, fully_every_s, 0.0
        self._cpus = sorted(os.sched_getaffinity(0))
        self._others = foreign.look()
        celsius = machine.celsius()
        self._machine = machine.MachineReader(self._cpus, pid=sandbox.init_pid)
        self._counters = sandbox.counters()
        first = self._row(0.0)
        self._columns = (*first, _HEAT) if celsius is not None else tuple(first)
        self._add(first, celsius)

    def note(self, now_s: float) -> None:
        """Add a row; what moves slowly too, where that is due."""
        self._add(self._row(now_s))

    def _row(self, now_s: float) -> dict[str, float]:
        if fully := now_s >= self._due:
            self._due = now_s + self._every_s
        return {TIME: now_s, **self._machine.row(fully=fully)}

    def _add(self, row: dict[str, float], celsius: float | None = None) -> None:
        heat = {} if celsius is None else {_HEAT: celsius}
        self._lines.append(system_line(self._columns, row | heat))

    def end(self, now_s: float) -> dict[str, int]:
        """Add the last row; return by how much each counter of the network grew."""
        later = self._sandbox.counters()
        self._due = 0.0
        self._add(self._row(now_s), machine.celsius())
        return {
            name: later[name] - earlier
            for name, earlier in self._counters.items()
            if name in later and later[name] != earlier
        }

    def text(self) -> str:
        """Return system.csv."""
        return rows_file(self._lines, self._columns)

    def machine(self) -> MachineUsage:
        """Return what the rows do not tell of the machine."""
        ports, strangers = self._sandbox.mode.ports, foreign.busiest(self._others, foreign.look())
        return MachineUsage(cpus=len(self._cpus), ephemeral_ports=ports, foreign=strangers)
