"""Examination of a reader: each question of an audit, of recorded and of damaged outputs."""

import io
import math
from collections.abc import Iterator

from benchforge.cli.plugins.examination.hostile import PartFinding, Read, damages, defect, warning
from benchforge.cli.plugins.examination.inputs import ERR, FACTS, Recording
from benchforge.errors import BenchforgeError
from benchforge.parts.fault import in_a_line
from benchforge.parts.reader import Fact, Reader, Row, Source
from benchforge.text.readable import amount, exact, listed

_UNITS = {"s", "1/s", "B", "B/s", "cores", "1"}
_SHOWN = 12


def read_rows(reader: Reader, recording: Recording) -> tuple[Read, list[PartFinding]]:
    """Return the rows of a recording, and the faults of the reader."""
    findings: list[PartFinding] = []
    lines: list[str] = []
    refused, tries, refusals = "", 0, 0
    contents = {
        file: content
        for file, content in recording.files.items()
        if file not in {FACTS, ERR} and content
    }
    for file, content in contents.items():
        head = Source(file, io.BytesIO(content)).head
        if not isinstance(reader.claims(head), bool):
            findings.append(defect(f"{file}: claims() returns no bool"))
        elif not reader.claims(head) and len(contents) == 1:
            findings.append(warning(f"{file}: the reader does not claim it: only --as reads it"))
        try:
            rows = list(reader.rows(Source(file, io.BytesIO(content))))
        except (BenchforgeError, ValueError) as error:
            refused = str(error)
            continue
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code
            refused = in_a_line(error)
            findings.append(defect(f"{recording.name}: {file}: rows() crashes: {refused}"))
            continue
        lines += [line for row in rows[:_SHOWN] for line in _lines(row)]
        findings += [defect(f"{file}: {fault}") for row in rows for fault in _faults(row)]
        for damage, damaged in damages(content):
            tries += 1
            try:
                list(reader.rows(Source(file, io.BytesIO(damaged))))
            except (BenchforgeError, ValueError):
                refusals += 1
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code
                fault = f"{recording.name}: {file} {damage}: crashes: {in_a_line(error)}"
                findings.append(defect(fault))
    if not lines:
        return Read(recording.name, (), refused or "no rows"), findings
    return Read(recording.name, tuple(lines), "", tries, refusals), findings


def _lines(row: Row) -> Iterator[str]:
    yield f"{row.name} ({row.where or 'no place'})"
    yield "  " + listed((f"{name} {_shown(fact)}" for name, fact in row.facts.items()), 30)


def _shown(fact: Fact) -> str:
    if isinstance(fact.value, str):
        return fact.value
    return exact(fact.value) if fact.unit == "1" else amount(fact.unit, fact.value)


def _faults(row: Row) -> Iterator[str]:
    if not row.name or not row.where:
        yield f"row {row.name or 'without a name'}: it has no {'place' if row.name else 'name'}"
    for name, fact in row.facts.items():
        if isinstance(fact.value, str):
            continue
        if not math.isfinite(fact.value) or not 0 <= fact.resolution < math.inf:
            yield f"row {row.name}: {name} is no finite number"
        if fact.unit not in _UNITS:
            yield f"row {row.name}: {name} has the unit {fact.unit!r}, not {listed(sorted(_UNITS))}"
