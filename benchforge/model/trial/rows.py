"""usage.csv and system.csv beside a trial: what was read while its load ran, a row a look."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import NonNegativeFloat, NonNegativeInt, ValidationError, field_validator

from benchforge.model.values.case_name import Role
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
    """Resources that a part used from the start of the load to a moment.

    Each part has a row four times a second, or less often with many processes. The rows of a load
    tool count from its start, and the last one is the kernel's total at its end. trial.json takes
    what threads did after their last reading to be as before. An empty cell was not read.
    """

    time_s: NonNegativeFloat
    "Time since the load began."
    label: str
    "Label of the part."
    role: Role
    "Role of the part in this trial."
    cpu_s: NonNegativeFloat | None = None
    "User and system time of all processes of the part, including ended children."
    cpu_wait_s: NonNegativeFloat | None = None
    "Total time in which threads were ready to run and waited for a CPU."
    busiest_thread_cpu_s: NonNegativeFloat | None = None
    "CPU time of the busiest thread."
    busy_threads: NonNegativeInt | None = None
    "Number of threads that used at least 5 % of a CPU so far, including ended ones."
    threads: NonNegativeInt | None = None
    "Number of threads; empty in the last row of a load tool."
    major_faults: NonNegativeInt | None = None
    "Pages that were read from a disk, including those of ended children."
    voluntary_switches: NonNegativeInt | None = None
    "Context switches of threads that waited for something, read once a second."
    involuntary_switches: NonNegativeInt | None = None
    "Context switches of threads that had to leave the CPU, read once a second."
    processes: NonNegativeInt | None = None
    "Number of processes, read once a second, when benchforge looks for new ones."
    ended_processes: NonNegativeInt | None = None
    "Number of processes of the beginning that have ended, read once a second."
    new_processes: NonNegativeInt | None = None
    "Number of processes that did not exist at the beginning."
    process_cpu_s: tuple[NonNegativeFloat, ...] | None = None
    "CPU time of each process, the largest first, separated by spaces."
    pss_bytes: NonNegativeInt | None = None
    """Sum of the proportional set sizes and of shared memory that is open and not mapped; read once
    a second, or less often if it takes long."""

    @field_validator("process_cpu_s", mode="before")
    @classmethod
    def _split(cls, given: Any) -> Any:
        return given.split() if isinstance(given, str) else given


SYSTEM_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        TIME: "Current time since the load began, in seconds.",
        "cpu.N.busy_s": "CPU time of all processes on CPU N, which benchforge may use.",
        "cpu.N.stolen_s": "CPU time of CPU N that the hypervisor gave to other machines.",
        "cpu.N.mhz": "Current frequency of CPU N, if the kernel reports more than the nominal one.",
        "pressure.WHAT.KIND_s": "Time in which some or all (full) waited for cpu, io or memory.",
        "paging.WHAT": "Number of pages swapped out (pswpout) and in (pswpin), and of processes"
        " that were killed because memory ran out (oom_kill).",
        "disk.read_bytes": "Number of bytes read from all disks.",
        "disk.written_bytes": "Number of bytes written to all disks.",
        "group.throttled": "Number of times that the control groups' quota stopped the processes.",
        "heat.throttled": "Number of times that CPUs were slowed down because of their heat.",
        "heat.celsius": "Highest current temperature of all sensors, before and after the load.",
        "clock.step_s": "Shift of the wall clock against the monotonic clock.",
        "load.average": "Current load average of the last minute.",
        "net.WHAT": "TCP counter of the trial's network. TcpCurrEstab is a current number.",
        "net.time_wait": "Current number of sockets in TIME_WAIT.",
    }
)
"Description of each column. A value is the increase since the load began, or a current number."


def usage_line(row: UsageRow) -> str:
    """Return a row of usage.csv; seconds have six decimals, and what was not read is empty."""
    return _line(value for _, value in row)


def system_line(columns: Sequence[str], row: SystemRow) -> str:
    """Return a row of system.csv; what is of no column is left out."""
    return _line(row.get(name) for name in columns)


def rows_file(lines: Iterable[str], columns: Iterable[str] = UsageRow.model_fields) -> str:
    """Return usage.csv or system.csv, with these lines below the names of its columns."""
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
    rows: list[UsageRow] = []
    for line, cells in _lines(text):
        filled = {name: cell for name, cell in cells.items() if cell}
        try:
            rows.append(UsageRow.model_validate_strings(filled))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise ValueError(f"line {line}: {first['loc'][0]}: {first['msg'].lower()}") from None
    return tuple(rows)


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
