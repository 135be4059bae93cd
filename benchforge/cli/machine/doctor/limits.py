"""Findings on the limits of this process and its group, counters and pressure."""

import re
from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding, judged, unknown, warn
from benchforge.run.machine.quiet import number, raw, text
from benchforge.text.readable import amount, exact

_FILES = 4096
_NO_LIMIT_BYTES = 1 << 60  # version 1 writes no limit as a number of pages near 2^63
_SEEN = "up to the highest group that is seen"
_PARANOID = 2
_WAITING = {"cpu": 10.0, "memory": 0.1, "io": 1.0}  # percent, beyond which results change
_DEVICES = "sys/bus/event_source/devices"


def limit_findings(root: Path) -> Iterator[MachineFinding]:
    """Yield the findings on limits."""
    yield _files(root)
    yield from _group(root)
    yield _counters(root)
    yield _pressure(root)


def _files(root: Path) -> MachineFinding:
    limits = raw(root, "proc/self/limits") or ""
    words = re.search(r"^Max open files +(\S+) +(\S+)", limits, re.MULTILINE)
    soft = number(words[1]) if words else None
    if words is None or (soft is None and words[1] != "unlimited"):
        return unknown("open files", "/proc/self/limits does not say")
    few, says = soft is not None and soft < _FILES, f"{words[1]}, at most {words[2]}"
    fails = f"{says}: a server or a load tool with more connections fails"
    do = f"[tuning] limits = {{ nofile = {_FILES} }} in the suite"
    return judged("open files", few, says, fails, do)


def _group(root: Path) -> Iterator[MachineFinding]:
    """Yield the limits of control groups: throttling there looks like a slow server."""
    folders = list(_folders(raw(root, "proc/self/cgroup") or ""))
    cpus = _least(_cpus(root, folder) for folder in folders)
    if cpus is None:
        yield unknown("cgroup quota", "no file tells whether CPU time is limited")
    else:
        says = f"the time of {exact(cpus)} CPUs, then everything waits, and trials show the waiting"
        good, do = f"none, {_SEEN}", "measure outside of it, or with a larger quota"
        yield judged("cgroup quota", cpus < inf, good, says, do)
    memory = _least(_bytes(root, folder) for folder in folders)
    if memory is None:
        yield unknown("cgroup memory", "no file tells whether memory is limited")
    else:
        says = f"{amount('B', memory)}, then processes are killed"
        good, do = f"no limit, {_SEEN}", "measure outside of it, or with a larger limit"
        yield judged("cgroup memory", memory < _NO_LIMIT_BYTES, good, says, do)


def _folders(listed: str) -> Iterator[str]:
    for line in listed.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        top = f"sys/fs/cgroup/{controllers}".rstrip("/")
        names = [name for name in path.split("/") if name]
        if ".." not in names:  # the group lies outside of what we may see
            yield from ("/".join([top, *names[:depth]]) for depth in range(len(names), -1, -1))


def _least(limits: Iterable[float | None]) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _cpus(root: Path, folder: str) -> float | None:
    if (setting := text(root, f"{folder}/cpu.max")) is not None:
        quota, _, period = setting.partition(" ")
    else:
        quota = text(root, f"{folder}/cpu.cfs_quota_us") or ""
        period = text(root, f"{folder}/cpu.cfs_period_us") or ""
    if quota in {"max", "-1"}:
        return inf
    time_us, period_us = number(quota), number(period)
    return time_us / period_us if time_us is not None and period_us else None


def _bytes(root: Path, folder: str) -> float | None:
    limit = text(root, f"{folder}/memory.max") or text(root, f"{folder}/memory.limit_in_bytes")
    return inf if limit == "max" else number(limit)


def _counters(root: Path) -> MachineFinding:
    paranoid = text(root, "proc/sys/kernel/perf_event_paranoid")
    if paranoid is None or not (root / _DEVICES).is_dir():
        return unknown("perf counters", "the kernel does not say")
    if not any((root / _DEVICES / name).exists() for name in ("cpu", "cpu_core", "armv8_pmuv3_0")):
        says = "the CPU's own are not there: instructions and cache misses cannot be counted"
        return warn("perf counters", says)
    closed, level = (
        (number(paranoid) or 0) > _PARANOID,
        f"(kernel.perf_event_paranoid = {paranoid})",
    )
    good, says = f"there {level}", f"for root only {level}"
    do = f"sysctl kernel.perf_event_paranoid={_PARANOID}"
    return judged("perf counters", closed, good, says, do)


def _pressure(root: Path) -> MachineFinding:
    stalled = {name: _stalled(raw(root, f"proc/pressure/{name}")) for name in _WAITING}
    if any(percent is None for percent in stalled.values()):
        says = "the kernel does not tell how long processes wait for CPU, memory and disk"
        return unknown("pressure", says, "start it with psi=1")
    waited = ", ".join(f"for {name} {exact(percent)} %" for name, percent in stalled.items())
    says = f"of the last 10 s something waited {waited}"
    stalls = any(percent > _WAITING[name] for name, percent in stalled.items() if percent)
    return judged("pressure", stalls, says, says, "end what runs, or wait")


def _stalled(words: str | None) -> float | None:
    average = re.search(r"^some avg10=(\d{1,3}\.\d+)", words or "")
    return float(average[1]) if average else None
