"""What else runs: the load average, and who used the CPUs between two looks."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchforge.run.finding import Finding, ok, unknown, warn
from benchforge.run.kernel import number, raw, text

_LOAD_A_CPU = 0.2
FOREIGN = 0.05  # of all CPUs; beyond that, results were seen to change
_STOLEN = 0.005
_SHOWN = 3
_IDLE, _IO_WAIT, _STEAL, _FIELDS = 3, 4, 7, 8
_USER, _SYSTEM = 11, 12  # behind the name of a process


@dataclass(frozen=True)
class Ticks:
    """What CPUs did until one moment, in ticks of CPU time."""

    cpus: int
    busy: int
    stolen: int
    total: int


@dataclass(frozen=True)
class Look(Ticks):
    """What /proc tells at one moment."""

    processes: Mapping[int, tuple[str, int]]
    "Of each its name and what it has used; those that ended are not there."


def look(root: Path) -> Look | None:
    """Look at who has used the CPUs so far; None when /proc/stat does not say."""
    if (used := ticks(root)) is None:
        return None
    return Look(used.cpus, used.busy, used.stolen, used.total, dict(_processes(root)))


def ticks(root: Path, only: Collection[int] | None = None) -> Ticks | None:
    """Return what all CPUs did so far, or `only` those; None when /proc/stat does not say."""
    stat = raw(root, "proc/stat") or ""
    lines = [line.split() for line in stat.splitlines() if line.startswith("cpu")]
    if not lines or lines[0][0] != "cpu" or len(lines) == 1:
        return None
    own = {f"cpu{cpu}" for cpu in only or ()}
    counted = lines[:1] if only is None else [line for line in lines if line[0] in own]
    columns = [[number(word) for word in line[1 : 1 + _FIELDS]] for line in counted]
    known = [[count for count in line if count is not None] for line in columns]
    if not known or any(len(line) < _FIELDS for line in known):
        return None
    used = [sum(column) for column in zip(*known, strict=True)]
    idle = used[_IDLE] + used[_IO_WAIT]
    stolen = used[_STEAL]
    cpus = len(lines) - 1 if only is None else len(counted)
    return Ticks(cpus, sum(used) - idle - stolen, stolen, sum(used))


def _processes(root: Path) -> Iterator[tuple[int, tuple[str, int]]]:
    for folder in (root / "proc").glob("[0-9]*"):
        # A name may hold anything, parentheses too.
        begin, _, rest = (raw(folder, "stat") or "").rpartition(")")
        match [number(word) for word in rest.split()[_USER : _SYSTEM + 1]]:
            case [int(user), int(system)] if folder.name.isdigit():
                yield int(folder.name), (begin.partition("(")[2], user + system)


def findings(
    root: Path, before: Look | None, after: Look | None, ours: frozenset[int]
) -> Iterator[Finding]:
    """Yield what there is to say of the load between two looks; `ours` are the pids of our own."""
    yield _average(text(root, "proc/loadavg"), after)
    if before is None or after is None or after.total <= before.total:
        yield unknown("other processes", "/proc/stat does not say who uses the CPUs")
        yield unknown("steal", "/proc/stat does not say")
        return
    yield _foreign(before, after, ours)
    yield _stolen((after.stolen - before.stolen) / (after.total - before.total))


def _average(words: str | None, now: Look | None) -> Finding:
    try:
        minute = float((words or "").split()[0])
    except (IndexError, ValueError):
        minute = float("nan")
    if now is None or not 0 <= minute < float("inf"):
        return unknown("load average", "/proc/loadavg does not say")
    if minute > _LOAD_A_CPU * now.cpus:
        says = f"{minute:g} on {now.cpus} CPUs: something else runs, or ran a minute ago"
        return warn("load average", says, "wait, or end what runs")
    return ok("load average", f"{minute:g} on {now.cpus} CPUs")


def _foreign(before: Look, after: Look, ours: frozenset[int]) -> Finding:
    used = {
        pid: ticks - before.processes.get(pid, ("", 0))[1]
        for pid, (_, ticks) in after.processes.items()
    }
    whole = after.total - before.total
    own = sum(ticks for pid, ticks in used.items() if pid in ours)
    share = max(0.0, (after.busy - before.busy - own) / whole)
    says = f"they use {share:.0%} of the CPUs"
    if share <= FOREIGN:
        return ok("other processes", says)
    others = sorted((ticks, pid) for pid, ticks in used.items() if pid not in ours and ticks > 0)
    names = [
        f"{_printable(after.processes[pid][0])} (process {pid}, {ticks / whole * after.cpus:.0%})"
        for ticks, pid in reversed(others[-_SHOWN:])
    ]
    busiest = f", the most by {', '.join(names)}" if names else ", by none that is seen from here"
    return warn("other processes", f"{says}{busiest}", "end them, or wait")


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _stolen(share: float) -> Finding:
    if share > _STOLEN:
        says = f"{share:.1%} of the CPUs' time was given to other machines"
        return warn("steal", says, "measure at another time, or on a machine of your own")
    return ok("steal", f"{max(0.0, share):.1%}")
