"""autocannon: a closed loop in Node.js, as JSON or as text."""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import field, has, is_json, json_rows, table, take
from benchforge_readers.load_tools.wrk import BEGINS
from benchforge_readers.printed import INDENT, Block, blocks, number, part_rows, quantity, seconds

_MS = 1e-3
_ROUNDED = 1.0  # milliseconds: it records whole ones
_CORRECTED = "corrected, if autocannon ran with -R"
_TABLE = re.compile(rf"^{INDENT}Stat\s.{{0,80}}\sAvg\s.{{0,40}}\sStdev\s", re.MULTILINE)
_TITLES = {"Avg": "mean", "Stdev": "sd", "Max": "max", "Min": "min"}
_COUNT = r"(\d{1,9}(?:\.\d{1,3})?)([kM]?)"
_THOUSANDS = {"": 1.0, "k": 1e3, "M": 1e6}
_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


class AutocannonReader(Reader):
    """The JSON of autocannon (`--json`), or the tables that it prints.

    Good to know:

    - Latencies are recorded in whole milliseconds.
    - With `-R`, autocannon corrects latencies, and does not say so.
    - Its text rounds the number of requests to thousands, and has no rate of all of them: `Req/Sec`
      is the mean of samples of a second.
    """

    name: ClassVar[str] = "autocannon"

    def claims(self, head: str) -> bool:
        return has(head, "pipelining", "latency", "non2xx") or _TABLE.search(head) is not None

    def rows(self, source: Source) -> Iterator[Row]:
        if is_json(source):
            return json_rows(source, _row)
        tests, of_wrk = blocks(source, BEGINS), r" *\d{1,9} threads and .*"
        return part_rows((test for test in tests if not test.find(of_wrk)), _row_of_text)


def _row(document: Any, where: str) -> Row:
    facts: dict[str, Fact] = {}
    take(facts, "connections", document, "connections")
    take(facts, "pipeline", document, "pipelining")
    take(facts, "duration", document, "duration", unit="s", step=0.01)
    take(facts, "requests", document, "requests", "total")
    take(facts, "timeouts", document, "timeouts")
    take(facts, "lost", document, "errors")
    take(facts, "failed", document, "non2xx")
    take(facts, "samples", document, "latency", "totalCount")
    take(facts, "bytes", document, "throughput", "total", unit="B")
    for name in ("mean", "stddev", "min", "max"):
        title = "sd" if name == "stddev" else name
        take(facts, title, document, "latency", name, unit="s", scale=_MS, step=_ROUNDED)
    for name in table(document, "latency"):
        if match := re.fullmatch(r"p(\d{1,2})(?:_(\d{1,3}))?", name):
            title = f"p{float(f'{match[1]}.{match[2] or 0}'):g}"
            take(facts, title, document, "latency", name, unit="s", scale=_MS, step=_ROUNDED)
    name = field(document, "title") or field(document, "url") or "load"
    return Row(str(name)[:80], _closed(facts), where)


def _closed(facts: dict[str, Fact]) -> dict[str, Fact]:
    if not float(facts["requests"].value if "requests" in facts else 0):
        facts = {name: entry for name, entry in facts.items() if entry.unit != "s"}
    for name, entry in list(facts.items()):
        if entry.unit == "s" and not name.startswith("duration"):
            facts[name] = Fact(entry.value, "s", entry.resolution, _CORRECTED, entry.origin)
    facts["loop"] = Fact("closed", origin="autocannon is a closed loop without -R")
    return facts


def _row_of_text(block: Block, count: int) -> Row:
    total = block.find(rf"{_COUNT} requests in (\S{{1,20}}), (\S{{1,20}} ?[kMGT]?B) read")
    if total is None:
        raise ValueError("no line 'requests in' below it: is it whole?")
    facts: dict[str, Fact] = {}
    if hit := block.find(r"(\d{1,9}) connections(?: with (\d{1,6}) pipelining factor)?"):
        facts["connections"] = number(hit[0][1], "connections", origin=hit[1])
        facts["pipeline"] = number(hit[0][2] or "1", "pipelining factor", origin=hit[1])
    sent = quantity(total[0][1] + total[0][2], "requests", _THOUSANDS, "1", total[1])
    # Those under way at the end may be among them.
    under_way = float(facts["connections"].value) * float(facts["pipeline"].value) if facts else 0.0
    step = _THOUSANDS[total[0][2]] + under_way
    facts["requests"] = Fact(sent.value, "1", step, "", total[1])
    facts["duration"] = seconds(total[0][3], "duration", total[1])
    facts["bytes"] = quantity(total[0][4].replace(" ", ""), "read", _BYTES, "B", total[1])
    bad = block.find(rf"{_COUNT} 2xx responses, {_COUNT} non 2xx responses")
    facts["failed"] = _counted(bad, 3)
    lost = block.find(rf"{_COUNT} errors(?: \({_COUNT} timeouts\))?")
    facts["lost"], facts["timeouts"] = _counted(lost, 1), _counted(lost, 3)
    _latencies(block, facts)
    url = block.lines[0].rpartition(" @ ")[2].strip()[:80]
    return Row(url or f"load {count}", _closed(facts), f"line {block.first}")


def _counted(hit: tuple[re.Match[str], str] | None, group: int) -> Fact:
    if hit is None:
        return Fact(0.0, origin="no line of errors")
    text = (hit[0][group] or "0") + (hit[0][group + 1] or "")
    return quantity(text, "responses", _THOUSANDS, "1", hit[1])


def _latencies(block: Block, facts: dict[str, Fact]) -> None:
    """Add the times of the table, whose columns are between bars, or between spaces."""
    titles: list[str] = []
    for match, where in block.all(r"\W*(Stat|Latency)\b(.{1,300})"):
        text = match[2].replace("(ms)", "  ")
        cells = [cell for cell in re.split(r"\s*[|\u2502]\s*|\s{2,}", text.strip()) if cell]
        if match[1] == "Stat":
            titles = cells
        elif len(cells) >= len(titles) > 0:
            unit = " ms" if text != match[2] else ""
            for title, cell in zip(titles, cells[-len(titles) :], strict=True):
                percent = title.removesuffix("%")
                name = _TITLES.get(title, f"p{percent}" if percent != title else "")
                if name:
                    time = seconds(cell.replace(",", "") + unit, title, where)
                    width = max(time.resolution, _ROUNDED * _MS)
                    facts[name] = Fact(time.value, "s", width, "", where)
            return
