"""bombardier: a closed loop in Go, as JSON or as text."""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import field, has, is_json, json_rows, table, take, take_times
from benchforge_readers.printed import INDENT, Block, blocks, number, part_rows, seconds

_US = 1e-6
_LATENCY = ("result", "latency")
_TIMES = {"mean": "mean", "sd": "stddev", "max": "max"}
_BEGINS = r"Bombarding "
_CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")


class BombardierReader(Reader):
    """The JSON of bombardier (`-o json`), or the text that it prints.

    Good to know:

    - Its `Reqs/sec` is the mean of many short intervals, not requests / time. The rate of the
      checks is requests / time, which only the JSON has.
    - Its `Throughput` adds what it read and what it wrote, so no check uses it.
    - Requests without a response (`others`) are in its latencies, too.
    """

    name: ClassVar[str] = "bombardier"

    def claims(self, head: str) -> bool:
        text = re.search(rf"^{INDENT}Bombarding \S", head, re.MULTILINE) is not None
        return text or has(head, "spec", "numberOfConnections")

    def rows(self, source: Source) -> Iterator[Row]:
        if is_json(source):
            return json_rows(source, _row_of_json)
        return part_rows(blocks(source, _BEGINS), _row)


def _row_of_json(document: Any, where: str) -> Row:
    facts: dict[str, Fact] = {}
    take(facts, "connections", document, "spec", "numberOfConnections")
    take(facts, "duration_asked", document, "spec", "testDurationSeconds", unit="s")
    take(facts, "duration", document, "result", "timeTakenSeconds", unit="s")
    take(facts, "bytes", document, "result", "bytesRead", unit="B")
    take_times(facts, document, _LATENCY, _TIMES, _US, 1.0)
    percentiles = {
        f"p{float(percent):g}": percent
        for percent in table(document, *_LATENCY, "percentiles")
        if percent.replace(".", "", 1).isdigit()
    }
    take_times(facts, document, [*_LATENCY, "percentiles"], percentiles, _US, 1.0)
    for name in _CLASSES:
        take(facts, name, document, "result", f"req{name}")
    take(facts, "other_failed", document, "result", "others")
    _totals(facts)
    rated = field(document, "spec", "rate")
    facts["loop"] = Fact("open" if rated else "closed", origin="spec.rate")
    return Row(str(field(document, "spec", "url") or "load")[:80], facts, where)


def _row(block: Block, count: int) -> Row:
    url = block.lines[0].split(" ")[1][:80]
    return Row(f"{url} ({count})", _printed(block), f"line {block.first}")


def _totals(facts: dict[str, Fact]) -> None:
    """Add what the classes of status give: bombardier prints no total."""
    classes = [facts[name] for name in (*_CLASSES, "other_failed") if name in facts]
    if len(classes) == len(_CLASSES) + 1:
        total = sum(float(entry.value) for entry in classes)
        facts["requests"] = Fact(total, origin=classes[0].origin)
        # Those without a response are in the total, and their times in the latencies.
        bad = sum(float(facts[name].value) for name in ("4xx", "5xx", "other_failed"))
        facts["failed"] = Fact(bad, origin=classes[0].origin)
    facts["pipeline"] = Fact(1.0, origin="bombardier sends one request at a time on a connection")


def _printed(block: Block) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    if hit := block.find(r"Bombarding \S{1,500} (.{1,60}) using (\d{1,9}) connection\(s\)"):
        facts["connections"] = number(hit[0][2], "connections", origin=hit[1])
        words = hit[0][1].split()
        if words[0] == "for":
            facts["duration_asked"] = seconds(words[1], "duration", hit[1])
    if not (hit := block.find(r" *Latency +(\S{1,20}) +(\S{1,20}) +(\S{1,20})")):
        raise ValueError(f"line {block.first}: no line 'Latency' below it: is it whole?")
    for name, text in zip(("mean", "sd", "max"), hit[0].groups(), strict=True):
        facts[name] = seconds(text, name, hit[1])
    for match, where in block.all(r" *(\d{1,2}(?:\.\d{1,3})?)% +(\S{1,20})"):
        facts[f"p{float(match[1]):g}"] = seconds(match[2], f"{match[1]}%", where)
    each = ", ".join(rf"{name} - (\d{{1,18}})" for name in _CLASSES)
    if hit := block.find(rf" *{each}"):
        for name, text in zip(_CLASSES, hit[0].groups(), strict=True):
            facts[name] = number(text, name, origin=hit[1])
    block.whole(facts, "other_failed", r" *others - (\d{1,18})")
    _totals(facts)
    if "duration_asked" in facts and "requests" in facts:
        setting = facts["duration_asked"]
        width = 0.05 * float(setting.value)
        facts["duration"] = Fact(setting.value, "s", width, "asked", setting.origin)
    return facts
