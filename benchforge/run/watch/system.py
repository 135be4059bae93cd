"""The machine and the trial's network while a load runs: the rows of system.csv."""

import os

from benchforge.model.trial.observation import MachineUsage
from benchforge.model.trial.rows import TIME, rows_file, system_line
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.run.watch import foreign, machine
from benchforge.run.watch.files import whole

_HEAT = "heat.celsius"


class System:
    """Reads both from `begin` on; what takes long, strangers and sensors, before and after."""

    def __init__(self, sandbox: Sandbox, fully_every_s: float) -> None:
        self._lines: list[str] = []
        self._sandbox, self._every_s, self._due = sandbox, fully_every_s, 0.0
        self._cpus = sorted(os.sched_getaffinity(0))
        self._others = foreign.look()
        celsius = machine.celsius()
        self._machine = machine.MachineReader(self._cpus)
        self._network = NetworkReader(sandbox.init_pid)
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
        return {TIME: now_s, **self._machine.row(fully=fully), **self._network.row(fully=fully)}

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


_COUNTERS = ("InSegs", "OutSegs", "RetransSegs", "PassiveOpens", "CurrEstab")


class NetworkReader:
    """Reads the network of a process; counters are what they grew by since the beginning."""

    def __init__(self, pid: int) -> None:
        self._folder = f"/proc/{pid}/net"
        self._first = self._counters()

    def row(self, *, fully: bool) -> dict[str, float]:
        """Return the numbers of now, by the names of system.csv; all if `fully`."""
        row = {
            name: value if name.endswith("CurrEstab") else value - self._first.get(name, 0.0)
            for name, value in self._counters().items()
        }
        words = (whole(f"{self._folder}/sockstat") or b"").split() if fully else []
        if b"tw" in words:
            row["net.time_wait"] = float(words[words.index(b"tw") + 1])
        return row

    def _counters(self) -> dict[str, float]:
        lines = (whole(f"{self._folder}/snmp") or b"").splitlines()
        tcp = [line.split() for line in lines if line[:4] == b"Tcp:"]
        if len(tcp) != 2:  # noqa: PLR2004 - names, then values
            return {}
        counters = dict(zip((name.decode() for name in tcp[0]), tcp[1], strict=True))
        return {f"net.Tcp{name}": float(counters[name]) for name in _COUNTERS if name in counters}
