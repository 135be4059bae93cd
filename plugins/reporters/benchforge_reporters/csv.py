"""Every number, and the tables of a suite, for other programs: as CSV, and as JSON.

RFC 4180, UTF-8: one line of heads, which hold the units; numbers as they were measured, not
rounded; empty where there is no case or no number; `failed` where a case has no measurement. The
last field of a line says why, and what nobody may overlook.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Final

from pydantic import JsonValue

from benchforge.plugin import (
    CaseSummary,
    Pivot,
    Place,
    Reporter,
    Statistic,
    Summary,
    Trial,
    TrialValue,
    safe,
    titled,
    trial_values,
)
from benchforge_reporters.text.cells import figure
from benchforge_reporters.text.pivots import Grid, heads, metrics_of, remarks, word

FILE: Final = "numbers.json"
FOLDER = "tables"
NUMBERS = "numbers.csv"
SEARCHES = "searches.csv"
FAILED = "failed"
_WHOLE_BELOW: Final = 2**53  # where a float holds every whole number
_field = lru_cache(1 << 12)(safe.csv)  # most fields of a row are those of the row above


class Json(Reporter):
    """Every trial's value of every metric in one flat list: numbers.json."""

    name: ClassVar[str] = "json"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write numbers.json: a row a line, so that it is read by people too."""
        rows = (json.dumps(row._asdict(), allow_nan=False) for row in trial_values(summary))
        text = ",\n ".join(rows)
        (folder / FILE).write_text(f"[{text}]\n", encoding="utf-8")
        return (folder / FILE,)


class Csv(Reporter):
    """Every trial's value of every metric in numbers.csv, and each table of the suite as a file."""

    name: ClassVar[str] = "csv"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write numbers.csv, a file for each table, and searches.csv where there are searches."""
        files = {NUMBERS: listed(summary)}
        if summary.tables:
            (folder / FOLDER).mkdir(exist_ok=True)
        for label, pivot in summary.tables.items():
            files[f"{FOLDER}/{label}.csv"] = records(pivot, summary.cases)
        if summary.searches:
            files[SEARCHES] = searched(summary)
        for name, rows in files.items():
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(map(_field, row) for row in rows)
        return [folder / name for name in files]


def listed(summary: Summary) -> Iterator[list[str]]:
    """Yield the heads, then the fields of each trial's value of each metric."""
    yield list(TrialValue._fields)
    for row in trial_values(summary):
        yield [*map(_text, row)]


def _text(value: JsonValue) -> str:
    if isinstance(value, str):  # first: most fields are texts
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _number(float(value)) if isinstance(value, int | float) else ""


def searched(summary: Summary) -> Iterator[list[str]]:
    """Yield the heads, then the fields of each search for a rate."""
    searches = [(case, case.capacity) for case in summary.cases if case.capacity is not None]
    paths = list(dict.fromkeys(path for search, _ in searches for path in search.case.vary))
    rates = ("rate", "low", "high", "safe", "passed at most")
    heads = ("scenario", "server", "driver", "arm", *paths)
    yield [*heads, *(f"{name} (requests/s)" for name in rates), "trials", "ended", "message"]
    for case_summary, capacity in searches:
        case, rate = case_summary.case, capacity.rate
        values = (rate.value, rate.low, rate.high, capacity.safe, capacity.highest_passed)
        named = [case.scenario, case.server, case.driver, str(case.arm)]
        varied = [word(json.dumps(case.vary[path])) if path in case.vary else "" for path in paths]
        phase = capacity.phase if capacity.over else ""
        ended = [str(len(capacity.attempts)), phase, capacity.message]
        yield [*named, *varied, *map(_number, values), *ended]


def records(pivot: Pivot, cases: Sequence[CaseSummary]) -> Iterator[list[str]]:
    """Yield the heads, then the fields of each row."""
    cells = Grid(pivot, cases)
    fields = list(_fields(cells))
    yield [*pivot.rows, *(field.head for field in fields), "notes"]
    for row in cells.rows:
        row_cases = [cells.case(row, column) for column in cells.columns]
        values = [field.value(cells.case(row, field.at)) for field in fields]
        notes = [note for case in row_cases if case is not None for note in _notes(pivot, case)]
        yield [*map(word, row), *values, "; ".join(notes)]


@dataclass(frozen=True)
class _Field:
    """One number of the cases of a column, or how the values behind it were formed."""

    at: Place
    head: str
    names: tuple[str, str | None, str]
    "Metric, its part, and unit."
    statistic: Statistic | None
    "Statistic; None for the estimator."

    def value(self, case: CaseSummary | None) -> str:
        """Return the field's text for a case."""
        if case is None:
            return ""
        if not case.trials and case.failed and self.statistic is not None:
            return FAILED
        if self.statistic == "runs":
            return str(case.trials)
        lines = (line for line in case.metrics if (line.metric, line.of, line.unit) == self.names)
        if (line := next(lines, None)) is None:
            return ""
        if self.statistic is None:
            return line.estimator or ""
        return _number(figure(line, self.statistic).value)


def _fields(cells: Grid) -> Iterator[_Field]:
    for column in cells.columns:
        names_ = heads(cells.pivot.columns, column)
        for metric, part, unit, has_estimator in _numbers(cells):
            title, names = " ".join(filter(None, [*names_, metric, part])), (metric, part, unit)
            in_unit = f" ({unit})" if unit not in {"", "1"} else ""
            for name, statistic in _statistics(cells.pivot):
                head = f"{title} {name}{in_unit if statistic != 'runs' else ''}"
                yield _Field(column, head, names, statistic)
            if has_estimator:
                yield _Field(column, f"{title} estimator", names, None)


def _numbers(cells: Grid) -> Iterator[tuple[str, str | None, str, bool]]:
    """Yield each metric, its part, its unit, and whether its values are statistics themselves."""
    all_lines = [line for case in cells.cases for line in case.metrics]
    for metric in dict.fromkeys(column.metric for column in metrics_of(cells)):
        lines = [line for line in all_lines if line.metric == metric]
        parts = dict.fromkeys((line.of, line.unit) for line in lines)
        for part, unit in parts or {(None, ""): None}:
            formed = (line.estimator for line in lines if (line.of, line.unit) == (part, unit))
            yield metric, part, unit, any(formed)


def _statistics(pivot: Pivot) -> Iterator[tuple[str, Statistic]]:
    for statistic in pivot.show:
        if statistic == "range":
            yield "lowest", "min"
            yield "highest", "max"
        else:
            yield statistic, statistic


def _notes(pivot: Pivot, case: CaseSummary) -> Iterator[str]:
    yield from remarks(case)
    for line in case.metrics:
        if line.metric not in pivot.metrics:
            continue
        title = f"{case.case.title}: {titled(line.metric, line.of)}"
        if not line.why and any(sample.sample.lower_bound for sample in line.samples):
            yield f"{title}: a lower bound, the truth is this or more"
        reasons = [line.why] if line.why else [sample.sample.why for sample in line.samples]
        yield from (f"{title}: {reason}" for reason in dict.fromkeys(reasons) if reason)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < _WHOLE_BELOW else repr(value)
