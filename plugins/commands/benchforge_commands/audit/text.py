"""An audit as text for a terminal."""

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from benchforge.plugin import Fact, readable, safe
from benchforge_commands.audit.audited import Audited
from benchforge_commands.audit.facts import shown
from benchforge_commands.audit.finding import FALSE, SEVERITIES, Finding

WIDTH = 88
_OF_A_KIND = 3


def text(audits: Sequence[Audited], given: Mapping[str, Fact], *, everything: bool) -> str:
    """Return the findings of all sources, the worst first, and what was checked."""
    blocks = [block for audit in audits for block in _of_source(audit, everything=everything)]
    if given:
        facts = (f"{name} {shown(fact)}" for name, fact in given.items())
        blocks.append(f"Facts by you: {readable.listed(facts)}")
    blocks.append(_end(audits))
    return "\n\n".join(blocks)


def _of_source(audit: Audited, *, everything: bool) -> Iterator[str]:
    rows = readable.counted(len(audit.rows), "row")
    yield f"{safe.line(audit.source)}: {audit.reader}, {rows}"
    kinds: defaultdict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in audit.sorted():
        # A title with a share in it differs from row to row.
        kinds[finding.severity, finding.code, _kind(finding, audit)].append(finding)
    for (severity, code, _), findings in kinds.items():
        head = f"{severity}: {findings[0].title} [{code}]"
        several = len(findings) > 1
        if several:
            head = f"{severity}, {len(findings)} times: {_title(findings)} [{code}]"
        most = len(findings) if everything else _OF_A_KIND
        lines = textwrap.wrap(safe.line(head), WIDTH)
        for finding in findings[:most]:
            lines += _lines(finding)
        if (more := len(findings) - most) > 0:
            lines.append(f"  and {readable.exact(more)} more: --all prints them")
        yield "\n".join(lines)


def _kind(finding: Finding, audit: Audited) -> str:
    return "" if len(audit.rows) > 1 else finding.title


def _title(findings: Sequence[Finding]) -> str:
    titles = {finding.title for finding in findings}
    return findings[0].title if len(titles) == 1 else f"such as: {findings[0].title}"


def _lines(finding: Finding) -> list[str]:
    where = ", ".join(entry for entry in (finding.row, finding.where) if entry)
    sentences = [f"{finding.identity}."]
    sentences += [f"Rests on: {finding.rests_on}."] if finding.rests_on else []
    sentences += [f"True if {finding.true_if}."] if finding.true_if else []
    lines = textwrap.wrap(
        safe.line(where), WIDTH - 2, initial_indent="  ", subsequent_indent="    "
    )
    for sentence in sentences:
        lines += textwrap.wrap(
            safe.line(sentence), WIDTH, initial_indent="    ", subsequent_indent="      "
        )
    return lines


def _end(audits: Sequence[Audited]) -> str:
    counts = {
        severity: sum(entry.severity == severity for audit in audits for entry in audit.findings)
        for severity in SEVERITIES
    }
    held = sum(audit.held.total() for audit in audits)
    summary = ", ".join(f"{count:,} {severity}" for severity, count in counts.items() if count)
    worst = any(counts[severity] for severity in FALSE)
    holds = f"{readable.counted(held, 'identity')} {'holds' if held == 1 else 'hold'}"
    holds = holds.replace("identitys", "identities")
    if not held and not summary:
        return "Nothing could be checked."
    first = f"Found: {summary or 'nothing'}. {holds}."
    if not worst and held:
        first += " Nothing is impossible. That does not show that the result is right."
    return "\n".join(textwrap.wrap(first, WIDTH))
