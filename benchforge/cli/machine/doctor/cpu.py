"""CPUs: how many, which, and whether their speed stays the same."""

from collections.abc import Iterator
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding, ok, unknown, warn
from benchforge.model.values.cpus import Cpus
from benchforge.run.machine.quiet import fields, raw, text

_CPU = "sys/devices/system/cpu"
_CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
# Read without asking a device: they cost nanoseconds.
_GOOD_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")


def cpu_findings(root: Path) -> Iterator[MachineFinding]:
    """Yield what there is to say of the CPUs."""
    yield _usable(root)
    yield _model(root)
    yield _smt(root)
    yield _governor(root)
    yield _turbo(root)
    yield _clock(root)
    yield _virtual(root)


def _usable(root: Path) -> MachineFinding:
    listed = fields(root, "proc/self/status").get("Cpus_allowed_list", "")
    count = _count(listed)
    if count is None:
        return unknown("usable CPUs", "/proc/self/status does not say")
    if count == 1:
        says = "1: the server and the load tool take turns on it, and each slows the other"
        return warn("usable CPUs", says, "measure where there are more")
    return ok("usable CPUs", f"{count} ({listed})")


def _count(listed: str) -> int | None:
    """Return how many a list such as 0-3,8 names; None when it is no such list."""
    try:
        return len(Cpus.parse(listed))
    except ValueError:
        return None


def _model(root: Path) -> MachineFinding:
    about = fields(root, "proc/cpuinfo")
    model = about.get("model name") or about.get("Model") or about.get("cpu model")
    return ok("CPU model", model) if model else unknown("CPU model", "/proc/cpuinfo does not say")


def _smt(root: Path) -> MachineFinding:
    match text(root, f"{_CPU}/smt/active"):
        case "0":
            return ok("SMT", "off: each CPU is a core")
        case "1":
            says = "on: two CPUs may be one core, whose speed they share"
            return warn("SMT", says, f"echo off > /{_CPU}/smt/control")
    return unknown("SMT", "the kernel does not say whether CPUs share a core")


def _governor(root: Path) -> MachineFinding:
    files = sorted((root / _CPU).glob("cpu[0-9]*/cpufreq/scaling_governor"))
    governors = {text(file.parent, file.name) for file in files}
    named = sorted(governor for governor in governors if governor)
    if not named or None in governors:
        return unknown("governor", "the kernel does not say who sets the CPUs' frequency")
    if named == ["performance"]:
        return ok("governor", "performance")
    says = f"{', '.join(named)}: the frequency follows the load, and so do the results"
    return warn("governor", says, "cpupower frequency-set -g performance")


def _turbo(root: Path) -> MachineFinding:
    off = text(root, f"{_CPU}/intel_pstate/no_turbo")
    on = text(root, f"{_CPU}/cpufreq/boost")
    says = "on: the frequency depends on temperature and on how many CPUs are busy"
    if off == "0":
        return warn("turbo", says, f"echo 1 > /{_CPU}/intel_pstate/no_turbo")
    if on == "1":
        return warn("turbo", says, f"echo 0 > /{_CPU}/cpufreq/boost")
    if off == "1" or on == "0":
        return ok("turbo", "off")
    return unknown("turbo", "the kernel does not say whether the frequency is boosted")


def _clock(root: Path) -> MachineFinding:
    source = text(root, _CLOCK)
    if not source:
        return unknown("clocksource", "the kernel does not say")
    if source in _GOOD_CLOCKS:
        return ok("clocksource", source)
    says = f"{source}: each look at the clock takes about a microsecond"
    return warn("clocksource", says, "see in the kernel's log why tsc is not used")


def _virtual(root: Path) -> MachineFinding:
    about = fields(root, "proc/cpuinfo")
    machine = text(root, "sys/class/dmi/id/product_name") or text(root, "sys/hypervisor/type")
    if "hypervisor" in about.get("flags", "").split() or text(root, "sys/hypervisor/type"):
        called = f"{machine}: " if machine else ""
        says = f"{called}neighbours that are not seen share the CPUs"
        return warn("virtual machine", says, "repeat at other times; see steal")
    if "flags" in about and raw(root, "sys/class/dmi/id/product_name") is not None:
        return ok("virtual machine", f"no sign of one ({machine})")
    return unknown("virtual machine", "neither the CPU's flags nor the firmware say")
