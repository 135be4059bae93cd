"""pyperf: the JSON that `-o` writes."""

from collections.abc import Iterator
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import field, has, items, json_of, times_of, word


class PyperfReader(Reader):
    """The JSON of pyperf (`-o FILE`).

    Good to know:

    - pyperf stores no mean: it computes one from the values, so only the values are checked.
    """

    name: ClassVar[str] = "pyperf"

    def claims(self, head: str) -> bool:
        return has(head, "benchmarks", "runs") and ('"loops"' in head or '"perf_version"' in head)

    def rows(self, source: Source) -> Iterator[Row]:
        document = json_of(source)
        for index, benchmark in enumerate(items(document, "benchmarks")):
            where = f"benchmarks.{index}"
            times: list[float] = []
            processes = 0
            for number, run in enumerate(items(benchmark, "runs")):
                values = times_of(items(run, "values"), f"{where}.runs.{number}.values")
                times += values
                processes += bool(values)
            name = field(benchmark, "metadata", "name") or field(document, "metadata", "name")
            unit = field(benchmark, "metadata", "unit") or field(document, "metadata", "unit")
            if unit not in {None, "second"}:
                continue  # bytes of memory, or a number
            facts = {"processes": Fact(float(processes), origin=f"{where}.runs")}
            title = word(name, f"benchmark {index + 1}")
            yield Row(title, facts, where, table="benchmarks", times=tuple(times))
