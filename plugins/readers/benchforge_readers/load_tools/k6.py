"""k6: the JSON of a summary, or the text at its end."""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import field, has, is_json, json_rows, table
from benchforge_readers.printed import INDENT, Block, given, number, part_rows, seconds

_MS = 1e-3
_TIMES = {"avg": "mean", "min": "min", "max": "max", "med": "p50"}
_EXACT = 1e-9  # of JSON: doubles
_MOST_LINES = 100_000
_METRIC = re.compile(rf"{INDENT}([a-z_0-9]{{2,60}})\.{{2,80}}: ")


class K6Reader(Reader):
    """The JSON of k6 (`--summary-export`, or `handleSummary`), or the text that it prints.

    Good to know:

    - The text begins at the line `http_req_duration`; what is above may be missing.
    - `http_req_duration` leaves out the time to connect.
    - k6 prints neither whether the loop was closed nor how many requests a user sent at once: an
      iteration is the only thing of which each user has one at a time.
    """

    name: ClassVar[str] = "k6"

    def claims(self, head: str) -> bool:
        text = re.search(r"http_req_duration\.{2,60}", head) is not None
        return text or has(head, "metrics", "http_reqs")

    def rows(self, source: Source) -> Iterator[Row]:
        """Yield a row, and one for each group of requests with a tag of its own."""
        if is_json(source):
            return json_rows(source, _row_of_json)
        return part_rows(_summaries(source), _row)


def _row_of_json(document: Any, where: str) -> Row:
    facts = _facts(table(document, "metrics"))
    spent = given(field(document, "state", "testRunDurationMs"), "state", "s", _MS)
    if spent is not None:
        facts["duration"] = spent
    return Row("summary", facts, where)


def _summaries(source: Source) -> Iterator[Block]:
    """Yield the lines of each summary: a metric that comes again is of the next one."""
    lines: list[str] = []
    first = run = 1
    metrics: set[str] = set()
    for number_, line in enumerate(source.lines(), 1):
        metric = _METRIC.match(line)
        if metric and metric[1] in metrics:
            yield Block(lines[: run - first], first)
            lines, first = lines[run - first :], run
            metrics = {match[1] for text in lines if (match := _METRIC.match(text))}
        if metric:
            metrics.add(metric[1])
        elif "{" not in line and "\u21b3" not in line:
            run = number_ + 1
        lines.append(line)
        if len(lines) > _MOST_LINES:
            raise ValueError(f"line {number_}: more than {_MOST_LINES} lines of one summary")
    yield Block(lines, first)


def _row(block: Block, count: int) -> Row:
    facts = _printed(block)
    if "requests" not in facts:
        raise ValueError(f"line {block.first}: no line 'http_reqs' below it: is it whole?")
    return Row(f"summary {count}" if count > 1 else "summary", facts, facts["requests"].origin)


def _facts(metrics: dict[str, Any]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}

    def put(name: str, metric: str, field_: str, unit: str = "1", scale: float = 1.0) -> None:
        values = field(metrics, metric, "values")
        value = field(metrics, metric, field_) if values is None else field(values, field_)
        fact = given(value, f"metrics.{metric}.{field_}", unit, scale)
        if fact is not None:
            width = abs(float(fact.value)) * _EXACT if unit != "1" else 0.0
            facts[name] = Fact(fact.value, unit, width, "", fact.origin)

    put("requests", "http_reqs", "count")
    put("rate", "http_reqs", "rate", "1/s")
    put("iterations", "iterations", "count")
    put("iteration_rate", "iterations", "rate", "1/s")
    put("iteration_mean", "iteration_duration", "avg", "s", _MS)
    put("users", "vus_max", "value")
    if "users" not in facts:
        put("users", "vus_max", "max")
    put("bytes", "data_received", "count", "B")
    put("checks_failed", "checks", "fails")
    put("checks_passed", "checks", "passes")
    put("dropped", "dropped_iterations", "count")
    for field_, name in _TIMES.items():
        put(name, "http_req_duration", field_, "s", _MS)
    values = field(metrics, "http_req_duration", "values")
    for field_ in table(metrics, "http_req_duration") if values is None else table(values):
        if match := re.fullmatch(r"p\((\d{1,2}(?:\.\d{1,6})?)\)", field_):
            put(f"p{float(match[1]):g}", "http_req_duration", field_, "s", _MS)
    # Of this rate `passes` are the requests that failed.
    put("failed", "http_req_failed", "passes")
    return facts


def _printed(block: Block) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    dots = r"\.{2,80}: *"
    trend = rf".{{0,80}}\bhttp_req_duration{dots}(avg=.{{1,300}})"
    if hit := block.find(trend):
        for name, text in re.findall(r"(\S{1,12})=(\S{1,30})", hit[0][1]):
            title = _TIMES.get(name)
            if title is None and (match := re.fullmatch(r"p\((\d{1,2}(?:\.\d{1,6})?)\)", name)):
                title = f"p{float(match[1]):g}"
            if title:
                facts[title] = seconds(text, name, hit[1])
    _printed_counts(block, facts, dots)
    return facts


def _printed_counts(block: Block, facts: dict[str, Fact], dots: str) -> None:
    if hit := block.find(rf".{{0,80}}\biteration_duration{dots}avg=(\S{{1,30}}) .*"):
        facts["iteration_mean"] = seconds(hit[0][1], "iteration_duration", hit[1])
    for metric, count, rate in (
        ("http_reqs", "requests", "rate"),
        ("iterations", "iterations", "iteration_rate"),
        ("dropped_iterations", "dropped", ""),
    ):
        if hit := block.find(rf".{{0,80}}\b{metric}{dots}(\d{{1,18}}) +(\S{{1,30}})/s"):
            facts[count] = number(hit[0][1], metric, origin=hit[1])
            if rate:
                facts[rate] = number(hit[0][2], metric, "1/s", origin=hit[1])
    if hit := block.find(rf".{{0,80}}\bvus_max{dots}(\d{{1,9}}) .*"):
        facts["users"] = number(hit[0][1], "vus_max", origin=hit[1])
    _printed_shares(block, facts, dots)


def _printed_shares(block: Block, facts: dict[str, Fact], dots: str) -> None:
    """Add shares with their counts: `50.00% 20 out of 40`, and marks instead before k6 1."""
    count = r"(\d{1,18})"
    counts = rf"(?:{count} out of {count}|\u2713 {count} +\u2717 {count}) *"
    for metric, good, bad in (
        ("checks", "checks_passed", "checks_failed"),
        ("checks_failed", "checks_failed", "checks_passed"),
        ("http_req_failed", "failed", ""),
    ):
        if hit := block.find(rf".{{0,80}}\b{metric}{dots}\S{{1,12}}% +{counts}"):
            share, total, first, second = (int(text or 0) for text in hit[0].groups())
            others = total - share if hit[0][2] else second
            facts[good] = Fact(float(share or first), origin=hit[1])
            if others < 0:
                raise ValueError(f"{hit[1]}: {metric}: {share} out of {total}")
            if bad:
                facts[bad] = Fact(float(others), origin=hit[1])
