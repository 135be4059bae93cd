"""An audit as a page: the counts, the findings of each source, and what holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from benchforge.cli.results.audit.audited import Audited
from benchforge.cli.results.audit.finding import Severity
from benchforge.cli.results.audit.kinds import (
    FindingKind,
    conclusion,
    counted,
    facts_by,
    holding,
    kinds,
)
from benchforge.parts.reader import Fact
from benchforge.report.page.counted_state import CountedState
from benchforge.text import readable

_MOST = 200
"Findings of a kind that the page lists."
_STATES: Final[Mapping[Severity, tuple[str, str, str]]] = {
    "impossible": ("fails", "invalid", "\N{MULTIPLICATION X}"),
    "false field": ("fails", "invalid", "\N{MULTIPLICATION X}"),
    "unsupported": ("invalid", "limits", "!"),
    "not resolved": ("inconclusive", "expert", "\N{ALMOST EQUAL TO}"),
    "unknown": ("inconclusive", "expert", "?"),
}
"Each severity: the name of the colour of its count, that of its findings, and its sign."


def audit_page(audits: Sequence[Audited], given: Mapping[str, Fact]) -> dict[str, Any]:
    """Return the values of an audit's page."""
    rows = readable.counted(sum(len(audit.rows) for audit in audits), "row")
    sources = readable.counted(len(audits), "source")
    return {
        "title": f"Audit: {audits[0].source if len(audits) == 1 else sources}",
        "eyebrow": f"{sources} \N{MIDDLE DOT} {rows}",
        "counts": _counts(audits),
        "sentences": filter(None, (conclusion(audits), facts_by("the auditor", given))),
        "sources": [_source(number, audit) for number, audit in enumerate(audits, 1)],
    }


def _counts(audits: Sequence[Audited]) -> Iterator[CountedState]:
    counts = counted(finding for audit in audits for finding in audit.findings)
    for severity, count in counts.items():
        yield CountedState(_STATES[severity][0], count, severity)
    if held := sum(audit.held.total() for audit in audits):
        yield CountedState("holds", held, holding(held).partition(" ")[2])


def _source(number: int, audit: Audited) -> dict[str, Any]:
    return {
        "id": f"source-{number}",
        "name": audit.source,
        "about": f"{audit.reader}, {readable.counted(len(audit.rows), 'row')}",
        "kinds": [_listed(kind) for kind in kinds(audit)],
        "held": [
            (code, readable.counted(count, "time")) for code, count in sorted(audit.held.items())
        ],
    }


def _listed(kind: FindingKind) -> dict[str, Any]:
    _, state, sign = _STATES[kind.severity]
    more = len(kind.findings) - _MOST
    return {
        "state": state,
        "sign": sign,
        "severity": kind.severity,
        "code": kind.code,
        "title": kind.title,
        "times": readable.counted(len(kind.findings), "time"),
        "findings": kind.findings[:_MOST],
        "more": f"{readable.exact(more)} more are not shown: --json prints them"
        if more > 0
        else "",
    }
