"""TechEmpower's benchmarks: a results.json of one round or of one run."""

from collections.abc import Iterator
from typing import Any, ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import field, items, json_of, table, take
from benchforge_readers.load_tools.wrk import CORRECTED
from benchforge_readers.printed import given, number, seconds

_LEVELS = {"plaintext": "pipelineConcurrencyLevels"}
_BY_QUERIES = ("query", "update", "cached-query")
_TESTS = ("json", "db", "fortune", "plaintext", *_BY_QUERIES)


class TechempowerReader(Reader):
    """A `results.json` of TechEmpower's Framework Benchmarks.

    Good to know:

    - Each level of each test of each framework is a row. The load tool is wrk.
    - The duration in the file is a setting. No field has the measured duration.
    - The plaintext test sends 16 requests at once on a connection, by its script.
    """

    name: ClassVar[str] = "techempower"

    def claims(self, head: str) -> bool:
        if head.lstrip()[:1] != "{":
            return False
        names = ("queryIntervals", "rawData", "concurrencyLevels", "latencyAvg", "totalRequests")
        return sum(f'"{name}"' in head for name in names) > 1

    def rows(self, source: Source) -> Iterator[Row]:
        """Yield a row for each level of each test."""
        document = json_of(source)
        raw = table(document, "rawData")
        written = field(document, "duration")
        setting = number(written, "duration", "s") if isinstance(written, str) else None
        setting = setting or given(written, "duration", "s")
        for test in _TESTS:
            levels = items(document, _LEVELS.get(test, "concurrencyLevels"))
            for framework, results in table(raw, test).items():
                if not isinstance(results, list):
                    continue  # older rounds have other numbers below the same name
                for index, result in enumerate(results):
                    where = f"rawData.{test}.{framework[:60]}.{index}"
                    if not isinstance(result, dict) or "totalRequests" not in result:
                        continue
                    facts = _facts(result, where)
                    level = _level(levels, index, test)
                    if level is not None:
                        facts["connections"] = level
                    if setting is not None:
                        facts["duration_asked"] = setting
                    pipeline = 16.0 if test == "plaintext" else 1.0
                    facts["pipeline"] = Fact(pipeline, origin="TechEmpower's script")
                    name = f"{test} {framework[:60]} ({index})"
                    yield Row(name, facts, where, f"{test} ({index})")


def _level(levels: list[Any], index: int, test: str) -> Fact | None:
    """Return the number of connections: with queries, all levels have the largest one."""
    numbers = [given(level, "concurrencyLevels") for level in levels]
    counts = [entry for entry in numbers if entry is not None]
    if test in _BY_QUERIES:
        return max(counts, key=lambda entry: float(entry.value), default=None)
    return counts[index] if index < len(counts) else None


def _facts(result: dict[str, Any], where: str) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    take(facts, "requests", result, "totalRequests")
    for name, path in (("mean", "latencyAvg"), ("sd", "latencyStdev"), ("max", "latencyMax")):
        text = field(result, path)
        if isinstance(text, str) and text and "nan" not in text:
            entry = seconds(text, f"{where}.{path}", "")
            facts[name] = Fact(entry.value, "s", entry.resolution, CORRECTED, f"{where}.{path}")
    bad = 0.0
    for name in ("5xx", "4xx", "3xx"):
        take(facts, name, result, name)
        bad += float(facts[name].value) if name in facts and name != "3xx" else 0.0
    facts["failed"] = Fact(bad, origin=where)
    lost = [given(result.get(name), name) for name in ("connect", "read", "write")]
    facts["lost"] = Fact(sum(float(entry.value) for entry in lost if entry), origin=where)
    facts["timeouts"] = given(result.get("timeout"), "timeout") or Fact(0.0, origin=where)
    began, ended = (given(result.get(name), name) for name in ("startTime", "endTime"))
    if began is not None and ended is not None:
        wall = float(ended.value) - float(began.value)
        facts["wall"] = Fact(wall, "s", 1.0, "", f"{where}.endTime")
    facts["loop"] = Fact("closed", origin="TechEmpower uses wrk")
    if not float(facts["requests"].value):
        facts = {name: entry for name, entry in facts.items() if name not in {"mean", "sd", "max"}}
    return facts
