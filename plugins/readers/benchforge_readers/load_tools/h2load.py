"""h2load: HTTP/1.1, HTTP/2 and HTTP/3, as text."""

from collections.abc import Iterator
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.printed import BINARY, COUNTED, Block, number, quantity, seconds, text_rows

_CLIENTS = r"spawning thread #\d{1,6}: (\d{1,9}) total client\(s\)\..*"
_NAMES = {name: name for name in ("p95", "p99", "min", "max", "mean", "sd")} | {"median": "p50"}


class H2loadReader(Reader):
    """The text that h2load prints.

    Good to know:

    - Older versions print min, max, mean and deviation only: from these, nobody knows a percentile.
    - h2load prints no number of streams (`-m`): give `--pipeline`.
    """

    name: ClassVar[str] = "h2load"

    def claims(self, head: str) -> bool:
        return "finished in " in head and "status codes:" in head and "req/s" in head

    def rows(self, source: Source) -> Iterator[Row]:
        return text_rows(source, "load", _facts, r"starting benchmark\.", r"finished in \d")


def _facts(block: Block) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    first = block.find(r"finished in (\S{1,20}), (\S{1,20}) req/s, (\S{1,20})/s")
    if first is None or not block.find("status codes: .*"):
        raise ValueError("no 'finished in TIME, RATE req/s, BYTES/s' and 'status codes:' below it")
    if clients := list(block.all(_CLIENTS)):
        total = sum(float(match[1]) for match, _ in clients)
        facts["connections"] = Fact(total, origin=clients[0][1])
    if protocol := block.find(r"Application protocol: (\S{1,20})"):
        facts["protocol"] = Fact(protocol[0][1], origin=protocol[1])
    facts["duration"] = seconds(first[0][1], "finished in", first[1])
    facts["rate"] = number(first[0][2], "req/s", "1/s", origin=first[1])
    facts["byte_rate"] = quantity(first[0][3], "bytes per second", BINARY, "B/s", first[1])
    count = r"(\d{1,18})"
    if hit := block.find(
        rf"requests: {count} total, {count} started, {count} done, {count} succeeded, "
        rf"{count} failed, {count} errored, {count} timeout"
    ):
        done, failed, errored, late = (float(hit[0][index]) for index in (3, 5, 6, 7))
        # Its rate leaves out requests that ended with an error of the stream.
        facts["requests"] = Fact(done - errored / 2, "1", errored / 2, "", hit[1])
        facts["failed"] = Fact(failed, origin=hit[1])
        facts["lost"] = Fact(errored, "1", 0.0, COUNTED, hit[1])
        facts["timeouts"] = Fact(late, origin=hit[1])
    if hit := block.find(rf"status codes: {count} 2xx, {count} 3xx, {count} 4xx, {count} 5xx"):
        for name, text in zip(("2xx", "3xx", "4xx", "5xx"), hit[0].groups(), strict=True):
            facts[name] = number(text, name, origin=hit[1])
    if hit := block.find(rf"traffic: \S{{1,20}} \({count}\) total, .*"):
        facts["bytes"] = Fact(float(hit[0][1]), "B", origin=hit[1])
    facts |= _times(block) if float(facts["requests"].value if "requests" in facts else 1) else {}
    facts["loop"] = Fact("closed", origin="h2load is a closed loop without -r")
    return facts


def _times(block: Block) -> dict[str, Fact]:
    titles = block.find(r" +((?:min|max|median|p95|p99|mean|sd)\b.*)")
    row = block.find(r"(?:time for request:|request +:) +(.{1,200})")
    if not titles or not row:
        return {}
    columns = titles[0][1].replace("+/- sd", "").split()
    return {
        _NAMES[title]: seconds(text, title, row[1])
        for title, text in zip(columns, row[0][1].split(), strict=False)
        if title in _NAMES
    }
