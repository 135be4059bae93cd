"""Speed and heat of the CPUs."""

from collections.abc import Collection
from pathlib import Path

from benchforge.run.machine.quiet import number
from benchforge.run.watch.files import content, whole

_SYSTEM = Path("/")
_CPU = "{}/sys/devices/system/cpu/cpu{}/{}"
_FREQUENCY = "cpufreq/scaling_cur_freq"
_THROTTLED = ("thermal_throttle/core_throttle_count", "thermal_throttle/package_throttle_count")
_SENSORS = ("sys/class/hwmon/hwmon*/temp*_input", "sys/class/thermal/*/temp")
_COLDEST, _HOTTEST = -60.0, 200.0  # beyond them a sensor is not connected


class Speed:
    """Frequencies and throttle counts of these CPUs; what the kernel does not tell is left out."""

    def __init__(self, cpus: Collection[int], root: Path = _SYSTEM) -> None:
        self._cpus = sorted(cpus)
        self._root = root
        self._governed = [cpu for cpu in self._cpus if self._read_number(cpu, _FREQUENCY)]
        # Without this flag, "cpu MHz" is what the clock is rated at, whatever it really does.
        cpuinfo = whole(f"{root}/proc/cpuinfo") or b""
        self._counted = not self._governed and b" aperfmperf" in cpuinfo

    def megahertz(self) -> dict[str, float]:
        """Return the frequency of each CPU, by the name of its column."""
        if self._counted:
            return _of_cpuinfo(whole(f"{self._root}/proc/cpuinfo") or b"", self._cpus)
        frequencies = {cpu: self._read_number(cpu, _FREQUENCY) for cpu in self._governed}
        return {f"cpu.{cpu}.mhz": khz / 1000 for cpu, khz in frequencies.items() if khz is not None}

    def throttled(self) -> dict[str, float]:
        """Return how often they were slowed down for their heat."""
        counts = [self._read_number(cpu, name) for cpu in self._cpus for name in _THROTTLED]
        known_counts = [count for count in counts if count is not None]
        return {"heat.throttled": sum(known_counts)} if known_counts else {}

    def _read_number(self, cpu: int, name: str) -> int | None:
        return number((content(_CPU.format(self._root, cpu, name)) or b"").decode())


def _of_cpuinfo(cpuinfo: bytes, cpus: Collection[int]) -> dict[str, float]:
    frequencies: dict[str, float] = {}
    cpu = None
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(b":")
        if name.strip() == b"processor":
            cpu = int(value)
        elif name.strip() == b"cpu MHz" and cpu in cpus:
            frequencies[f"cpu.{cpu}.mhz"] = float(value)
    return frequencies


def celsius(root: Path = _SYSTEM) -> float | None:
    """Return the highest temperature of all sensors, or None; some are too slow for a load."""
    paths = (path for pattern in _SENSORS for path in root.glob(pattern))
    readings = [number((content(str(path)) or b"").decode()) for path in paths]
    degrees = [reading / 1000 for reading in readings if reading is not None]
    return max((degree for degree in degrees if _COLDEST < degree < _HOTTEST), default=None)
