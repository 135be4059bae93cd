"""locust: the file of statistics that `--csv` writes."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.printed import number, unread
from benchforge_readers.records import rows_of

_MS = 1e-3
_COLUMNS = {
    "Request Count": ("requests", "1", 1.0),
    "Failure Count": ("failed", "1", 1.0),
    "Average Response Time": ("mean", "s", _MS),
    "Min Response Time": ("min", "s", _MS),
    "Max Response Time": ("max", "s", _MS),
    "Requests/s": ("rate", "1/s", 1.0),
}
_TITLES = ("Name", "Request Count", "Failure Count", "Requests/s")


class LocustReader(Reader):
    """The file `PREFIX_stats.csv` of locust (`--csv PREFIX`).

    Good to know:

    - Percentiles are rounded to two digits: 1, 10, 100 or 1,000 ms.
    - Failed requests, timeouts among them, are in the response times.
    - Users may wait between requests, so their number bounds no latency from below.
    """

    name: ClassVar[str] = "locust"

    def claims(self, head: str) -> bool:
        first = head.partition("\n")[0]
        return all(entry in first for entry in _TITLES)

    def rows(self, source: Source) -> Iterator[Row]:
        """Yield a row for each name, and the one of all together."""
        for where, cells in rows_of(source):
            try:
                if isinstance(cells, Exception):
                    raise cells
                name = f"{cells.get('Type', '')} {cells['Name']}".strip()[:80]
                yield Row(name, _facts(cells, where), where, table="statistics")
            except ValueError as error:
                yield unread(str(error), where)


def _facts(cells: Mapping[str, str], where: str) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    for title, (name, unit, scale) in _COLUMNS.items():
        text = cells.get(title, "")
        if text and text not in {"N/A", "None"}:
            facts[name] = number(text, title, unit, scale, where)
    for title, text in cells.items():
        percent = title.removesuffix("%")
        if percent == title or not percent.replace(".", "", 1).isdigit() or text in {"", "N/A"}:
            continue
        ms = float(number(text, title, "s", 1.0, where).value)
        step = 10.0 ** max(0, len(str(int(ms))) - 2)  # locust keeps two digits
        name = "max_listed" if percent == "100" else f"p{float(percent):g}"
        facts[name] = Fact(ms * _MS, "s", step * _MS, "two digits", where)
    if not float(facts["requests"].value if "requests" in facts else 0):
        facts = {name: entry for name, entry in facts.items() if entry.unit != "s"}
    if cells["Name"] == "Aggregated":
        facts["total"] = Fact(1.0, origin=where)
    return facts
