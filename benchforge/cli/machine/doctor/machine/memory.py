"""Memory: what is free, what is swapped, and how large its pages are."""

import re
from collections.abc import Iterator
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding, ok, unknown, warn
from benchforge.run.machine.cpu_ticks import fields, number, text
from benchforge.text.readable import amount

_LITTLE_KB = 1_000_000
_THP = "sys/kernel/mm/transparent_hugepage/enabled"


def findings(root: Path) -> Iterator[MachineFinding]:
    """Yield what there is to say of memory."""
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
    if free < _LITTLE_KB:
        return warn("memory", f"{says}: the kernel may kill measured processes", "end what uses it")
    return ok("memory", says)


def _swap(total: int | None, free: int | None) -> MachineFinding:
    if total is None or free is None:
        return unknown("swap", "/proc/meminfo does not say")
    if total == 0:
        return ok("swap", "none")
    if free < total:
        says = f"{_kib(total - free)} of {_kib(total)} used: measured processes may be swapped out"
        return warn("swap", says, "swapoff -a")
    return ok("swap", f"{_kib(total)}, none of it used")


def _pages(enabled: str | None) -> MachineFinding:
    chosen = re.search(r"\[(\w+)\]", enabled or "")
    if chosen is None:
        return unknown("huge pages", "the kernel does not say whether it makes them by itself")
    if chosen[1] == "always":
        says = "always: when a process gets them is chance, and its speed and memory follow"
        return warn("huge pages", says, f"echo madvise > /{_THP}")
    return ok("huge pages", f"{chosen[1]}: none that is not asked for")


def _layout(randomize: str | None) -> MachineFinding:
    match randomize:
        case "2":
            return ok("ASLR", "on: each start has a layout of its own, over which trials average")
        case "0" | "1":
            says = "not full: every trial may have the same layout, a lucky or an unlucky one"
            return warn("ASLR", says, "sysctl kernel.randomize_va_space=2")
    return unknown("ASLR", "the kernel does not say")
