"""Facts about the machine, kept in the header of every result."""

import os
import platform
from pathlib import Path

from pydantic import JsonValue

from benchforge.run.kernel import fields, number, text

_SYSTEM = Path("/")


def facts(root: Path = _SYSTEM) -> dict[str, JsonValue]:
    """Return what the kernel tells at once; what it does not tell is None."""
    cpuinfo = fields(root, "proc/cpuinfo")
    memory = fields(root, "proc/meminfo")
    release = fields(root, "etc/os-release", "=")
    clocksource = "sys/devices/system/clocksource/clocksource0/current_clocksource"
    return {
        "cpu": cpuinfo.get("model name"),
        "cpus": os.cpu_count(),
        "cpus_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "smt": text(root, "sys/devices/system/cpu/smt/active"),
        "governor": text(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "boost": text(root, "sys/devices/system/cpu/cpufreq/boost"),
        "no_turbo": text(root, "sys/devices/system/cpu/intel_pstate/no_turbo"),
        "clocksource": text(root, clocksource),
        "virtual": "hypervisor" in cpuinfo["flags"].split() if "flags" in cpuinfo else None,
        "memory_kb": number(memory.get("MemTotal")),
        "memory_available_kb": number(memory.get("MemAvailable")),
        "swap_kb": number(memory.get("SwapTotal")),
        "swap_free_kb": number(memory.get("SwapFree")),
        "huge_pages": text(root, "sys/kernel/mm/transparent_hugepage/enabled"),
        "aslr": text(root, "proc/sys/kernel/randomize_va_space"),
        "load_average": list(os.getloadavg()),
        "kernel": platform.release(),
        "system": release.get("PRETTY_NAME", "").strip('"') or platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "somaxconn": number(text(root, "proc/sys/net/core/somaxconn")),
        "port_range": text(root, "proc/sys/net/ipv4/ip_local_port_range"),
        "root": os.geteuid() == 0,
    }
