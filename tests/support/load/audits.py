"""An audit without a command line: of a text, by the reader that claims it."""

import io
from collections.abc import Mapping
from functools import cache

from benchforge.cli.results.audit.audited import Audited, audited
from benchforge.cli.results.audit.finding import FALSE, Finding
from benchforge.cli.results.audit.sources import reader_of, readers
from benchforge.parts.reader import Reader, Source
from benchforge.parts.registry import Registry
from benchforge.plugin import Fact


@cache
def all_readers() -> tuple[Reader, ...]:
    return tuple(readers(Registry(), "", {}))


def source(text: str | bytes, name: str = "result") -> Source:
    return Source(name, io.BytesIO(text if isinstance(text, bytes) else text.encode()))


def audit(text: str, options: Mapping[str, Fact] | None = None, name: str = "result") -> Audited:
    subject = source(text, name)
    reader = reader_of(subject, all_readers())
    assert reader is not None, text[:300]
    return audited(name, reader.name, reader.rows(subject), options or {})


def false(label: Audited) -> list[Finding]:
    """Return the findings that make the exit code 1."""
    return [finding for finding in label.findings if finding.severity in FALSE]
