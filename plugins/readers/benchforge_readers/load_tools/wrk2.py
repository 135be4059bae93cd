"""wrk2, and the percentiles of any HdrHistogram as text."""

from collections.abc import Iterator
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.load_tools.wrk import BEGINS, facts_of, named, of_wrk2
from benchforge_readers.printed import Block, blocks, number, part_rows, seconds

_SPECTRUM = r" *(\d{1,12}\.\d{1,9}) +([01]\.\d{1,15}) +(\d{1,18})(?: +\S{1,30})?"
_HEAD = r" *Value(?:\(ms\))? +Percentile +TotalCount"
_FOOT = r"#\[{} *= *(\S{{1,30}}), *{} *= *(\S{{1,30}})\]"
_DIGITS = 1e-3  # of an HdrHistogram with three digits: its buckets are as wide
_PERCENT = 100.0


class Wrk2Reader(Reader):
    """The text of wrk2 (`wrk -R`), or the percentile table of an HdrHistogram.

    Good to know:

    - A latency counts from the time at which the request was due, so Little's law does not bound
      it by the number of connections.
    - A table without the text of wrk2 states no unit. The reader takes milliseconds, which no check
      depends on.
    """

    name: ClassVar[str] = "wrk2"

    def claims(self, head: str) -> bool:
        return of_wrk2(head) or ("TotalCount" in head and "1/(1-Percentile)" in head)

    def rows(self, source: Source) -> Iterator[Row]:
        """Yield a row for each test, or for each table."""
        with_tests = of_wrk2(source.head)
        parts = blocks(source, BEGINS if with_tests else _HEAD)

        def row(block: Block, count: int) -> Row:
            facts: dict[str, Fact] = {}
            if with_tests:
                facts = facts_of(block)
                facts["loop"] = Fact("open", origin="wrk2 sends at a fixed rate")
                for name in ("mean", "sd", "max", "thread_rate"):
                    facts.pop(name, None)  # the table has them with more digits
            _spectrum(_first(block), facts)
            name = named(block, count) if with_tests else f"table {count}"
            return Row(name, facts, f"line {block.first}")

        return part_rows((part for part in parts if not with_tests or of_wrk2(part.text)), row)


def _first(block: Block) -> Block:
    """Return the lines to the end of the first table: a second one holds other latencies."""
    for index, line in enumerate(block.lines):
        if line.startswith("#[Buckets"):
            return Block(block.lines[: index + 1], block.first)
    return block


def _spectrum(block: Block, facts: dict[str, Fact]) -> None:
    last = None
    for match, where in block.all(_SPECTRUM):
        value = _of_bucket(number(match[1], "Value", "s", 1e-3, where))
        share = float(match[2])
        if share > 1:
            raise ValueError(f"{where}: Percentile: {match[2]} is more than 1")
        facts[_name(share * _PERCENT)] = value
        last = number(match[3], "TotalCount", origin=where)
    if last is not None:
        facts["samples_listed"] = last
    else:
        for match, where in block.all(r" *(\d{1,3}\.\d{1,6})% +(\S{1,20})"):
            facts[_name(float(match[1]))] = _of_bucket(seconds(match[2], f"{match[1]}%", where))
    _foot(block, facts)
    if not facts:
        raise ValueError(f"line {block.first}: no row of percentiles below it")


def _foot(block: Block, facts: dict[str, Fact]) -> None:
    if hit := block.find(_FOOT.format("Mean", "StdDeviation")):
        for name, text in zip(("mean", "sd"), hit[0].groups(), strict=True):
            if "nan" not in text.lower():
                facts[name] = _of_bucket(number(text, name, "s", 1e-3, hit[1]))
    if hit := block.find(_FOOT.format("Max", "Total count")):
        facts["max"] = _of_bucket(number(hit[0][1], "Max", "s", 1e-3, hit[1]))
        facts["samples"] = number(hit[0][2], "Total count", origin=hit[1])
        if not facts["samples"].value:
            for name in ("mean", "sd", "max"):
                facts.pop(name, None)


def _name(percent: float) -> str:
    return "min" if percent <= 0 else "max_listed" if percent >= _PERCENT else f"p{percent:.12g}"


def _of_bucket(fact: Fact) -> Fact:
    width = float(fact.value) * _DIGITS
    return Fact(fact.value, fact.unit, fact.resolution + width, "", fact.origin)
