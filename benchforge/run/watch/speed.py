"""How fast the CPUs are, and how hot."""

from collections.abc import Collection
from pathlib import Path

from benchforge.run.kernel import number
from benchforge.run.watch.files import content, whole

_CPU = "/sys/devices/system/cpu/cpu{}/{}"
_THROTTLED = ("core_throttle_count", "package_throttle_count")
_SENSORS = (("/sys/class/hwmon", "hwmon*/temp*_input"), ("/sys/class/thermal", "*/temp"))
_COLDEST, _HOTTEST = -60.0, 200.0  # beyond them a sensor is not connected


class Speed:
    """Frequencies and throttle counts of these CPUs; what the kernel does not tell is left out."""

    def __init__(self, cpus: Collection[int]) -> None:
        self._cpus = sorted(cpus)
        self._governed = [
            cpu for cpu in self._cpus if content(_CPU.format(cpu, "cpufreq/scaling_cur_freq"))
        ]
        # Without this flag, "cpu MHz" is what the clock is rated at, whatever it really does.
        self._counted = not self._governed and b" aperfmperf" in (whole("/proc/cpuinfo") or b"")

    def megahertz(self) -> dict[str, float]:
        """Return the frequency of each CPU, by the name of its column."""
        if self._counted:
            return _of_cpuinfo(self._cpus)
        told = {
            cpu: number((content(_CPU.format(cpu, "cpufreq/scaling_cur_freq")) or b"").decode())
            for cpu in self._governed
        }
        return {f"cpu.{cpu}.mhz": khz / 1000 for cpu, khz in told.items() if khz is not None}

    def throttled(self) -> dict[str, float]:
        """Return how often they were slowed down for their heat."""
        paths = [
            _CPU.format(cpu, f"thermal_throttle/{name}")
            for cpu in self._cpus
            for name in _THROTTLED
        ]
        counts = [number((content(path) or b"").decode()) for path in paths]
        known = [count for count in counts if count is not None]
        return {"heat.throttled": sum(known)} if known else {}


def _of_cpuinfo(cpus: Collection[int]) -> dict[str, float]:
    found: dict[str, float] = {}
    cpu = None
    for line in (whole("/proc/cpuinfo") or b"").splitlines():
        name, _, value = line.partition(b":")
        match name.strip():
            case b"processor":
                cpu = int(value)
            case b"cpu MHz" if cpu in cpus:
                found[f"cpu.{cpu}.mhz"] = float(value)
            case _:
                pass
    return found


def celsius() -> float | None:
    """Return the highest temperature of all sensors; None without one.

    Some sensors take long to answer: do not ask while something is measured.
    """
    told = [
        number((content(str(path)) or b"").decode())
        for folder, pattern in _SENSORS
        for path in Path(folder).glob(pattern)
    ]
    degrees = [one / 1000 for one in told if one is not None]
    return max((one for one in degrees if _COLDEST < one < _HOTTEST), default=None)
