"""Facts about the machine, kept in the header of every result."""

import os
import platform
from pathlib import Path

from pydantic import JsonValue


def facts() -> dict[str, JsonValue]:
    """Return what the kernel tells at once; what it does not tell is None."""
    cpuinfo = _fields("/proc/cpuinfo")
    memory = _fields("/proc/meminfo")
    release = _fields("/etc/os-release", "=")
    return {
        "cpu": cpuinfo.get("model name"),
        "cpus": os.cpu_count(),
        "cpus_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "clocksource": _text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "memory_kb": _number(memory.get("MemTotal")),
        "swap_kb": _number(memory.get("SwapTotal")),
        "load_average": list(os.getloadavg()),
        "kernel": platform.release(),
        "system": release.get("PRETTY_NAME", "").strip('"') or platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "somaxconn": _number(_text("/proc/sys/net/core/somaxconn")),
        "port_range": _text("/proc/sys/net/ipv4/ip_local_port_range"),
        "root": os.geteuid() == 0,
    }


def _text(path: str) -> str | None:
    try:
        return " ".join(Path(path).read_text().split())
    except OSError:
        return None


def _fields(path: str, separator: str = ":") -> dict[str, str]:
    text = Path(path).read_text() if Path(path).exists() else ""
    pairs = (line.partition(separator) for line in text.splitlines())
    found: dict[str, str] = {}
    for name, _, value in pairs:
        found.setdefault(name.strip(), value.strip())
    return found


def _number(text: str | None) -> int | None:
    first = (text or "").split()[:1]
    return int(first[0]) if first and first[0].isdigit() else None
