"""An audit as JSON, and as Markdown."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from benchforge.cli.results.audit.audited import Audited
from benchforge.cli.results.audit.document import conclusion, facts_by
from benchforge.cli.results.audit.finding import Finding
from benchforge.parts.reader import Fact
from benchforge.text import readable, safe

_MOST = 200
"Rows of a table of Markdown: a comment on a pull request takes no more."


def as_json(audits: Sequence[Audited], given: Mapping[str, Fact]) -> str:
    """Return all findings, and the number of identities that hold, by code."""
    document = {
        "given": {name: asdict(fact) for name, fact in given.items()},
        "sources": [
            {
                "source": audit.source,
                "reader": audit.reader,
                "rows": len(audit.rows),
                "held": dict(sorted(audit.held.items())),
                "findings": [asdict(finding) for finding in audit.sorted()],
            }
            for audit in audits
        ],
    }
    return safe.as_json(json.dumps(document, indent=1))


def as_markdown(audits: Sequence[Audited], given: Mapping[str, Fact]) -> str:
    """Return a table of findings for each source."""
    lines = ["# Audit", ""]
    lines += [text for one in facts_by("the auditor", given) for text in (safe.markdown(one), "")]
    for audit in audits:
        rows = readable.counted(len(audit.rows), "row")
        lines += [
            f"## {safe.markdown(audit.source)}",
            "",
            f"{audit.reader}, {rows}. {conclusion([audit])}",
        ]
        findings = audit.sorted()
        if findings:
            lines += ["", "| severity | code | row | finding | true if |", "|---|---|---|---|---|"]
            lines += [_row(finding) for finding in findings[:_MOST]]
        if len(findings) > _MOST:
            lines += ["", f"{len(findings) - _MOST} more are in the output of `--json`."]
        lines.append("")
    return "\n".join(lines).rstrip()


def _row(finding: Finding) -> str:
    rests = f" Rests on: {finding.rests_on}." if finding.rests_on else ""
    what = f"{finding.title}: {finding.identity}.{rests}"
    place = f"{finding.row} ({finding.where})" if finding.where else finding.row
    cells = (finding.severity, finding.code, place, what, finding.true_if)
    return f"| {' | '.join(safe.markdown(cell) for cell in cells)} |"
