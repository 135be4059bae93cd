"""What else runs: the load average, and who used the CPUs between two looks."""

from collections.abc import Iterator
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding, ok, unknown, warn
from benchforge.run.machine.cpu_ticks import FOREIGN, Look, text
from benchforge.text.readable import exact, percent

_LOAD_A_CPU = 0.2
_STOLEN = 0.005
_SHOWN = 3


def findings(
    root: Path, before: Look | None, after: Look | None, ours: frozenset[int]
) -> Iterator[MachineFinding]:
    """Yield what there is to say of the load between two looks; `ours` are the pids of our own."""
    yield _average(text(root, "proc/loadavg"), after)
    if before is None or after is None or after.total <= before.total:
        yield unknown("other processes", "/proc/stat does not say who uses the CPUs")
        yield unknown("steal", "/proc/stat does not say")
        return
    yield _foreign(before, after, ours)
    yield _stolen((after.stolen - before.stolen) / (after.total - before.total))


def _average(words: str | None, now: Look | None) -> MachineFinding:
    try:
        minute = float((words or "").split()[0])
    except (IndexError, ValueError):
        minute = float("nan")
    if now is None or not 0 <= minute < float("inf"):
        return unknown("load average", "/proc/loadavg does not say")
    if minute > _LOAD_A_CPU * now.cpus:
        says = f"{exact(minute)} on {now.cpus} CPUs: something else runs, or ran a minute ago"
        return warn("load average", says, "wait, or end what runs")
    return ok("load average", f"{exact(minute)} on {now.cpus} CPUs")


def _foreign(before: Look, after: Look, ours: frozenset[int]) -> MachineFinding:
    used = {
        pid: ticks - before.processes.get(pid, ("", 0))[1]
        for pid, (_, ticks) in after.processes.items()
    }
    whole = after.total - before.total
    own = sum(ticks for pid, ticks in used.items() if pid in ours)
    share = max(0.0, (after.busy - before.busy - own) / whole)
    says = f"they use {percent(share)} of the CPUs"
    if share <= FOREIGN:
        return ok("other processes", says)
    others = sorted((ticks, pid) for pid, ticks in used.items() if pid not in ours and ticks > 0)
    names = [
        f"{_printable(after.processes[pid][0])} (process {pid}, "
        f"{percent(ticks / whole * after.cpus)})"
        for ticks, pid in reversed(others[-_SHOWN:])
    ]
    busiest = f", the most by {', '.join(names)}" if names else ", by none that is seen from here"
    return warn("other processes", f"{says}{busiest}", "end them, or wait")


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _stolen(share: float) -> MachineFinding:
    if share > _STOLEN:
        says = f"{percent(share)} of the CPUs' time was given to other machines"
        return warn("steal", says, "measure at another time, or on a machine of your own")
    return ok("steal", percent(max(0.0, share)))
