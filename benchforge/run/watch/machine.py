"""The whole machine: its CPUs, their speed and heat, what stands still, paging, disks, clocks."""

import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from benchforge.run.machine.quiet import number
from benchforge.run.watch import group
from benchforge.run.watch.files import content, whole

_SYSTEM = Path("/")
_TICKS = os.sysconf("SC_CLK_TCK")
_IDLE, _IO_WAIT, _STEAL, _FIELDS = 3, 4, 7, 8
_RESOURCES = ("cpu", "io", "memory")
_PAGING = ("pswpin", "pswpout", "oom_kill")
_TCP = tuple(f"net.Tcp{name}" for name in ("InSegs", "OutSegs", "RetransSegs", "PassiveOpens"))
_OPEN = "net.TcpCurrEstab"  # no counter
_SECTOR = 512  # whatever the disk has: the kernel counts in these
_TRIES, _TOGETHER_NS = 3, 20_000
_CPU = "{}/sys/devices/system/cpu/cpu{}/{}"
_FREQUENCY = "cpufreq/scaling_cur_freq"
_THROTTLED = ("thermal_throttle/core_throttle_count", "thermal_throttle/package_throttle_count")
_SENSORS = ("sys/class/hwmon/hwmon*/temp*_input", "sys/class/thermal/*/temp")
_COLDEST, _HOTTEST = -60.0, 200.0  # beyond them a sensor is not connected


class MachineReader:
    """Reads the numbers of the machine that the kernel tells, by the names of system.csv.

    Counters are what they grew by since `begin`, also those of the network of the process `pid`.
    """

    def __init__(
        self, cpus: Collection[int], root: Path = _SYSTEM, pid: int | str = "self"
    ) -> None:
        self._names = {f"cpu{cpu}".encode(): cpu for cpu in sorted(cpus)}
        self._root = root
        self._governed = [cpu for cpu in self._names.values() if self._number(cpu, _FREQUENCY)]
        # Without this flag, "cpu MHz" is what the clock is rated at, whatever it really does.
        flags = b"\n".join(self._lines("cpuinfo"))
        self._is_measured = not self._governed and b" aperfmperf" in flags
        self._own_disks = frozenset(
            disk.name.encode() for disk in root.glob("sys/block/*") if (disk / "device").exists()
        )
        self._groups = group.with_quota(root)
        self._network = f"{pid}/net"
        self._first = self._counters(fully=True) | self._tcp()
        self._clock = _clock_ns()

    def row(self, *, fully: bool) -> dict[str, float]:
        """Return the numbers of now; slow ones too if `fully`."""
        counters = self._counters(fully=fully)
        row = {name: value - self._first.get(name, 0.0) for name, value in counters.items()}
        row["clock.step_s"] = (_clock_ns() - self._clock) / 1e9
        if fully:
            words = b"".join(self._lines("loadavg")).split()
            row |= ({"load.average": float(words[0])} if words else {}) | dict(self._megahertz())
        for name, value in self._tcp().items():
            row[name] = value if name == _OPEN else value - self._first.get(name, 0.0)
        words = b" ".join(self._lines(f"{self._network}/sockstat")).split() if fully else []
        if b"tw" in words:
            row["net.time_wait"] = float(words[words.index(b"tw") + 1])
        return row

    def _lines(self, name: str) -> list[bytes]:
        return (whole(f"{self._root}/proc/{name}") or b"").splitlines()

    def _counters(self, *, fully: bool) -> dict[str, float]:
        counters = dict(self._cpus())
        if fully:
            counters |= dict(self._stalled()) | self._paging() | self._disk() | self._throttled()
            if self._groups:
                counters["group.throttled"] = sum(map(group.throttled, self._groups))
        return counters

    def _tcp(self) -> dict[str, float]:
        tcp = [line.split() for line in self._lines(f"{self._network}/snmp") if line[:4] == b"Tcp:"]
        if len(tcp) != 2:  # noqa: PLR2004 - names, then values
            return {}
        counters = {f"net.Tcp{name.decode()}": value for name, value in zip(*tcp, strict=True)}
        return {name: float(counters[name]) for name in (*_TCP, _OPEN) if name in counters}

    def _stalled(self) -> Iterator[tuple[str, float]]:
        for name in _RESOURCES:
            for line in self._lines(f"pressure/{name}"):
                kind, *words = line.split()
                total_us = int(words[-1].removeprefix(b"total="))
                yield f"pressure.{name}.{kind.decode()}_s", total_us / 1e6

    def _cpus(self) -> Iterator[tuple[str, float]]:
        for line in self._lines("stat"):
            if not line.startswith(b"cpu"):
                break
            name, *words = line.split()
            if (cpu := self._names.get(name)) is not None and len(words) >= _FIELDS:
                ticks = [int(word) for word in words[:_FIELDS]]
                away = ticks[_IDLE] + ticks[_IO_WAIT] + ticks[_STEAL]
                yield f"cpu.{cpu}.busy_s", (sum(ticks) - away) / _TICKS
                yield f"cpu.{cpu}.stolen_s", ticks[_STEAL] / _TICKS

    def _paging(self) -> dict[str, float]:
        lines = [line.split() for line in self._lines("vmstat")]
        statistics = {words[0].decode(): float(words[1]) for words in lines}
        return {f"paging.{name}": statistics[name] for name in _PAGING if name in statistics}

    def _disk(self) -> dict[str, float]:
        lines = [line.split() for line in self._lines("diskstats")]
        disks = [words for words in lines if words[2] in self._own_disks]
        if not disks:
            return {}
        read, written = (sum(int(words[column]) for words in disks) for column in (5, 9))
        return {"disk.read_bytes": read * _SECTOR, "disk.written_bytes": written * _SECTOR}

    def _megahertz(self) -> Iterator[tuple[str, float]]:
        for cpu in self._governed:
            if (khz := self._number(cpu, _FREQUENCY)) is not None:
                yield f"cpu.{cpu}.mhz", khz / 1000
        cpu = -1
        for line in self._lines("cpuinfo") if self._is_measured else ():
            name, _, value = line.partition(b":")
            if name.strip() == b"processor":
                cpu = int(value)
            elif name.strip() == b"cpu MHz" and cpu in self._names.values():
                yield f"cpu.{cpu}.mhz", float(value)

    def _throttled(self) -> dict[str, float]:
        counts = [self._number(cpu, name) for cpu in self._names.values() for name in _THROTTLED]
        known_counts = [count for count in counts if count is not None]
        return {"heat.throttled": sum(known_counts)} if known_counts else {}

    def _number(self, cpu: int, name: str) -> int | None:
        return number((content(_CPU.format(self._root, cpu, name)) or b"").decode())


def _clock_ns() -> int:
    """Return how far the wall clock is ahead of the monotonic one, read as close as can be."""
    samples: list[tuple[int, int]] = []
    for _ in range(_TRIES):
        earlier, wall, later = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        samples.append((later - earlier, wall - (earlier + later) // 2))
        if later - earlier < _TOGETHER_NS:
            break
    return min(samples)[1]


def celsius(root: Path = _SYSTEM) -> float | None:
    """Return the highest temperature of all sensors, or None; some are too slow for a load."""
    paths = (path for pattern in _SENSORS for path in root.glob(pattern))
    readings = [number((content(str(path)) or b"").decode()) for path in paths]
    degrees = [reading / 1000 for reading in readings if reading is not None]
    return max((degree for degree in degrees if _COLDEST < degree < _HOTTEST), default=None)
