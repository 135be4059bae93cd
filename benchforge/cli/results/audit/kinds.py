"""Findings of one kind in a source, and what all findings of an audit come to."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchforge.cli.results.audit.audited import Audited
from benchforge.cli.results.audit.facts import shown
from benchforge.cli.results.audit.finding import FALSE, SEVERITIES, Finding, Severity
from benchforge.parts.reader import Fact
from benchforge.text import readable


@dataclass(frozen=True)
class FindingKind:
    """The findings of one check and one severity."""

    severity: Severity
    code: str
    findings: tuple[Finding, ...]

    @property
    def title(self) -> str:
        """Title of all, or of the first one where they differ."""
        titles = {finding.title for finding in self.findings}
        return self.findings[0].title if len(titles) == 1 else f"such as: {self.findings[0].title}"


def kinds(audit: Audited) -> list[FindingKind]:
    """Return the findings of a source by kind, the worst first."""
    by_kind: defaultdict[tuple[Severity, str, str], list[Finding]] = defaultdict(list)
    for finding in audit.sorted():
        # A title with a share in it differs from row to row.
        title = "" if len(audit.rows) > 1 else finding.title
        by_kind[finding.severity, finding.code, title].append(finding)
    return [
        FindingKind(severity, code, tuple(findings))
        for (severity, code, _), findings in by_kind.items()
    ]


def counted(findings: Iterable[Finding]) -> dict[Severity, int]:
    """Return the number of findings of each severity that occurs, the worst first."""
    severities = [finding.severity for finding in findings]
    return {entry: severities.count(entry) for entry in SEVERITIES if entry in severities}


def conclusion(audits: Sequence[Audited]) -> str:
    """Return what the findings of all sources come to."""
    counts = counted(finding for audit in audits for finding in audit.findings)
    held = sum(audit.held.total() for audit in audits)
    if not held and not counts:
        return "Nothing could be checked."
    summary = ", ".join(f"{count:,} {severity}" for severity, count in counts.items())
    sentence = f"Found: {summary or 'nothing'}. {holding(held)}."
    if held and not any(severity in counts for severity in FALSE):
        sentence += " Nothing is impossible. That does not show that the result is right."
    return sentence


def holding(count: int) -> str:
    """Return how many identities hold, in words."""
    return "1 identity holds" if count == 1 else f"{readable.exact(count)} identities hold"


def facts_by(auditor: str, given: Mapping[str, Fact]) -> str:
    """Return the facts that the auditor gave; empty where there are none."""
    facts = readable.listed(f"{name} {shown(fact)}" for name, fact in given.items())
    return f"Facts by {auditor}: {facts}" if given else ""


def sentences(finding: Finding) -> list[str]:
    """Return what a finding says of its numbers."""
    rests = [f"Rests on: {finding.rests_on}."] if finding.rests_on else []
    return [
        f"{finding.identity}.",
        *rests,
        *([f"True if {finding.true_if}."] if finding.true_if else []),
    ]
