"""An audit without a command line: of a text, by the reader that claims it."""

import io
from collections.abc import Mapping
from functools import cache

from benchforge.cli.results.audit.audited import Audited, audited
from benchforge.cli.results.audit.finding import FALSE, Finding
from benchforge.cli.results.audit.sources import claimed, readers
from benchforge.parts.reader import Reader, Source
from benchforge.parts.registry import Registry
from benchforge.plugin import Fact

WRK = """Running 30s test @ http://127.0.0.1:8080/
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    {mean}     1.13ms  61.41ms   93.02%
    Req/Sec     5.70k   512.01     6.10k    70.00%
  342040 requests in 30.02s, 42.11MB read
Requests/sec:  11393.74
Transfer/sec:      1.40MB
"""
"What wrk prints, with a `{mean}`."


@cache
def all_readers() -> tuple[Reader, ...]:
    return tuple(readers(Registry(), "", {}))


def source(text: str | bytes, name: str = "result") -> Source:
    return Source(name, io.BytesIO(text if isinstance(text, bytes) else text.encode()))


def audit(text: str, options: Mapping[str, Fact] | None = None, name: str = "result") -> Audited:
    ((reader, copy),) = claimed(source(text, name), all_readers())
    return audited(name, reader.name, reader.rows(copy), options or {})


def false(label: Audited) -> list[Finding]:
    """Return the findings that make the exit code 1."""
    return [finding for finding in label.findings if finding.severity in FALSE]
