"""Any table of CSV, Markdown or JSON, whose columns the auditor names."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar

from pydantic import Field

from benchforge.plugin import BenchforgeError, Fact, Reader, Row, Source
from benchforge_readers.document import MOST_ROWS
from benchforge_readers.printed import BINARY, SECONDS, number, quantity, unread
from benchforge_readers.records import records_of

_UNITS: dict[str, tuple[str, float]] = {
    **{unit: ("s", scale) for unit, scale in SECONDS.items()},
    **{unit: ("B", scale) for unit, scale in BINARY.items() if unit.endswith("B")},
    **{f"{unit}/s": ("B/s", scale) for unit, scale in BINARY.items() if unit.endswith("B")},
    "1/s": ("1/s", 1.0),
    "1": ("1", 1.0),
    "cores": ("cores", 1.0),
}
_THOUSANDS = {"k": 1e3, "K": 1e3, "M": 1e6}
_SHORT = {"1": _THOUSANDS, "1/s": {**_THOUSANDS, "/s": 1.0, "req/s": 1.0, "rps": 1.0}}
_MARKS = " *_`~"
_UNKNOWN = {"", "-", "\N{EM DASH}", "n/a", "none", "null", "nan"}
_WORDS = ("loop", "protocol", "closer")
"Facts that are no numbers."
_COARSER = 1000
_FEWEST_STEPS, _NEAR = 5, 0.1


class ColumnsReader(Reader):
    """A table by a mapping of its columns: `--column mean=avg_ms:ms`.

    Good to know:

    - It reads CSV, tables of Markdown, JSON, JSON lines and lines of `field: value`. `latency.p99`
      is a field of a field of JSON, and `key` is the name of a record in the table that it is in.
    - Name the reader with `--as columns`: no content says what a column means.
    - Without a unit, `:1` is meant. A cell that names its unit, such as 1.5ms, has that one.
    - Of rows that show the progress of one load, second by second, the last one is the result.
    - Percentiles and extremes that are all multiples of 1,000 were recorded in a coarser unit.
    """

    name: ClassVar[str] = "columns"

    columns: dict[str, str] = Field(default_factory=dict)
    "Column of each fact as TITLE or TITLE:UNIT. `name` is the column of the rows' names."

    def claims(self, head: str) -> bool:
        return any(_split(text)[0].partition(".")[0] in head for text in self.columns.values())

    def rows(self, source: Source) -> Iterator[Row]:
        if not self.columns:
            raise BenchforgeError(
                "no column is named", "give one or more: --column rate=TITLE --column mean=TITLE:ms"
            )
        titles = {fact: _split(text) for fact, text in self.columns.items()}
        name = titles.pop("name", ("",))[0]
        missing = {title for title, *_ in titles.values()}
        listed: Collection[str] = ()
        loads: list[Row] = []
        records = records_of(source, sorted(missing), name)
        missing |= {name} - {""}
        for where, cells in records:
            try:
                if isinstance(cells, Exception):
                    raise cells
                missing -= (listed := cells.keys())
                title = cells.get(name, "").strip(_MARKS)[:80] or where
                facts = _as_recorded(_facts(titles, cells, where))
                loads.append(Row(title, facts, where, "the table"))
            except (ValueError, LookupError) as error:
                word = "unread" if isinstance(error, ValueError) else "passed over"
                yield unread(str(error.args[0]), where, word)
            if len(loads) == MOST_ROWS:  # they are no progress, and an audit takes no more
                yield from loads
                loads = []
        if load := _load(loads):
            reason = f"{len(loads) - 1} rows are the progress of one load, the last row its result"
            yield unread(f"{reason}; their rates are of an interval", loads[0].where, "passed over")
            loads = [load]
        yield from loads
        for title in sorted(missing):
            yield unread(f"no column {title!r}; columns: {', '.join(listed)}", "the table")


def _load(rows: Sequence[Row]) -> Row | None:
    """Return the load whose progress the rows show: sums, beside the rate since the row before.

    Durations rise, and most rates are those of the requests between two rows. The load has no
    number of connections if it changed.
    """
    names = ("duration", "requests", "rate")
    if len(rows) <= _FEWEST_STEPS or any(name not in row.facts for row in rows for name in names):
        return None
    points = [[float(row.facts[name].value) for name in names] for row in rows]
    steps = [(after[0] - at[0], after[1] - at[1], after[2]) for at, after in pairwise(points)]
    if min(lasted for lasted, *_ in steps) <= 0 or min(requests for _, requests, _ in steps) < 0:
        return None
    near = sum(abs(requests / lasted - rate) <= _NEAR * rate for lasted, requests, rate in steps)
    ramped = len({fact.value for row in rows if (fact := row.facts.get("connections"))}) > 1
    left_out = {"connections"} if ramped else set()
    left_out |= {name for name, fact in rows[-1].facts.items() if fact.unit.endswith("/s")}
    facts = {name: fact for name, fact in rows[-1].facts.items() if name not in left_out}
    return replace(rows[-1], facts=facts) if near > len(steps) / 2 else None


def _as_recorded(facts: dict[str, Fact]) -> dict[str, Fact]:
    """Give whole times the step of the coarser unit that all of them are in."""
    times = {name: fact for name, fact in facts.items() if re.match(r"p\d|m(in|ax)$", name)}
    steps = [round(float(fact.value) / fact.resolution) for fact in times.values()]
    scale = 1
    while len(steps) > 1 and any(steps) and not any(step % (_COARSER * scale) for step in steps):
        scale *= _COARSER
    for name, fact in times.items():
        facts[name] = replace(fact, resolution=fact.resolution * scale)
    return facts


def _facts(
    titles: Mapping[str, tuple[str, str, float]], cells: Mapping[str, str], where: str
) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    for fact, (title, unit, scale) in titles.items():
        text = cells.get(title, "").strip(_MARKS)
        if text.lower() in _UNKNOWN:
            continue
        if fact in _WORDS:
            facts[fact] = Fact(text, origin=where)
            continue
        text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
        if text[-1].isdigit() or text[-1] == ".":
            facts[fact] = number(text, title, unit, scale, where)
        else:  # it names a unit of its own
            units = {name: each for name, (kind, each) in _UNITS.items() if kind == unit}
            facts[fact] = quantity(text, title, {**units, **_SHORT.get(unit, {})}, unit, where)
    if not facts:
        raise LookupError("no number in its columns")
    return facts


def _split(text: str) -> tuple[str, str, float]:
    title, colon, unit = text.rpartition(":")
    if not colon or unit not in _UNITS:
        return text, "1", 1.0
    return title, *_UNITS[unit]
