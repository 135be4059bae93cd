"""hyperfine: the JSON of `--export-json`."""

from collections.abc import Iterator
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import document_of, field, has, items, take_times, times_of, word

_TIMES = {
    "mean": "mean",
    "sd": "stddev",
    "p50": "median",
    "min": "min",
    "max": "max",
    "user": "user",
    "system": "system",
}


class HyperfineReader(Reader):
    """The JSON of hyperfine (`--export-json`)."""

    name: ClassVar[str] = "hyperfine"

    def claims(self, head: str) -> bool:
        """Return True for the results of hyperfine."""
        return has(head, "results", "command", "stddev", "user")

    def rows(self, source: Source) -> Iterator[Row]:
        """Yield a row for each command."""
        for index, result in enumerate(items(document_of(source), "results")):
            where = f"results.{index}"
            facts: dict[str, Fact] = {}
            take_times(facts, result, [], _TIMES)
            codes = items(result, "exit_codes")
            bad = sum(code != 0 for code in codes)
            if codes:
                facts["failed"] = Fact(float(bad), origin=f"{where}.exit_codes")
            times = times_of(items(result, "times"), f"{where}.times")
            if times:
                facts["requests"] = Fact(float(len(times)), origin=f"{where}.times")
            name = word(field(result, "command"), f"command {index + 1}")
            yield Row(name, facts, where, table="commands", times=times)
