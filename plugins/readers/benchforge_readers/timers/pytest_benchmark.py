"""pytest-benchmark: the JSON that `--benchmark-json` writes."""

from collections.abc import Iterator
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import field, has, items, json_of, take, take_times, times_of, word

_TIMES = {"mean": "mean", "sd": "stddev", "min": "min", "max": "max", "sum": "total"}
_TIMES |= {"p25": "q1", "p50": "median", "p75": "q3"}


class PytestBenchmarkReader(Reader):
    """The JSON of pytest-benchmark (`--benchmark-json`, or one that it saved)."""

    name: ClassVar[str] = "pytest_benchmark"

    def claims(self, head: str) -> bool:
        return has(head, "machine_info", "commit_info") or has(head, "stddev_outliers", "ld15iqr")

    def rows(self, source: Source) -> Iterator[Row]:
        for index, benchmark in enumerate(items(json_of(source), "benchmarks")):
            where = f"benchmarks.{index}"
            facts: dict[str, Fact] = {}
            take_times(facts, benchmark, ["stats"], _TIMES)
            take(facts, "requests", benchmark, "stats", "rounds")
            take(facts, "per_second", benchmark, "stats", "ops", unit="1/s")
            times = times_of(items(benchmark, "stats", "data"), f"{where}.stats.data")
            name = word(field(benchmark, "fullname") or field(benchmark, "name"), where)
            group = word(field(benchmark, "group"), "benchmarks")
            yield Row(name, facts, where, table=group, times=times)
