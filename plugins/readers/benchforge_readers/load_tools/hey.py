"""hey: a closed loop in Go that prints a page of text."""

import re
from collections.abc import Callable, Iterator
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import statuses
from benchforge_readers.printed import COUNTED, Block, number, text_rows

_TIMES = {"duration": "Total", "max": "Slowest", "min": "Fastest", "mean": "Average"}
_KEPT = 1_000_000


class HeyReader(Reader):
    """The text that hey prints.

    Good to know:

    - Times are rounded to 0.1 ms. Its percentiles and its mean are of responses only.
    - Its rate counts requests that failed, too.
    - Of 1,000,000 responses or more, it divides the sum of all times by those that it keeps: the
      reader takes no mean then.
    - hey prints no number of connections: give `--connections`.
    - With `-q` its loop waits between requests, so benchforge does not assume a busy connection.
    """

    name: ClassVar[str] = "hey"

    def claims(self, head: str) -> bool:
        return "Summary:" in head and "Slowest:" in head and "Success rate:" not in head

    def rows(self, source: Source) -> Iterator[Row]:
        return text_rows(source, "summary", _facts, "Summary:")


def summary_of(block: Block, time: str, parse: Callable[[str, str, str], Fact]) -> dict[str, Fact]:
    """Return duration, rate and times of a summary.

    `time` is the pattern of a time, and `parse` makes a fact of its text, name and place. Raises
    ValueError where the duration or the rate is missing.
    """
    facts: dict[str, Fact] = {}
    for name, words in _TIMES.items():
        if (hit := block.find(rf"\s*{words}:\s+{time}")) and "NaN" not in hit[0][1]:
            facts[name] = parse(hit[0][1], words, hit[1])
    if hit := block.find(r"\s*Requests/sec:\s+(\S{1,20})"):
        facts["rate"] = number(hit[0][1], "Requests/sec", "1/s", origin=hit[1])
    if "duration" not in facts or "rate" not in facts:
        raise ValueError(f"line {block.first}: no lines 'Total:' and 'Requests/sec:' below it")
    for match, where in block.all(rf"\s*(\d{{1,2}}(?:\.\d{{1,3}})?)%{{1,2}} in\s+{time}"):
        name = f"p{float(match[1]):g}"
        # A second list, of oha, has the time to the first byte.
        if name not in facts and float(match[1]) > 0 and "NaN" not in match[2]:
            facts[name] = parse(match[2], f"{match[1]}%", where)
    return facts


def _facts(block: Block) -> dict[str, Fact]:
    facts = summary_of(
        block, r"(\S{1,20}) secs", lambda text, name, where: number(text, name, "s", origin=where)
    )
    _counts(block, facts)
    facts["pipeline"] = Fact(1.0, origin="a worker of hey sends one request at a time")
    facts["protocol"] = Fact("HTTP", origin="hey does not print its version of HTTP")
    return facts


def _counts(block: Block, facts: dict[str, Fact]) -> None:
    lines = block.all(r"\s*\[(\d{3})\]\s+(\d{1,15}) responses")
    codes = [(match[1], int(match[2])) for match, _ in lines]
    if not block.find(r"\s*(?:Status code|Error) distribution:"):
        return  # it is cut above them
    answered = statuses(facts, iter(codes), "Status code distribution")
    lines = block.all(r"\s*\[(\d{1,15})\]\s+(?!\d{1,15} responses$)(.*\S.*)")
    lost = sum(int(match[1]) for match, _ in lines if not re.fullmatch(r"\W*", match[2]))
    facts["lost"] = Fact(float(lost), "1", 0.0, COUNTED, "Error distribution")
    if not codes:
        facts["samples"] = Fact(0.0, origin="Status code distribution")
        for name in ("max", "min", "mean"):
            facts.pop(name, None)
    if answered < _KEPT:  # of more responses it forgets the rest
        facts["requests"] = Fact(float(answered + lost), origin="Status code distribution")
        facts["samples"] = Fact(float(answered), origin="Status code distribution")
    else:  # the sum of all times / those that it keeps
        facts.pop("mean", None)
