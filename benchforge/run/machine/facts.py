"""Facts about the machine, kept in the header of every result."""

import hashlib
import os
import platform
import socket
import tempfile
from functools import cache
from pathlib import Path

from pydantic import JsonValue

from benchforge.model.files.result import HARD
from benchforge.run.machine.quiet import fields, number, text
from benchforge.run.sandbox.reach import mounts

_SYSTEM = Path("/")
_DEVICES = "sys/devices/system"
_CPU = f"{_DEVICES}/cpu"
_SYSCTLS = (
    *("net.core.somaxconn", "net.core.rmem_max", "net.core.wmem_max", "net.core.busy_poll"),
    *("net.core.default_qdisc", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_rmem"),
    *("net.ipv4.tcp_wmem", "net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_tw_reuse"),
    *("net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_slow_start_after_idle"),
    "net.ipv4.tcp_congestion_control",
)
# A machine's own number is nobody's business: only whether two are the same.
_SALT = b"benchforge:"


def facts(root: Path = _SYSTEM) -> dict[str, JsonValue]:
    """Return what the kernel tells at once; what it does not tell is None."""
    memory = fields(root, "proc/meminfo")
    release = fields(root, "etc/os-release", "=")
    return hard_facts(root) | {
        "hostname": text(root, "proc/sys/kernel/hostname") or socket.gethostname(),
        "system": release.get("PRETTY_NAME", "").strip('"') or platform.system(),
        "libc": " ".join(platform.libc_ver()).strip() or None,
        "idle_driver": text(root, f"{_CPU}/cpuidle/current_driver"),
        "aslr": text(root, "proc/sys/kernel/randomize_va_space"),
        "same_page_merging": text(root, "sys/kernel/mm/ksm/run"),
        "scratch_file_system": _scratch_file_system(root),
        "memory_available_kb": number(memory.get("MemAvailable")),
        "swap_free_kb": number(memory.get("SwapFree")),
        "load_average": list(os.getloadavg()),
        "boot": text(root, "proc/sys/kernel/random/boot_id"),
        "uptime_s": next(map(float, (text(root, "proc/uptime") or "").split()), None),
        "somaxconn": number(text(root, "proc/sys/net/core/somaxconn")),
        "port_range": text(root, "proc/sys/net/ipv4/ip_local_port_range"),
    }


def hard_facts(root: Path = _SYSTEM) -> dict[str, JsonValue]:
    """Return those that a comparison rests on (`model.environment.HARD`), in some milliseconds."""
    import resource  # noqa: PLC0415 - readers of results run without it

    cpuinfo, hidden = fields(root, "proc/cpuinfo"), text(root, "etc/machine-id") or None
    memory, frequency = fields(root, "proc/meminfo"), f"{_CPU}/cpu0/cpufreq/scaling_{{}}_freq"
    maker = [text(root, f"sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name")]
    bounds = [number(text(root, frequency.format(bound))) for bound in ("min", "max")]
    weak = sorted((root / _CPU / "vulnerabilities").glob("*"))
    by_name: dict[str, JsonValue] = {
        "machine_id": hidden and hashlib.sha256(_SALT + hidden.encode()).hexdigest()[:16],
        "virtual": "hypervisor" in cpuinfo["flags"].split() if "flags" in cpuinfo else None,
        "virtualization": " ".join(filter(None, maker)) or None,  # of a cloud, the kind of machine
        "cpu": cpuinfo.get("model name"),
        "cpu_family": cpuinfo.get("cpu family"),
        "cpu_stepping": cpuinfo.get("stepping"),
        "microcode": cpuinfo.get("microcode"),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "cpus_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        **_topology(root, text(root, f"{_CPU}/online")),
        "smt": text(root, f"{_CPU}/smt/active"),
        "caches": _caches(root),
        "numa_nodes": text(root, "sys/devices/system/node/online"),
        "cpus_online": text(root, f"{_CPU}/online"),
        "cpus_isolated": text(root, f"{_CPU}/isolated"),
        "cpus_nohz_full": text(root, f"{_CPU}/nohz_full"),
        "governor": text(root, f"{_CPU}/cpu0/cpufreq/scaling_governor"),
        "scaling_driver": text(root, f"{_CPU}/cpu0/cpufreq/scaling_driver"),
        "frequency_khz": None if None in bounds else list(bounds),
        "boost": text(root, f"{_CPU}/cpufreq/boost"),
        "no_turbo": text(root, f"{_CPU}/intel_pstate/no_turbo"),
        "energy_preference": text(root, f"{_CPU}/cpu0/cpufreq/energy_performance_preference"),
        "mains": _mains(root),
        "power_profile": text(root, "sys/firmware/acpi/platform_profile"),
        "mitigations": {file.name: text(file.parent, file.name) for file in weak} or None,
        "kernel": platform.release(),
        "kernel_version": platform.version(),
        "kernel_arguments": text(root, "proc/cmdline"),
        "memory_kb": number(memory.get("MemTotal")),
        "swap_kb": number(memory.get("SwapTotal")),
        "huge_pages": text(root, "sys/kernel/mm/transparent_hugepage/enabled"),
        "clocksource": text(root, f"{_DEVICES}/clocksource/clocksource0/current_clocksource"),
        "control_group": _control_group(root),
        "sysctl": {name: text(root, f"proc/sys/{name.replace('.', '/')}") for name in _SYSCTLS},
        "loopback_mtu": number(text(root, "sys/class/net/lo/mtu")),
        "limits": {"open_files": list(resource.getrlimit(resource.RLIMIT_NOFILE))},
        "python": platform.python_version(),
        "root": os.geteuid() == 0,
    }
    return {name: by_name[name] for name in HARD if name in by_name}


def _scratch_file_system(root: Path) -> str | None:
    """Return TMPDIR's file system, such as ext4: the last mount that covers it. tmpfs is memory."""
    try:
        scratch = Path(tempfile.gettempdir()).resolve()
    except OSError:
        return None
    kinds = mounts(root)
    covering = max(filter(scratch.is_relative_to, kinds), key=len, default="")
    return kinds.get(covering)


def _mains(root: Path) -> bool | None:
    """Whether it is plugged in; None where it has no plug that the kernel knows."""
    supplies = root.glob("sys/class/power_supply/*")
    mains = (supply for supply in supplies if text(supply, "type") == "Mains")
    plugged = [online for supply in mains if (online := text(supply, "online")) is not None]
    return "1" in plugged if plugged else None


@cache  # as long as the same CPUs are online
def _topology(root: Path, _online: str | None) -> dict[str, JsonValue]:
    names = ("physical_package_id", "core_id")
    folders = (root / _CPU).glob("cpu[0-9]*")
    places = [tuple(text(folder, f"topology/{name}") for name in names) for folder in folders]
    complete = [key for key in places if None not in key]
    if not complete:
        return {"sockets": None, "cores": None}
    return {"sockets": len({package for package, _ in complete}), "cores": len(set(complete))}


@cache  # of the processor, which stays; each trial looks at the facts
def _caches(root: Path) -> JsonValue:
    """Sizes by level and type, such as 1 Data, of the first CPU."""
    sizes: dict[str, JsonValue] = {}
    for folder in sorted((root / _CPU / "cpu0/cache").glob("index[0-9]*")):
        level, kind = text(folder, "level"), text(folder, "type")
        sizes[f"{level} {kind}"] = text(folder, "size")
    return sizes or None


def _control_group(root: Path) -> JsonValue:
    """The limits of the group that benchforge is in; None where it has none, or they are hidden."""
    for line in (text(root, "proc/self/cgroup") or "").split():
        if line.startswith("0::"):
            group = f"sys/fs/cgroup{line.removeprefix('0::')}"
            names = ("cpu.max", "cpuset.cpus.effective", "memory.max")
            limits: dict[str, JsonValue] = {name: text(root, f"{group}/{name}") for name in names}
            return limits if any(limits.values()) else None
    return None
