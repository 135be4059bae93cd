"""usage.csv and system.csv beside a trial: what was read while its load ran, a row a look."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import NonNegativeFloat, NonNegativeInt, ValidationError, field_validator

from benchforge.model.trial.observation import Role
from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import too_many

USAGE = "usage.csv"
SYSTEM = "system.csv"
TIME = "time_s"
MOST_BYTES = 24 << 20
MOST_ROWS = 300_000
"That is five parts over four hours, and less than a gigabyte of memory."
_MOST_CELLS = 6_000_000

SystemRow = Mapping[str, float]
"""Numbers by the names of system.csv's columns, `time_s` among them."""


class UsageRow(Frozen):
    """What a part used from the beginning of the load to one moment.

    There is a row for each part and look, four times a second, less often where a part has many
    processes. Of a load tool it is all that it ever used; its last row is what the kernel told
    when it had ended. What its threads did after the last look at them nobody tells: trial.json
    takes it to be as before. An empty cell was not read.
    """

    time_s: NonNegativeFloat
    "Since the load began."
    label: str
    "Of the part in the suite."
    role: Role
    "What it is in this trial."
    cpu_s: NonNegativeFloat | None = None
    "User and system time of all its processes, ended children included."
    cpu_wait_s: NonNegativeFloat | None = None
    "Time in which its threads could have run and waited for a CPU, all together."
    busiest_thread_cpu_s: NonNegativeFloat | None = None
    "CPU time of the busiest thread."
    busy_threads: NonNegativeInt | None = None
    "Threads that used at least 5 % of a CPU until then, ended ones included."
    threads: NonNegativeInt | None = None
    "How many it has; empty in the last row of a load tool."
    major_faults: NonNegativeInt | None = None
    "Pages that had to be read from a disk, ended children included."
    voluntary_switches: NonNegativeInt | None = None
    "Context switches of threads that waited for something. This and the next: once a second."
    involuntary_switches: NonNegativeInt | None = None
    "Context switches of threads that had to leave the CPU."
    processes: NonNegativeInt | None = None
    "How many it has. This and the next: once a second, when new ones are looked for."
    ended_processes: NonNegativeInt | None = None
    "Processes of the beginning that have ended."
    new_processes: NonNegativeInt | None = None
    "Processes that it did not have at the beginning."
    process_cpu_s: tuple[NonNegativeFloat, ...] | None = None
    "CPU time of each of its processes, the largest first, with spaces between."
    pss_bytes: NonNegativeInt | None = None
    "The sum of the proportional set sizes; once a second, or less often where it takes long."

    @field_validator("process_cpu_s", mode="before")
    @classmethod
    def _split(cls, given: Any) -> Any:
        return given.split() if isinstance(given, str) else given


SYSTEM_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        TIME: "Seconds since the load began.",
        "cpu.N.busy_s": "CPU time of everybody on CPU N, one that we may use.",
        "cpu.N.stolen_s": "What the hypervisor gave to others of it.",
        "cpu.N.mhz": "Its frequency; none where the kernel tells what it is rated at only.",
        "pressure.WHAT.KIND_s": "How long some or all (full) waited for cpu, io or memory.",
        "paging.WHAT": "Pages that went to the swap (pswpout) and came back (pswpin), and processes"
        " that were killed for want of memory (oom_kill).",
        "disk.read_bytes": "Read from all disks.",
        "disk.written_bytes": "Written to all disks.",
        "group.throttled": "How often the quota of our control groups stopped us.",
        "heat.throttled": "How often CPUs were slowed down for their heat.",
        "heat.celsius": "The highest temperature of all sensors, before the load and after it.",
        "clock.step_s": "How far the wall clock moved against the monotonic clock.",
        "load.average": "Of the last minute, as it was.",
        "net.WHAT": "A TCP counter of the trial's network; TcpCurrEstab is as it was.",
        "net.time_wait": "Sockets in TIME_WAIT, as they were.",
    }
)
"""What a number of system.csv is, by its column. It is what was added since the load began, but for
those that were read as they were; what moves slowly is read once a second."""


def usage_line(row: UsageRow) -> str:
    """Return a row of usage.csv; seconds have six decimals, and what was not read is empty."""
    return _line(value for _, value in row)


def usage_text(lines: Iterable[str]) -> str:
    """Return usage.csv, with these lines below the names of its columns."""
    return "".join([_line(UsageRow.model_fields), *lines])


def system_line(columns: Sequence[str], row: SystemRow) -> str:
    """Return a row of system.csv; what is of no column is left out."""
    return _line(row.get(name) for name in columns)


def system_text(columns: Sequence[str], lines: Iterable[str]) -> str:
    """Return system.csv, with these lines below the names of its columns."""
    return "".join([_line(columns), *lines])


def _line(values: Iterable[object]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(map(_cell, values))
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


def rows_text(content: bytes) -> str:
    """Return the text of a file of rows. Raises ValueError where it is none, or has too many."""
    rows = content.count(b"\n") + content.count(b"\r")
    if rows > MOST_ROWS:
        raise ValueError(too_many(rows, MOST_ROWS, "rows"))
    if (cells := content.count(b",")) > _MOST_CELLS:
        raise ValueError(too_many(cells, _MOST_CELLS, "cells"))
    return content.decode()


def usage_rows(text: str) -> tuple[UsageRow, ...]:
    """Read usage.csv. Raises ValueError with the line of what cannot be."""
    return tuple(_usage_row(line, cells) for line, cells in _lines(text))


def _usage_row(line: int, cells: Mapping[str, str]) -> UsageRow:
    given = {name: cell for name, cell in cells.items() if cell}
    try:
        return UsageRow.model_validate_strings(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"line {line}: {first['loc'][0]}: {first['msg'].lower()}") from None


def system_rows(text: str) -> tuple[SystemRow, ...]:
    """Read system.csv. Raises ValueError with the line of what cannot be."""
    return tuple(
        {name: _number(line, name, cell) for name, cell in cells.items() if cell or name == TIME}
        for line, cells in _lines(text)
    )


def _lines(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = next(reader, [])
        if TIME not in header:
            raise ValueError(f"line 1: no column {TIME}")
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
        raise ValueError(f"line {line}: {name}: not a finite number")
    return value
