"""ab, ApacheBench."""

from collections.abc import Iterator
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.printed import Block, joined, number, part_rows

_MS = 1e-3
_BEGINS = ("This is ApacheBench, ", "Server Software:", "Concurrency Level:")


class AbReader(Reader):
    """The text that ab prints.

    Good to know:

    - `Time per request` is connections x time / requests: no measurement, so no check uses it as
      one.
    - Percentiles are in whole milliseconds.
    - Its classes of errors overlap.
    """

    name: ClassVar[str] = "ab"

    def claims(self, head: str) -> bool:
        complete = "Complete requests:" in head and "Concurrency Level:" in head
        return "This is ApacheBench, Version" in head or complete

    def rows(self, source: Source) -> Iterator[Row]:
        return part_rows(joined(source, *_BEGINS), _row)


def _row(block: Block, count: int) -> Row:
    if not block.find(r"Complete requests: +\d{1,18}") or not block.find("Requests per second:.*"):
        raise ValueError("no lines 'Complete requests:' and 'Requests per second:': is it whole?")
    path = block.find(r"Document Path: +(\S{1,500})")
    name = path[0][1][:80] if path else f"report {count}"
    return Row(name, _facts(block), f"line {block.first}")


def _facts(block: Block) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    counts = {
        "connections": "Concurrency Level",
        "requests": "Complete requests",
        "failed": "Non-2xx responses",
        "other_failed": "Failed requests",
        "kept": "Keep-Alive requests",
    }
    for name, words in counts.items():
        block.whole(facts, name, rf"{words}: +(\S{{1,20}})")
    facts.setdefault("failed", Fact(0.0, origin="no line 'Non-2xx responses'"))
    for name, words, unit, scale in (
        ("duration", r"Time taken for tests: +(\S{1,20}) seconds", "s", 1.0),
        ("rate", r"Requests per second: +(\S{1,20}) \[#/sec\] \(mean\)", "1/s", 1.0),
        ("bytes", r"Total transferred: +(\S{1,20}) bytes", "B", 1.0),
        ("body_bytes", r"HTML transferred: +(\S{1,20}) bytes", "B", 1.0),
        ("byte_rate", r"Transfer rate: +(\S{1,20}) \[Kbytes/sec\] received", "B/s", 1024.0),
        ("body_length", r"Document Length: +(\d{1,18}) bytes", "B", 1.0),
        ("time_per_request", r"Time per request: +(\S{1,20}) \[ms\] \(mean\)", "s", _MS),
    ):
        if hit := block.find(words):
            fact = number(hit[0][1], name, unit, scale, hit[1])
            counted = name in {"bytes", "body_bytes", "body_length"}
            facts[name] = Fact(fact.value, unit, 0.0, "", hit[1]) if counted else fact
    gap = r" +(\S{1,20})"
    if hit := block.find(rf"Total:{gap * 5}"):
        for name, text in zip(("min", "mean", "sd", "p50", "max"), hit[0].groups(), strict=True):
            facts[name] = number(text, name, "s", _MS, hit[1])
            if "." not in text:
                facts[name] = Fact(facts[name].value, "s", _MS, "", hit[1])
    for match, where in block.all(r" *(\d{1,2})% +(\d{1,18})"):
        facts[f"p{match[1]}"] = Fact(float(match[2]) * _MS, "s", _MS, "", where)
    facts["loop"] = Fact("closed", origin="ab is a closed loop")
    facts["pipeline"] = Fact(1.0, origin="ab sends no request before the last response")
    facts["protocol"] = Fact("HTTP/1.0", origin="ab speaks HTTP/1.0")
    return facts
