"""CPU time in ticks, from /proc: of all CPUs, of some, and of each process."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

_MOST_DIGITS = 19  # of what the kernel counts in 64 bits
_PIECE, _LONGEST = 1 << 14, 1 << 20  # bytes: a file of /proc may be of any length

FOREIGN = 0.05  # of all CPUs; beyond that, results were seen to change

_IDLE, _IO_WAIT, _STEAL, _FIELDS = 3, 4, 7, 8

_USER, _SYSTEM = 11, 12  # behind the name of a process


def text(root: Path, path: str) -> str | None:
    """Return a file's words with one space between them; None when it cannot be read."""
    lines = raw(root, path)
    return None if lines is None else " ".join(lines.split())


def raw(root: Path, path: str) -> str | None:
    """Return a file as it is; None when it cannot be read."""
    try:
        with open(f"{root}/{path}", "rb") as file:  # noqa: PTH123 - read by the hundred
            pieces = iter(partial(file.read, _PIECE), b"")  # a read of all would clear a megabyte
            return b"".join(islice(pieces, _LONGEST // _PIECE)).decode(errors="replace")
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
    own = {f"cpu{cpu}" for cpu in only or ()}
    counted = lines[:1] if only is None else [line for line in lines if line[0] in own]
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
        match [number(word) for word in rest.split()[_USER : _SYSTEM + 1]]:
            case [int(user), int(system)] if folder.name.isdigit():
                yield int(folder.name), (begin.partition("(")[2], user + system)
