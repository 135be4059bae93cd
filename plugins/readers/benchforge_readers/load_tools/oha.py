"""oha: a closed loop in Rust, as JSON or as text."""

from collections.abc import Iterator
from typing import Any, ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import counts, field, has, is_json, json_rows, statuses, take
from benchforge_readers.load_tools.hey import summary_of
from benchforge_readers.printed import COUNTED, Block, seconds, text_rows

_IN_FLIGHT = "aborted due to deadline"
_ONE_IF = Fact("oha spoke HTTP/1.1 (it does without --http2)", origin="oha's default")


class OhaReader(Reader):
    """The JSON of oha (`--output-format json`), or the text that it prints.

    Good to know:

    - oha prints no number of connections: give `--connections`.
    - Requests in flight at the end are in no latency.
    """

    name: ClassVar[str] = "oha"

    def claims(self, head: str) -> bool:
        text = "Success rate:" in head and "Slowest:" in head and "Requests/sec:" in head
        return text or has(head, "summary", "successRate", "requestsPerSec")

    def rows(self, source: Source) -> Iterator[Row]:
        if is_json(source):
            return json_rows(source, _row)
        return text_rows(source, "summary", _printed, "Summary:")


def _row(document: Any, where: str) -> Row:
    facts: dict[str, Fact] = {}
    for name, path, unit in (
        ("duration", "total", "s"),
        ("max", "slowest", "s"),
        ("min", "fastest", "s"),
        ("mean", "average", "s"),
        ("rate", "requestsPerSec", "1/s"),
        ("body_bytes", "totalData", "B"),
    ):
        take(facts, name, document, "summary", path, unit=unit)
    if "duration" not in facts or "rate" not in facts:
        raise ValueError("summary: no total and requestsPerSec")
    for name in field(document, "latencyPercentiles") or ():
        if name[:1] == "p" and name[1:].replace(".", "", 1).isdigit():
            take(facts, f"p{float(name[1:]):g}", document, "latencyPercentiles", name, unit="s")
    codes = list(counts(document, "statusCodeDistribution"))
    answered = statuses(facts, iter(codes), "statusCodeDistribution")
    errors = dict(counts(document, "errorDistribution"))
    facts["in_flight"] = Fact(float(errors.pop(_IN_FLIGHT, 0)), origin="errorDistribution")
    facts["lost"] = Fact(float(sum(errors.values())), "1", 0.0, COUNTED, "errorDistribution")
    # Versions differ in whether their rate counts those in flight.
    half = float(facts["in_flight"].value) / 2
    ended = answered + float(facts["lost"].value)
    facts["requests"] = Fact(ended + half, "1", half, "", "statusCodeDistribution")
    facts["samples"] = Fact(float(answered), origin="statusCodeDistribution")
    facts["one_if"] = _ONE_IF
    return Row("summary", facts, where)


def _printed(block: Block) -> dict[str, Fact]:
    facts = summary_of(block, r"(\S{1,20} (?:secs|sec|ms|us|ns|s))", seconds)
    codes = [(m[1], int(m[2])) for m, _ in block.all(r"\s*\[(\d{3})\] (\d{1,15}) responses")]
    if block.find(r"\s*(?:Status code|Error) distribution:"):
        answered = statuses(facts, iter(codes), "Status code distribution")
        facts["samples"] = Fact(float(answered), origin="Status code distribution")
    facts["one_if"] = _ONE_IF
    return facts
