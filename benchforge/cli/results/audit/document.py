"""What an audit comes to: of each source its findings, check by check, and what holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from benchforge.cli.results.audit.audited import Audited
from benchforge.cli.results.audit.facts import shown
from benchforge.cli.results.audit.finding import FALSE, SEVERITIES, Finding, Severity
from benchforge.parts.reader import Fact
from benchforge.report.page.document import Findings, PageDocument, PageSection
from benchforge.text import readable

_STATES: Final[Mapping[Severity, tuple[str, str, str]]] = {
    "impossible": ("fails", "invalid", "\N{MULTIPLICATION X}"),
    "false field": ("fails", "invalid", "\N{MULTIPLICATION X}"),
    "unsupported": ("invalid", "limits", "!"),
    "not resolved": ("inconclusive", "expert", "\N{ALMOST EQUAL TO}"),
    "unknown": ("inconclusive", "expert", "?"),
}
"Each severity: the name of the colour of its count, that of its findings, and its sign."
_NOTHING: Final = "nothing"


def document(audits: Sequence[Audited], given: Mapping[str, Fact]) -> PageDocument:
    """Return the audit of all sources, the worst findings of each first."""
    rows = readable.counted(sum(len(audit.rows) for audit in audits), "row")
    sources = readable.counted(len(audits), "source")
    counts = [(_STATES[severity][0], count, severity) for severity, count in _counts(audits)]
    held = _held(audits)
    return PageDocument(
        title=f"Audit: {audits[0].source if len(audits) == 1 else sources}",
        eyebrow=f"{sources} \N{MIDDLE DOT} {rows}",
        counts=[*counts, ("holds", held, _holding(held).partition(" ")[2])] if held else counts,
        sentences=[conclusion(audits), *facts_by("the auditor", given)],
        sections=[_source(number, audit) for number, audit in enumerate(audits, start=1)],
    )


def conclusion(audits: Sequence[Audited]) -> str:
    """Return what the findings of all sources come to."""
    counts, held = dict(_counts(audits)), _held(audits)
    if not held and not counts:
        return "Nothing could be checked."
    summary = ", ".join(f"{count:,} {severity}" for severity, count in counts.items())
    sentence = f"Found: {summary or 'nothing'}. {_holding(held)}."
    if held and not any(severity in counts for severity in FALSE):
        sentence += " Nothing is impossible. That does not show that the result is right."
    return sentence


def facts_by(auditor: str, given: Mapping[str, Fact]) -> list[str]:
    """Return the facts that the auditor gave, in a sentence; none without any."""
    facts = readable.listed(f"{name} {shown(fact)}" for name, fact in given.items())
    return [f"Facts by {auditor}: {facts}"] if given else []


def sentences(row: Sequence[str]) -> list[str]:
    """Return what a row of findings says of its numbers."""
    _, identity, rests_on, true_if = row
    rests = [f"Rests on: {rests_on}."] * (rests_on != _NOTHING)
    return [f"{identity}.", *rests, *[f"True if {true_if}."] * bool(true_if)]


def _counts(audits: Sequence[Audited]) -> Iterator[tuple[Severity, int]]:
    """Yield how many findings each severity has that occurs, the worst first."""
    severities = [finding.severity for audit in audits for finding in audit.findings]
    for severity in SEVERITIES:
        if severity in severities:
            yield severity, severities.count(severity)


def _held(audits: Sequence[Audited]) -> int:
    return sum(audit.held.total() for audit in audits)


def _holding(count: int) -> str:
    return "1 identity holds" if count == 1 else f"{readable.exact(count)} identities hold"


def _source(number: int, audit: Audited) -> PageSection:
    counts = ((code, readable.counted(count, "time")) for code, count in audit.held.items())
    return PageSection(
        f"source-{number}",
        audit.source,
        f"{audit.reader}, {readable.counted(len(audit.rows), 'row')}",
        conclusion([audit]),
        empty="No check has a finding.",
        findings=[*_findings(audit)],
        heads=("row", "numbers", "rests on", "true if"),
        others="--json prints them",
        facts_title="The checks that hold",
        facts=sorted(counts),
    )


def _findings(audit: Audited) -> Iterator[Findings]:
    by_kind: dict[tuple[Severity, str, str], list[Finding]] = {}
    for finding in audit.sorted():
        # A title with a share in it differs from row to row.
        title = "" if len(audit.rows) > 1 else finding.title
        by_kind.setdefault((finding.severity, finding.code, title), []).append(finding)
    for (severity, code, _), findings in by_kind.items():
        title = findings[0].title
        if any(finding.title != title for finding in findings):
            title = f"such as: {title}"
        _, kind, sign = _STATES[severity]
        yield Findings(kind, sign, severity, code, title, [_row(finding) for finding in findings])


def _row(finding: Finding) -> tuple[str, ...]:
    where = ", ".join(filter(None, (finding.row, finding.where)))
    return where, finding.identity, finding.rests_on or _NOTHING, finding.true_if
