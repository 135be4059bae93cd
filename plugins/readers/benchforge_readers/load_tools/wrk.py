"""wrk: a closed loop that prints a page of text."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.printed import (
    BINARY,
    INDENT,
    Block,
    blocks,
    number,
    part_rows,
    quantity,
    seconds,
)

BEGINS = r"Running .{1,40} test @ "
CORRECTED = "wrk 4 adds samples that it never measured below each long one"
_SAMPLED = "of samples, each of a time and not of a number of requests"
_RELEASE = r"\bwrk (?:[a-z]{1,20}/)?v?(\d{1,2})\.\d"
_K = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_CORRECTING = 4
"Major version of wrk that first counts each request."
_WORD = r"(-?\S{1,20})"


class WrkReader(Reader):
    """The text that wrk prints.

    Good to know:

    - The mean, the deviation and the percentiles include samples that wrk adds below each long one.
    - Responses that came after the time limit are not among the latencies.
    - wrk before 4 takes samples of the times instead, which bound no rate. Its version is known
      where the text names it, as `wrk -v` does.
    - wrk prints no number of requests on one connection: a script may send several at once.
    """

    name: ClassVar[str] = "wrk"

    def claims(self, head: str) -> bool:
        tests = head.split("test @ ")[1:]
        return any("Thread Stats" in test and not of_wrk2(test) for test in tests)

    def rows(self, source: Source) -> Iterator[Row]:
        release = re.search(_RELEASE, source.head)

        def row(block: Block, count: int) -> Row:
            facts = facts_of(block)
            if release:
                facts["release"] = Fact(release[1], origin="the line of its version")
            _percentiles(block, facts)
            return Row(named(block, count), facts, f"line {block.first}")

        tests = (part for part in blocks(source, BEGINS) if not _of_others(part))
        return part_rows(tests, row)


def of_wrk2(head: str) -> bool:
    """Return True for a line that wrk2 prints and wrk does not; its name alone is none."""
    line = rf"^{INDENT}(?:Latency Distribution \(HdrHistogram|Thread calibration: mean lat)"
    return re.search(line, head, re.MULTILINE) is not None


def _of_others(block: Block) -> bool:
    """Return True for the text of wrk2, or of autocannon, which begin with the same line."""
    return of_wrk2(block.text) or block.find(r"\d{1,9} connections(?: with .{1,60})?") is not None


def named(block: Block, count: int) -> str:
    """Return the URL of a test as its name."""
    url = block.lines[0].rpartition(" @ ")[2].strip()[:80]
    return f"{url or 'test'} ({count})" if count > 1 else url or "test"


def facts_of(block: Block) -> dict[str, Fact]:
    """Return what wrk and wrk2 print alike. Raises ValueError for a number that is none."""
    facts = {**_settings(block), **_times(block), **_counts(block)}
    _errors(block, facts)
    if hit := block.find(r"Requests/sec: +(\S{1,20})"):
        facts["rate"] = number(hit[0][1], "Requests/sec", "1/s", origin=hit[1])
    if hit := block.find(r"Transfer/sec: +(\S{1,20})"):
        facts["byte_rate"] = quantity(hit[0][1], "Transfer/sec", BINARY, "B/s", hit[1])
    facts["loop"] = Fact("closed", origin="wrk is a closed loop")
    facts["protocol"] = Fact("HTTP/1.1", origin="wrk speaks HTTP/1.1 only")
    if facts["requests"].value:
        return facts
    return {name: fact for name, fact in facts.items() if name not in {"mean", "sd", "max"}}


def _settings(block: Block) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    if hit := block.find(r"Running (\S{1,20}) test @ .*"):
        facts["duration_asked"] = seconds(hit[0][1], "test", hit[1])
    if hit := block.find(r" *(\d{1,9}) threads and (\d{1,9}) connections"):
        facts["threads"] = number(hit[0][1], "threads", origin=hit[1])
        threads, connections = int(hit[0][1]), int(hit[0][2])
        if threads and connections:  # each thread has the same number
            each = connections // threads * threads
            facts["connections"] = Fact(float(each), "1", 0.0, "", hit[1])
    return facts


def _times(block: Block) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    if hit := block.find(rf" *Latency +{_WORD} +{_WORD} +{_WORD} +{_WORD}"):
        for name, text in zip(("mean", "sd", "max"), hit[0].groups(), strict=False):
            if "nan" not in text:
                facts[name] = seconds(text, name, hit[1])
    hit = block.find(rf" *Req/Sec +{_WORD} +{_WORD} +{_WORD} +{_WORD}")
    if hit and "nan" not in hit[0][1]:
        facts["thread_rate"] = quantity(hit[0][1], "Req/Sec", _K, "1/s", hit[1])
    return facts


def _counts(block: Block) -> dict[str, Fact]:
    total = block.find(r" *(\d{1,18}) requests in (\S{1,20}), (\S{1,20}) read")
    if total is None:
        raise ValueError(f"line {block.first}: no line 'requests in' below it: is it whole?")
    return {
        "requests": number(total[0][1], "requests", origin=total[1]),
        "duration": seconds(total[0][2], "duration", total[1]),
        "bytes": quantity(total[0][3], "read", BINARY, "B", total[1]),
    }


def _errors(block: Block, facts: dict[str, Fact]) -> None:
    each = "connect (.{1,18}), read (.{1,18}), write (.{1,18}), timeout (.{1,18})"
    if hit := block.find(rf" *Socket errors: {each}"):
        *others, late = (number(text, "Socket errors", origin=hit[1]) for text in hit[0].groups())
        facts["lost"] = Fact(sum(float(entry.value) for entry in others), origin=hit[1])
        facts["timeouts"] = late
    else:
        facts["lost"] = facts["timeouts"] = Fact(0.0, origin="no line 'Socket errors'")
    block.whole(facts, "failed", r" *Non-2xx or 3xx responses: (\S{1,18})")
    facts.setdefault("failed", Fact(0.0, origin="no line 'Non-2xx or 3xx responses'"))


def _percentiles(block: Block, facts: dict[str, Fact]) -> None:
    for match, where in block.all(r" *(\d{1,2}(?:\.\d{1,3})?)% +(\S{1,20})"):
        facts[f"p{float(match[1]):g}"] = seconds(match[2], f"{match[1]}%", where)
    old = "release" in facts and int(facts["release"].value) < _CORRECTING
    estimator = _SAMPLED if old else CORRECTED
    for name, entry in list(facts.items()):
        if name in {"mean", "sd"} or (name[0] == "p" and name[1:2].isdigit()):
            facts[name] = replace(entry, estimator=estimator)
