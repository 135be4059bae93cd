"""autocannon: a closed loop in Node.js, as JSON."""

import re
from collections.abc import Iterator
from typing import ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import document_of, field, has, table, take

_MS = 1e-3
_ROUNDED = 1.0  # milliseconds: it records whole ones
_CORRECTED = "corrected, if autocannon ran with -R"


class AutocannonReader(Reader):
    """The JSON of autocannon (`--json`).

    Good to know:

    - Latencies are recorded in whole milliseconds.
    - With `-R`, autocannon corrects latencies, and the JSON does not say so.
    """

    name: ClassVar[str] = "autocannon"

    def claims(self, head: str) -> bool:
        """Return True for the JSON of autocannon."""
        return has(head, "pipelining", "latency", "non2xx")

    def rows(self, source: Source) -> Iterator[Row]:
        """Yield a row."""
        document = document_of(source)
        facts: dict[str, Fact] = {}
        take(facts, "connections", document, "connections")
        take(facts, "pipeline", document, "pipelining")
        take(facts, "duration", document, "duration", unit="s", step=0.01)
        take(facts, "requests", document, "requests", "total")
        take(facts, "timeouts", document, "timeouts")
        take(facts, "lost", document, "errors")
        take(facts, "failed", document, "non2xx")
        take(facts, "samples", document, "latency", "totalCount")
        take(facts, "bytes", document, "throughput", "total", unit="B")
        for name in ("mean", "stddev", "min", "max"):
            title = "sd" if name == "stddev" else name
            path = ("latency", name)
            take(facts, title, document, *path, unit="s", scale=_MS, step=_ROUNDED)
        for name in table(document, "latency"):
            if match := re.fullmatch(r"p(\d{1,2})(?:_(\d{1,3}))?", name):
                title = f"p{float(f'{match[1]}.{match[2] or 0}'):g}"
                take(facts, title, document, "latency", name, unit="s", scale=_MS, step=_ROUNDED)
        if not float(facts["requests"].value if "requests" in facts else 0):
            facts = {name: entry for name, entry in facts.items() if entry.unit != "s"}
        for name, entry in list(facts.items()):
            if entry.origin.startswith("latency.") and entry.unit == "s":
                facts[name] = Fact(entry.value, "s", entry.resolution, _CORRECTED, entry.origin)
        facts["loop"] = Fact("closed", origin="autocannon is a closed loop without -R")
        yield Row(str(field(document, "url") or "load")[:80], facts, "document")
