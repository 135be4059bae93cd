"""usage.csv and system.csv beside a trial: what was read while its load ran, a row a look."""

import csv
import dataclasses
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from benchforge.model.observation import Role

USAGE = "usage.csv"
SYSTEM = "system.csv"
TIME = "time_s"

SystemRow = Mapping[str, float]
"""Numbers by the names of system.csv's columns, `time_s` among them."""


@dataclass(frozen=True)
class UsageRow:
    """What a part used from the beginning of the load to one moment; None where it was not read.

    Of a part that began with the load it is all that the part ever used.
    """

    time_s: float
    "Seconds since the load began."
    label: str
    "Of the part."
    role: Role
    "What it is in this trial."
    cpu_s: float | None = None
    "CPU time of all its processes, ended children included."
    waited_s: float | None = None
    "How long its threads could have run and waited for a CPU, all together."
    hottest_s: float | None = None
    "CPU time of the one thread that used the most."
    busy_threads: int | None = None
    "Threads that used at least 5 % of a CPU of that time, ended ones included."
    threads: int | None = None
    "How many it has; empty in the last row of a load tool, when it has ended."
    major_faults: int | None = None
    "Pages that had to be read from a disk, ended children included."
    voluntary: int | None = None
    "Context switches of threads that waited for something; from here on, once a second."
    involuntary: int | None = None
    "Context switches of threads that had to leave the CPU."
    processes: int | None = None
    "How many it has."
    ended: int | None = None
    "How many of those that it had first are no more."
    begun: int | None = None
    "How many it has that it did not have first."
    process_cpu_s: tuple[float, ...] | None = None
    "CPU time of each of its processes, the largest first, with spaces between."
    pss_bytes: int | None = None
    "The sum of the proportional set sizes; read once a second, or less often where that is dear."


COLUMNS = tuple(field.name for field in dataclasses.fields(UsageRow))
_WHOLE = frozenset(field.name for field in dataclasses.fields(UsageRow) if field.type == int | None)


def usage_text(rows: Iterable[UsageRow]) -> str:
    """Return usage.csv; seconds have six decimals, and what was not read is empty."""
    return _text(COLUMNS, (dataclasses.asdict(row) for row in rows))


def system_text(rows: Iterable[SystemRow]) -> str:
    """Return system.csv, with a column for all that any row has, in the order of appearance."""
    rows = list(rows)
    return _text(tuple(dict.fromkeys([TIME, *(name for row in rows for name in row)])), rows)


def _text(columns: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return written.getvalue()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.6f}".rstrip("0").rstrip(".")
        case tuple():
            return " ".join(map(_cell, value))
        case _:
            return str(value)


def usage_rows(text: str) -> tuple[UsageRow, ...]:
    """Read usage.csv. Raises ValueError with the line of what cannot be."""
    return tuple(_usage_row(line, cells) for line, cells in _lines(text, COLUMNS))


def _usage_row(line: int, cells: Mapping[str, str]) -> UsageRow:
    if cells["role"] not in get_args(Role):
        raise ValueError(f"line {line}: role: {cells['role'][:40]!r} is none")
    found: dict[str, Any] = {"label": cells["label"], "role": cells["role"]}
    for name in COLUMNS:
        if name in found or (not (cell := cells[name]) and name != TIME):
            continue
        if name == "process_cpu_s":
            found[name] = tuple(_number(line, name, one) for one in cell.split())
        elif name in _WHOLE:
            found[name] = _whole(line, name, cell)
        else:
            found[name] = _number(line, name, cell)
    return UsageRow(**found)


def system_rows(text: str) -> tuple[SystemRow, ...]:
    """Read system.csv. Raises ValueError with the line of what cannot be."""
    return tuple(
        {name: _number(line, name, cell) for name, cell in cells.items() if cell or name == TIME}
        for line, cells in _lines(text, (TIME,))
    )


def _lines(text: str, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = next(reader, [])
        if missing := [name for name in needed if name not in header]:
            raise ValueError(f"line 1: no column {', '.join(missing)}")
        for cells in reader:
            if len(cells) != len(header):
                message = f"line {reader.line_num}: {len(cells)} cells below {len(header)} columns"
                raise ValueError(message)
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error


def _number(line: int, name: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"line {line}: {name}: {cell[:40]!r} is no number")
    return value


def _whole(line: int, name: str, cell: str) -> int:
    value = _number(line, name, cell)
    if value != int(value) or value < 0:
        raise ValueError(f"line {line}: {name}: {cell[:40]!r} is no whole number")
    return int(value)
