"""the-benchmarker/web-frameworks: its data.json."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import field, has, items, json_of, word
from benchforge_readers.printed import given

_MS = 1e-3
_FACTS = {
    "total_requests_per_s": ("rate", "1/s", 1.0),
    "total_requests": ("requests", "1", 1.0),
    "duration_ms": ("duration", "s", _MS),
    "average_latency": ("mean", "s", 1.0),
    "minimum_latency": ("min", "s", 1.0),
    "standard_deviation": ("sd", "s", 1.0),
    "percentile50": ("p50", "s", 1.0),
    "percentile75": ("p75", "s", 1.0),
    "percentile90": ("p90", "s", 1.0),
    "percentile99": ("p99", "s", 1.0),
    "percentile99999": ("p99.999", "s", 1.0),
    "http_errors": ("failed", "1", 1.0),
    "request_timeouts": ("timeouts", "1", 1.0),
}
_P95 = "oha's p95: .tasks/collect.rake stores data.dig(:latencyPercentiles, :p95) as percentile99"
_ALL = "oha counts requests that failed, whose number nobody stored"


class TheBenchmarkerReader(Reader):
    """The `data.json` of the-benchmarker/web-frameworks.

    Good to know:

    - A value of -1 means that nobody stored it. It is unknown.
    - The project's script stores oha's p95 under the name `percentile99` (its state in February
      2026). The reader says so and keeps the published name.
    """

    name: ClassVar[str] = "the_benchmarker"

    def claims(self, head: str) -> bool:
        return has(head, "metrics", "level", "label", "framework_id")

    def rows(self, source: Source) -> Iterator[Row]:
        """Yield a row for each framework and level."""
        document = json_of(source)
        names = {
            field(entry, "id"): word(field(entry, "label"), "no name")
            for entry in items(document, "frameworks")
            if isinstance(field(entry, "id"), int)
        }
        groups: dict[tuple[int, float], dict[str, Fact]] = {}
        for index, metric in enumerate(items(document, "metrics")):
            where = f"metrics.{index}"
            framework, level = field(metric, "framework_id"), field(metric, "level")
            if not isinstance(framework, int) or not isinstance(level, int):
                raise ValueError(f"{where}: no framework_id and level")  # noqa: TRY004 - of foreign data
            facts = groups.setdefault((framework, level), {})
            facts["connections"] = Fact(float(level), origin=f"{where}.level")
            name, unit, scale = _FACTS.get(str(field(metric, "label")), ("", "1", 1.0))
            fact = given(field(metric, "value"), f"{where}.value", unit, scale)
            if name and fact is not None and float(fact.value) >= 0:
                facts[name] = replace(fact, estimator={"p99": _P95, "rate": _ALL}.get(name, ""))
        for (framework, level), facts in groups.items():
            facts["loop"] = Fact("closed", origin="oha without -q")
            facts["pipeline"] = Fact(1.0, origin="oha with --disable-keepalive")
            if not float(facts["rate"].value if "rate" in facts else 0):
                continue  # a framework that did not run
            name_ = f"{names.get(framework, framework)} ({level})"
            yield Row(name_, facts, facts["rate"].origin, f"level {level}")
