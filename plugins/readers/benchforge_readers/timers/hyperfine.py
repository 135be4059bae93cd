"""hyperfine: the JSON of `--export-json`."""

from collections.abc import Iterator
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import field, has, items, json_of, take_times, times_of, word

_TIMES = {name: name for name in ("mean", "min", "max", "user", "system")}
_TIMES |= {"sd": "stddev", "p50": "median"}


class HyperfineReader(Reader):
    """The JSON of hyperfine (`--export-json`)."""

    name: ClassVar[str] = "hyperfine"

    def claims(self, head: str) -> bool:
        return has(head, "results", "command", "stddev", "user")

    def rows(self, source: Source) -> Iterator[Row]:
        for index, result in enumerate(items(json_of(source), "results")):
            where = f"results.{index}"
            facts: dict[str, Fact] = {}
            take_times(facts, result, [], _TIMES)
            if codes := items(result, "exit_codes"):
                bad = sum(code != 0 for code in codes)
                facts["failed"] = Fact(float(bad), origin=f"{where}.exit_codes")
            if times := times_of(items(result, "times"), f"{where}.times"):
                facts["requests"] = Fact(float(len(times)), origin=f"{where}.times")
            name = word(field(result, "command"), f"command {index + 1}")
            yield Row(name, facts, where, table="commands", times=times)
