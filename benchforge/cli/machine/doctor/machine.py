"""Findings on a machine: CPUs, load, calibration, memory, disks, network and isolation."""

import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchforge.checks.limits import limits
from benchforge.cli.machine.calibrate.command import between_neighbours, shown
from benchforge.cli.machine.doctor.finding import MachineFinding, judged, ok, unknown, warn
from benchforge.cli.machine.doctor.limits import limit_findings
from benchforge.model.files.calibration import Calibration
from benchforge.model.values.cpus import Cpus
from benchforge.run.disk.space import free_b
from benchforge.run.machine.calibration import kept, stale
from benchforge.run.machine.quiet import FOREIGN, Look, fields, look, number, raw, text
from benchforge.run.sandbox.sandbox import Mode
from benchforge.run.watch.foreign import printable
from benchforge.text.readable import amount, exact, percent

_CPU = "sys/devices/system/cpu"
_CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
# Read without asking a device: they cost nanoseconds.
_GOOD_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")


def cpu_findings(root: Path) -> Iterator[MachineFinding]:
    """Yield the findings on the CPUs."""
    for subject in (_usable, _model, _smt, _governor, _turbo, _clock, _virtual):
        yield subject(root)


def _usable(root: Path) -> MachineFinding:
    listed = fields(root, "proc/self/status").get("Cpus_allowed_list", "")
    try:
        count = len(Cpus.parse(listed))
    except ValueError:
        return unknown("usable CPUs", "/proc/self/status does not say")
    says = "1: the server and the load tool take turns on it, and each slows the other"
    good, do = f"{count} ({listed})", "measure where there are more"
    return judged("usable CPUs", count == 1, good, says, do)


def _model(root: Path) -> MachineFinding:
    about = fields(root, "proc/cpuinfo")
    model = about.get("model name") or about.get("Model") or about.get("cpu model")
    return ok("CPU model", model) if model else unknown("CPU model", "/proc/cpuinfo does not say")


def _smt(root: Path) -> MachineFinding:
    active = text(root, f"{_CPU}/smt/active")
    if active not in {"0", "1"}:
        return unknown("SMT", "the kernel does not say whether CPUs share a core")
    good, says = "off: each CPU is a core", "on: two CPUs may be one core, whose speed they share"
    return judged("SMT", active == "1", good, says, f"echo off > /{_CPU}/smt/control")


def _governor(root: Path) -> MachineFinding:
    files = sorted((root / _CPU).glob("cpu[0-9]*/cpufreq/scaling_governor"))
    governors = {text(file.parent, file.name) for file in files}
    named = sorted(governor for governor in governors if governor)
    if not named or None in governors:
        return unknown("governor", "the kernel does not say who sets the CPUs' frequency")
    says = f"{', '.join(named)}: the frequency follows the load, and so do the results"
    good, do = "performance", "cpupower frequency-set -g performance"
    return judged("governor", named != [good], good, says, do)


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
    says = f"{source}: each look at the clock takes about a microsecond"
    do = "see in the kernel's log why tsc is not used"
    return judged("clocksource", source not in _GOOD_CLOCKS, source, says, do)


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


_BETWEEN_S = 1.0
_LITTLE_KB = 1_000_000
_LITTLE_B = 1e9
_THP = "sys/kernel/mm/transparent_hugepage/enabled"
_LOAD_A_CPU = 0.2
_STOLEN = 0.005
_SHOWN = 3
_BACKLOG = 1024
_PORTS = 20_000
_MTU = 65536
_SHARED = "counts include connections of others, ports are shared, and [tuning] sysctl is refused"
_HIDING = "a process that hides may outlive its trial"
_ALLOWING = "allow user namespaces: sysctl user.max_user_namespaces=10000, or run as root"
_ANEW = "benchforge calibrate"


def machine(
    root: Path, mode: Mode | str, folders: Mapping[str, Path], between_s: float = _BETWEEN_S
) -> Iterator[MachineFinding]:
    """Yield all findings below `root`, the folder that holds /proc and /sys.

    It takes `between_s` seconds to see who uses the CPUs. `folders` are where a run writes, by
    purpose; `mode` is of a trial that was tried, or says why none was.
    """
    earlier = look(root)
    time.sleep(between_s)
    later = look(root)
    yield from cpu_findings(root)
    yield from load_findings(root, earlier, later, frozenset({os.getpid()}))
    yield from calibration_findings()
    yield from memory_findings(root)
    yield from space_findings(folders)
    yield from limit_findings(root)
    yield from network_findings(root)
    yield from isolation_findings(root, mode)


def memory_findings(root: Path) -> Iterator[MachineFinding]:
    """Yield the findings on memory."""
    about = fields(root, "proc/meminfo")
    yield _free(number(about.get("MemAvailable")), number(about.get("MemTotal")))
    yield _swap(number(about.get("SwapTotal")), number(about.get("SwapFree")))
    yield _pages(text(root, _THP))
    yield _layout(text(root, "proc/sys/kernel/randomize_va_space"))


def _kib(number: int) -> str:
    return amount("B", number * 1024)


def _free(free: int | None, total: int | None) -> MachineFinding:
    if free is None or total is None:
        return unknown("memory", "/proc/meminfo does not say how much is available")
    says = f"{_kib(free)} of {_kib(total)} available"
    killed = f"{says}: the kernel may kill measured processes"
    return judged("memory", free < _LITTLE_KB, says, killed, "end what uses it")


def _swap(total: int | None, free: int | None) -> MachineFinding:
    if total is None or free is None:
        return unknown("swap", "/proc/meminfo does not say")
    if total == 0:
        return ok("swap", "none")
    says = f"{_kib(total - free)} of {_kib(total)} used: measured processes may be swapped out"
    return judged("swap", free < total, f"{_kib(total)}, none of it used", says, "swapoff -a")


def _pages(enabled: str | None) -> MachineFinding:
    chosen = re.search(r"\[(\w+)\]", enabled or "")
    if chosen is None:
        return unknown("huge pages", "the kernel does not say whether it makes them by itself")
    says = "always: when a process gets them is chance, and its speed and memory follow"
    good, do = f"{chosen[1]}: only for processes that ask for them", f"echo madvise > /{_THP}"
    return judged("huge pages", chosen[1] == "always", good, says, do)


def _layout(randomize: str | None) -> MachineFinding:
    if randomize not in {"0", "1", "2"}:
        return unknown("ASLR", "the kernel does not say")
    good = "on: each start has a layout of its own, over which trials average"
    says = "not full: every trial may have the same layout, a lucky or an unlucky one"
    return judged("ASLR", randomize != "2", good, says, "sysctl kernel.randomize_va_space=2")


def space_findings(folders: Mapping[str, Path]) -> Iterator[MachineFinding]:
    """Yield the free space for each purpose, by the nearest folder that exists."""
    for purpose, folder in folders.items():
        try:
            free = free_b(folder)
        except OSError as error:
            yield unknown(f"disk: {purpose}", f"{error.filename}: {error.strerror}")
            continue
        says = f"{amount('B', free)} free at {folder}"
        fails = f"{says}: a run may fail because it cannot write"
        yield judged(f"disk: {purpose}", free < _LITTLE_B, says, fails, "free some space")


def load_findings(
    root: Path, earlier: Look | None, later: Look | None, pids: frozenset[int]
) -> Iterator[MachineFinding]:
    """Yield the findings on the load between two looks; `pids` are those of our own."""
    yield _average(text(root, "proc/loadavg"), later)
    if earlier is None or later is None or later.total <= earlier.total:
        yield unknown("other processes", "/proc/stat does not say who uses the CPUs")
        yield unknown("steal", "/proc/stat does not say")
        return
    yield _foreign(earlier, later, pids)
    stolen = (later.stolen - earlier.stolen) / (later.total - earlier.total)
    says = f"{percent(max(0.0, stolen))} of the CPUs' time was given to other machines"
    do = "measure at another time, or on a machine of your own"
    yield judged("steal", stolen > _STOLEN, percent(max(0.0, stolen)), says, do)


def _average(words: str | None, look_: Look | None) -> MachineFinding:
    try:
        minute = float((words or "").split()[0])
    except (IndexError, ValueError):
        minute = float("nan")
    if look_ is None or not 0 <= minute < float("inf"):
        return unknown("load average", "/proc/loadavg does not say")
    loud, good = minute > _LOAD_A_CPU * look_.cpus, f"{exact(minute)} on {look_.cpus} CPUs"
    says = f"{good}: something else runs, or ran a minute ago"
    return judged("load average", loud, good, says, "wait, or end what runs")


def _foreign(first_look: Look, second_look: Look, pids: frozenset[int]) -> MachineFinding:
    used = {
        pid: ticks - first_look.processes.get(pid, ("", 0))[1]
        for pid, (_, ticks) in second_look.processes.items()
    }
    ticks_ = second_look.total - first_look.total
    ticks_of_pids = sum(ticks for pid, ticks in used.items() if pid in pids)
    share = max(0.0, (second_look.busy - first_look.busy - ticks_of_pids) / ticks_)
    says = f"they use {percent(share)} of the CPUs"
    if share <= FOREIGN:
        return ok("other processes", says)
    others = sorted((ticks, pid) for pid, ticks in used.items() if pid not in pids and ticks > 0)
    names = [
        f"{printable(second_look.processes[pid][0])} (process {pid}, "
        f"{percent(ticks / ticks_ * second_look.cpus)})"
        for ticks, pid in reversed(others[-_SHOWN:])
    ]
    busiest = f", the most by {', '.join(names)}" if names else ", by none that is visible here"
    return warn("other processes", f"{says}{busiest}", "end them, or wait")


def network_findings(root: Path) -> Iterator[MachineFinding]:
    """Yield the findings on the network."""
    yield _backlog(number(text(root, "proc/sys/net/core/somaxconn")))
    yield _ports(text(root, "proc/sys/net/ipv4/ip_local_port_range"))
    yield _loopback(number(text(root, "sys/class/net/lo/mtu")))


def _backlog(most: int | None) -> MachineFinding:
    if most is None:
        return unknown("somaxconn", "the kernel does not say how many connections may wait")
    says = f"{most}: of more connections at once some are refused, in the host's network"
    do = "sysctl net.core.somaxconn=4096"
    return judged("somaxconn", most < _BACKLOG, str(most), says, do)


def _ports(words: str | None) -> MachineFinding:
    ends = [number(word) for word in (words or "").split()]
    match ends:
        case [int(first), int(last)] if first <= last:
            count = last - first + 1
        case _:
            return unknown("port range", "the kernel does not say")
    says = f"{first}-{last}: without keep-alive a load runs out of ports, in the host's network"
    good = f"{first}-{last}, {count} connections a minute without keep-alive"
    do = 'sysctl net.ipv4.ip_local_port_range="32768 60999"'
    return judged("port range", count < _PORTS, good, says, do)


def _loopback(mtu: int | None) -> MachineFinding:
    if mtu is None:
        return unknown("loopback MTU", "the kernel does not say")
    says = f"{mtu}, not {_MTU}: large answers cost more packets than elsewhere"
    return judged("loopback MTU", mtu != _MTU, str(mtu), says, f"ip link set lo mtu {_MTU}")


def isolation_findings(root: Path, mode: Mode | str) -> Iterator[MachineFinding]:
    """Yield how trials are isolated; `mode` is of a trial that was tried, or why none was."""
    if isinstance(mode, str):
        yield unknown("own processes", mode)
        yield unknown("own network", mode)
    else:
        reason = "; ".join(mode.weaker)
        good, says = "each trial has private processes and mounts", f"{reason}: {_HIDING}"
        yield judged("own processes", not mode.pid_namespace, good, says, _ALLOWING)
        good, says = "each trial has one, whose counters are exact", f"{reason}: {_SHARED}"
        yield judged("own network", mode.network != "private", good, says, _ALLOWING)
    yield _users(root)


def _users(root: Path) -> MachineFinding:
    most = number(text(root, "proc/sys/user/max_user_namespaces"))
    if most is None:
        return unknown("user namespaces", "the kernel does not say how many there may be")
    cures = ["user.max_user_namespaces=10000"] * (most == 0)
    settings = ("unprivileged_userns_clone", "1"), ("apparmor_restrict_unprivileged_userns", "0")
    for name, good in settings:
        forbids = text(root, f"proc/sys/kernel/{name}") == ("0" if good == "1" else "1")
        cures += [f"kernel.{name}={good}"] * forbids
    says = "forbidden, at least to ordinary users: their trials share the machine's network"
    do = f"sysctl {' '.join(cures)}"
    return judged("user namespaces", bool(cures), f"{most} allowed", says, do)


def calibration_findings() -> Iterator[MachineFinding]:
    """Yield the state of the calibration, from which runs take their thresholds."""
    match kept():
        case None:
            yield unknown("calibration", "there is none: how loud it is when quiet", _ANEW)
        case Calibration() as calibration if reason := stale(calibration, limits()):
            yield warn("calibration", f"not used: {reason}", _ANEW)
        case Calibration() as calibration:
            least = shown(between_neighbours(calibration.per_second)).get(10)
            smallest = "not known, since all rounds were equal" if least is None else percent(least)
            when = f"of {calibration.created:%Y-%m-%d}"
            says = f"{when}: the smallest difference that 10 blocks show: {smallest}"
            holder = calibration.lock_holder
            yield judged("calibration", bool(holder), says, f"{says}; {holder}", _ANEW)
        case faults:
            yield warn("calibration", f"not used: {faults[0]}", _ANEW)
