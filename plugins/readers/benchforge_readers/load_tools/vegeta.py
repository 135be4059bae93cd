"""vegeta: a fixed rate, as the JSON or the text of `vegeta report`."""

from collections.abc import Iterator
from typing import Any, ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import counts, has, is_json, json_rows, statuses, take, take_times
from benchforge_readers.printed import Block, number, seconds, text_rows

_NS = 1e-9
_SKETCH = 0.02  # of a t-digest
_PERCENTILES = {"p50": "50th", "p90": "90th", "p95": "95th", "p99": "99th"}
_TIMES = {"mean": "mean", "min": "min", "max": "max", **_PERCENTILES}


class VegetaReader(Reader):
    """The JSON (`-type=json`) or the text of `vegeta report`.

    Good to know:

    - vegeta sends at a fixed rate: the number of requests under way has no bound.
    - Its percentiles come from a sketch (t-digest), so checks allow 2 %.
    - Requests without a response have the status 0, and are in its latencies.
    - `throughput` counts successes per second of attack and wait.
    """

    name: ClassVar[str] = "vegeta"

    def claims(self, head: str) -> bool:
        text = "[total, rate" in head and "Latencies" in head
        return text or has(head, "latencies", "bytes_in", "status_codes")

    def rows(self, source: Source) -> Iterator[Row]:
        if is_json(source):
            return json_rows(source, _row)
        return text_rows(source, "report", _printed, r"Requests +\[total, rate")


def _row(document: Any, where: str) -> Row:
    facts: dict[str, Fact] = {}
    take(facts, "requests", document, "requests")
    take(facts, "rate", document, "rate", unit="1/s")
    take(facts, "good_rate", document, "throughput", unit="1/s")
    take(facts, "success", document, "success")
    take(facts, "duration", document, "duration", unit="s", scale=_NS, step=1.0)
    take(facts, "wait", document, "wait", unit="s", scale=_NS, step=1.0)
    take_times(facts, document, ["latencies"], _TIMES, _NS, 1.0)
    take(facts, "body_bytes", document, "bytes_in", "total", unit="B")
    _sketched(facts)
    _failures(facts, dict(counts(document, "status_codes")), "status_codes")
    facts["loop"] = Fact("open", origin="vegeta sends at a fixed rate")
    return Row("report", facts, where)


def _failures(facts: dict[str, Fact], codes: dict[str, int], origin: str) -> None:
    """Add responses by class, and those without one, which vegeta counts as status 0."""
    facts["status_total"] = Fact(float(statuses(facts, iter(codes.items()), origin)), origin=origin)
    facts["failed"] = Fact(float(facts["failed"].value) + codes.get("0", 0), origin=origin)


def _sketched(facts: dict[str, Fact]) -> None:
    for name in _PERCENTILES:
        if (entry := facts.get(name)) is not None:
            width = entry.resolution + _SKETCH * float(entry.value)
            facts[name] = Fact(entry.value, "s", width, "t-digest", entry.origin)


def _printed(block: Block) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    rates = {"total": "requests", "throughput": "good_rate"}
    for pattern, names in (
        (r"Requests +\[(total, rate(?:, throughput)?)\] +(.{1,200})", rates),
        (r"Duration +\[(total, attack, wait)\] +(.{1,200})", {"attack": "duration"}),
        (
            r"Latencies +\[([a-z0-9, ]{3,60})\] +(.{1,200})",
            {name[1:]: name for name in _PERCENTILES},
        ),
    ):
        if not (hit := block.find(pattern)):
            continue
        titles = [title.strip() for title in hit[0][1].split(",")]
        values = [value.strip() for value in hit[0][2].split(",")]
        if len(titles) != len(values):
            raise ValueError(f"{hit[1]}: {len(values)} numbers of {len(titles)}")
        for title, value in zip(titles, values, strict=True):
            name = names.get(title, title)
            if names is rates:
                unit = "1" if title == "total" else "1/s"
                facts[name] = number(value, title, unit, origin=hit[1])
            elif title != "total":
                facts[name] = seconds(value, title, hit[1])
    if "requests" not in facts:
        raise ValueError(f"line {block.first}: no number of requests")
    _printed_counts(block, facts)
    _sketched(facts)
    facts["loop"] = Fact("open", origin="vegeta sends at a fixed rate")
    return facts


def _printed_counts(block: Block, facts: dict[str, Fact]) -> None:
    if hit := block.find(r"Success +\[ratio\] +(\S{1,20})%"):
        entry = number(hit[0][1], "Success", "1", 0.01, hit[1])
        facts["success"] = Fact(entry.value, "1", max(entry.resolution, 1e-4), "", entry.origin)
    if hit := block.find(r"Status Codes +\[code:count\] +(.{1,500}?) *"):
        pairs = [pair.split(":") for pair in hit[0][1].split()]
        if any(len(pair) != 2 or not pair[1].isdigit() or len(pair[1]) > 18 for pair in pairs):  # noqa: PLR2004
            raise ValueError(f"{hit[1]}: Status Codes: not code:count")
        _failures(facts, {code: int(count) for code, count in pairs}, hit[1])
