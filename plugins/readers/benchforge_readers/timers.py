"""Timers: tools that repeat a command or a function, and time each run; all write JSON."""

from collections.abc import Iterator
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import field, has, items, json_of, take, take_times, times_of, word

_MOMENTS = {"mean": "mean", "sd": "stddev", "min": "min", "max": "max", "p50": "median"}
_OF_RUNS = {**_MOMENTS, "user": "user", "system": "system"}
_OF_ROUNDS = {**_MOMENTS, "sum": "total", "p25": "q1", "p75": "q3"}


class HyperfineReader(Reader):
    """The JSON of hyperfine (`--export-json`)."""

    name: ClassVar[str] = "hyperfine"

    def claims(self, head: str) -> bool:
        return has(head, "results", "command", "stddev", "user")

    def rows(self, source: Source) -> Iterator[Row]:
        for index, result in enumerate(items(json_of(source), "results")):
            where = f"results.{index}"
            facts: dict[str, Fact] = {}
            take_times(facts, result, [], _OF_RUNS)
            if codes := items(result, "exit_codes"):
                bad = sum(code != 0 for code in codes)
                facts["failed"] = Fact(float(bad), origin=f"{where}.exit_codes")
            if times := times_of(items(result, "times"), f"{where}.times"):
                facts["requests"] = Fact(float(len(times)), origin=f"{where}.times")
            name = word(field(result, "command"), f"command {index + 1}")
            yield Row(name, facts, where, table="commands", times=times)


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


class PytestBenchmarkReader(Reader):
    """The JSON of pytest-benchmark (`--benchmark-json`, or one that it saved)."""

    name: ClassVar[str] = "pytest_benchmark"

    def claims(self, head: str) -> bool:
        return has(head, "machine_info", "commit_info") or has(head, "stddev_outliers", "ld15iqr")

    def rows(self, source: Source) -> Iterator[Row]:
        for index, benchmark in enumerate(items(json_of(source), "benchmarks")):
            where = f"benchmarks.{index}"
            facts: dict[str, Fact] = {}
            take_times(facts, benchmark, ["stats"], _OF_ROUNDS)
            take(facts, "requests", benchmark, "stats", "rounds")
            take(facts, "per_second", benchmark, "stats", "ops", unit="1/s")
            times = times_of(items(benchmark, "stats", "data"), f"{where}.stats.data")
            name = word(field(benchmark, "fullname") or field(benchmark, "name"), where)
            group = word(field(benchmark, "group"), "benchmarks")
            yield Row(name, facts, where, table=group, times=times)
