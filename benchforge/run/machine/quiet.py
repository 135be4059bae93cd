"""Waiting, before a trial, until nothing else uses the CPUs."""

import os
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

from benchforge.model.trial.check import Check
from benchforge.model.values.units import Duration
from benchforge.text.readable import percent

_MOST_DIGITS = 19  # of what the kernel counts in 64 bits
_PIECE, _MOST_PIECES = 1 << 14, 256  # a file of /proc may be of any length, and gives 4 kB at once
FOREIGN = 0.05  # of all CPUs; beyond that, results were seen to change
_IDLE, _IO_WAIT, _STEAL, _FIELDS = 3, 4, 7, 8
_USER, _IN_KERNEL = 11, 12  # behind the name of a process

Patience = Duration | Literal["off"] | None
"As [repeat] quiet says it."

ID = "quiet"
MOST_S = 30.0
FIRST_LOOK_S, LOOK_S = 0.05, 0.2  # the first only tells idle from busy; a tick is 10 ms
GLANCE_S = 0.02  # enough where others used no tick: it misses about as few of them
_SYSTEM = Path("/")
_TICKS = os.sysconf("SC_CLK_TCK")


def text(root: Path, path: str) -> str | None:
    """Return a file's words with one space between them; None when it cannot be read."""
    lines = raw(root, path)
    return None if lines is None else " ".join(lines.split())


def raw(root: Path, path: str) -> str | None:
    """Return a file as it is; None when it cannot be read."""
    try:
        with open(f"{root}/{path}", "rb", 0) as file:  # noqa: PTH123 - read by the hundred
            pieces = iter(partial(file.read, _PIECE), b"")  # a read of all would clear a megabyte
            return b"".join(islice(pieces, _MOST_PIECES)).decode(errors="replace")
    except (OSError, ValueError):
        return None


def fields(root: Path, path: str, separator: str = ":") -> dict[str, str]:
    """Return names and values, the first of each name; nothing when it cannot be read."""
    by_name: dict[str, str] = {}
    for line in (raw(root, path) or "").splitlines():
        name, _, value = line.partition(separator)
        by_name.setdefault(name.strip(), value.strip())
    return by_name


def number(words: str | None) -> int | None:
    """Return the whole number that a text begins with; None when it begins with none."""
    first = (words or "").split()[:1]
    digits = first[0] if first else ""
    counts = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
    return int(digits) if counts else None


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
    "Name and CPU time of each process that still runs."


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
    names = {f"cpu{cpu}" for cpu in only or ()}
    counted = lines[:1] if only is None else [line for line in lines if line[0] in names]
    columns = [[number(word) for word in line[1 : 1 + _FIELDS]] for line in counted]
    counts = [[count for count in line if count is not None] for line in columns]
    if not counts or any(len(line) < _FIELDS for line in counts):
        return None
    used = [sum(column) for column in zip(*counts, strict=True)]
    idle = used[_IDLE] + used[_IO_WAIT]
    stolen = used[_STEAL]
    cpus = len(lines) - 1 if only is None else len(counted)
    return Ticks(cpus, sum(used) - idle - stolen, stolen, sum(used))


def _processes(root: Path) -> Iterator[tuple[int, tuple[str, int]]]:
    for folder in (root / "proc").glob("[0-9]*"):
        # A name may hold anything, parentheses too.
        begin, _, rest = (raw(folder, "stat") or "").rpartition(")")
        match [number(word) for word in rest.split()[_USER : _IN_KERNEL + 1]]:
            case [int(user), int(system)] if folder.name.isdigit():
                yield int(folder.name), (begin.partition("(")[2], user + system)


@dataclass(frozen=True)
class ForeignLoad:
    """What others did at the last look: their share of the CPUs; None is unknown."""

    quiet: bool | None
    share: float | None


def at_most_s(patience: Patience, load_s: float, spare_s: float) -> float | None:
    """Return how long to wait for quiet, in seconds; None for not even to look.

    By default a wait doubles at most the declared `load_s`; `spare_s` is left to the time limit.
    """
    if patience == "off":
        return None
    return min(spare_s, min(load_s, MOST_S) if patience is None else float(patience))


def until_quiet(most_s: float) -> ForeignLoad:
    """Look until it is quiet, `most_s` seconds at most; return what was seen last."""
    deadline = time.monotonic() + most_s
    load = _look(GLANCE_S, FIRST_LOOK_S - GLANCE_S)
    while load.quiet is False and (left_s := deadline - time.monotonic()) >= FIRST_LOOK_S:
        load = _look(min(LOOK_S, left_s))
    return load


def _look(*seconds: float) -> ForeignLoad:
    """Look for so long, and on for so long as the next ones say if others used a tick."""
    cpus = os.sched_getaffinity(0)
    first_ticks, own_s = ticks(_SYSTEM, cpus), time.process_time()
    load = ForeignLoad(None, None)
    for more_s in seconds:
        time.sleep(more_s)
        load = between(first_ticks, ticks(_SYSTEM, cpus), time.process_time() - own_s)
        if load.share == 0:
            break
    return load


def between(first_ticks: Ticks | None, last_ticks: Ticks | None, own_s: float) -> ForeignLoad:
    """Judge what others used between two moments, a hypervisor's theft included.

    `own_s` is our own CPU time.
    """
    if first_ticks is None or last_ticks is None or last_ticks.total <= first_ticks.total:
        return ForeignLoad(None, None)
    total = last_ticks.total - first_ticks.total
    used = last_ticks.busy + last_ticks.stolen - first_ticks.busy - first_ticks.stolen
    others = max(0.0, used - own_s * _TICKS)
    # One tick more, since whoever runs when it strikes is charged with all of it.
    return ForeignLoad(others <= FOREIGN * total + 1, min(1.0, others / total))


_SAYS: dict[bool | None, tuple[Literal["pass", "warn", "unknown"], str]] = {
    True: ("pass", "little else used the CPUs before the trial"),
    False: (
        "warn",
        "others used the CPUs before the load: stop them, or set a longer [repeat] quiet",
    ),
    None: ("unknown", "/proc/stat does not say who used the CPUs before the trial"),
}


def check(load: ForeignLoad) -> Check:
    """Return whether a trial began while it was quiet."""
    status, says = _SAYS[load.quiet]
    return Check(
        id=ID,
        topic="quiet",
        scope="trial",
        subject="apparatus",
        status=status,
        value=load.share,
        threshold=f"at most {percent(FOREIGN)} of the CPUs, and a tick",
        source="/proc/stat of the CPUs that we may use: busy and stolen, without our own",
        message=says,
    )
