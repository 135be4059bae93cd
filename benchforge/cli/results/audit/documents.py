"""An audit as a document, which is shown as text, page and JUnit's XML; and as JSON, Markdown."""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from benchforge.cli.results.audit.answer import consequences, standing
from benchforge.cli.results.audit.audited import Audited
from benchforge.cli.results.audit.facts import shown
from benchforge.cli.results.audit.finding import FALSE, SEVERITIES, Finding, Severity
from benchforge.parts.reader import Fact
from benchforge.report.junit_xml import Element, JunitSuite, JunitTest, junit_xml
from benchforge.report.page.document import Findings, PageDocument, PageSection
from benchforge.text import readable, safe

_STATES: Final[Mapping[Severity, tuple[str, str, str]]] = {
    "impossible": ("fails", "invalid", "\N{MULTIPLICATION X}"),
    "false field": ("fails", "invalid", "\N{MULTIPLICATION X}"),
    "unsupported": ("invalid", "limits", "!"),
    "not resolved": ("inconclusive", "expert", "\N{ALMOST EQUAL TO}"),
    "unknown": ("inconclusive", "expert", "?"),
}
"Each severity: the name of the colour of its count, that of its findings, and its sign."
_NOTHING: Final = "nothing"


def document(audits: Sequence[Audited], stated: Mapping[str, Fact]) -> PageDocument:
    """Return the audit of all sources, the worst findings of each first."""
    rows = readable.counted(sum(len(audit.rows) for audit in audits), "row")
    sources = readable.counted(len(audits), "source")
    counts = [(_STATES[severity][0], count, severity) for severity, count in _counts(audits)]
    held = _held(audits)
    return PageDocument(
        title=f"Audit: {audits[0].source if len(audits) == 1 else sources}",
        eyebrow=f"{sources} \N{MIDDLE DOT} {rows}",
        counts=[*counts, ("holds", held, _holding(held).partition(" ")[2])] if held else counts,
        sentences=[conclusion(audits), *facts_by("the auditor", stated)],
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


def facts_by(auditor: str, stated: Mapping[str, Fact]) -> list[str]:
    """Return the facts that the auditor gave, in a sentence; none without any."""
    facts = readable.listed(f"{name} {shown(fact)}" for name, fact in stated.items())
    return [f"Facts by {auditor}: {facts}"] if stated else []


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
        yield Findings(kind, sign, severity, code, title, [_cells(finding) for finding in findings])


def _cells(finding: Finding) -> tuple[str, ...]:
    where = ", ".join(filter(None, (finding.row, finding.where)))
    return where, finding.identity, finding.rests_on or _NOTHING, finding.true_if


_MOST = 200
"Rows of a table of Markdown: a comment on a pull request takes no more."


def as_json(audits: Sequence[Audited], stated: Mapping[str, Fact]) -> str:
    """Return all findings, and the number of identities that hold, by code."""
    document = {
        "given": {name: asdict(fact) for name, fact in stated.items()},
        "sources": [
            {
                "source": audit.source,
                "reader": audit.reader,
                "rows": len(audit.rows),
                "unread": audit.unread,
                "not_asked": {code: dict(lacks) for code, lacks in audit.not_asked.items()},
                "held": dict(sorted(audit.held.items())),
                "findings": [asdict(finding) for finding in audit.sorted()],
            }
            for audit in audits
        ],
    }
    return safe.as_json(json.dumps(document, indent=1))


def as_markdown(audits: Sequence[Audited], stated: Mapping[str, Fact]) -> str:
    """Return a table of findings for each source."""
    lines = ["# Audit", ""]
    lines += [
        text for item in facts_by("the auditor", stated) for text in (safe.markdown(item), "")
    ]
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
    sentence = f"{finding.title}: {finding.identity}.{rests}"
    row_place = f"{finding.row} ({finding.where})" if finding.where else finding.row
    cells = (finding.severity, finding.code, row_place, sentence, finding.true_if)
    return f"| {' | '.join(safe.markdown(cell) for cell in cells)} |"


WIDTH = 88
_OF_A_KIND = 3
_MOST_LINES = 15


def answer(document: PageDocument, audits: Sequence[Audited]) -> str:
    """Return the answer in fifteen lines: the rows that can stand, and the worst findings."""
    first = _wrapped(standing(audits), "")
    conclusion_, *facts = document.sentences
    last = [*consequences(audits), *(fact.replace("by the auditor", "by you", 1) for fact in facts)]
    end = [line for text_ in (*last, conclusion_) for line in _wrapped(text_, "")]
    kinds = [(section, item) for section in document.sections for item in section.findings]
    kinds.sort(key=lambda kind: [*map(str, SEVERITIES)].index(kind[1].word))
    middle: list[str] = []
    printed = 0
    for section, item in kinds:
        name = f"{section.title}: " if len(audits) > 1 else ""
        lines = _of_kind(item, 1, name)
        if len(first) + len(middle) + len(lines) + len(end) >= _MOST_LINES:
            break
        middle += lines
        printed += len(item.rows[:1])
    if more := sum(len(item.rows) for _, item in kinds) - printed:
        end.append(f"{readable.counted(more, 'more finding')}: --details prints them")
    room = _MOST_LINES - len(first) - len(middle)
    return "\n".join([*first, *middle, *(end if len(end) <= room else end[-room:])])


def text(document: PageDocument, *, everything: bool) -> str:
    """Return the findings of all sources, the worst first, and what was checked."""
    conclusion, *facts = document.sentences
    blocks = [
        block
        for section in document.sections
        for block in _of_source(section, None if everything else _OF_A_KIND)
    ]
    blocks += [fact.replace("by the auditor", "by you", 1) for fact in facts]
    return "\n\n".join([*blocks, "\n".join(_wrapped(conclusion, ""))])


def _of_source(section: PageSection, most: int | None) -> Iterator[str]:
    yield f"{safe.line(section.title)}: {section.about}"
    for findings in section.findings:
        lines = _of_kind(findings, most)
        if most is not None and (more := len(findings.rows) - most) > 0:
            lines.append(f"  and {readable.exact(more)} more: --all prints them")
        yield "\n".join(lines)


def _of_kind(findings: Findings, most: int | None, name: str = "") -> list[str]:
    count = len(findings.rows)
    times = f", {count} times" if count > 1 else ""
    lines = _wrapped(f"{findings.word}{times}: {findings.title} [{findings.code}]", "")
    for row in findings.rows[:most]:
        lines += _wrapped(name + row[0], "  ")
        lines += [line for sentence in sentences(row) for line in _wrapped(sentence, "    ")]
    return lines


def _wrapped(line: str, indent: str) -> list[str]:
    below = f"{indent}  " if indent else ""
    return textwrap.wrap(safe.line(line), WIDTH, initial_indent=indent, subsequent_indent=below)


_NAME = "benchforge audit"
_MOST_LISTED = 20
"Findings that the text of a test lists."


def junit(document: PageDocument) -> str:
    """Return the checks: what is impossible or false fails, and what is open is skipped."""
    suites = [
        JunitSuite(f"{section.title} ({_reader(section)})", [*_tests(section)])
        for section in document.sections
    ]
    return junit_xml(_NAME, suites).decode()


def _tests(section: PageSection) -> Iterator[JunitTest]:
    group = f"benchforge.audit.{_reader(section)}"
    for item in section.findings:
        lines = [f"{row[0]}: {' '.join(sentences(row))}" for row in item.rows[:_MOST_LISTED]]
        if (more := len(item.rows) - _MOST_LISTED) > 0:
            lines.append(f"and {readable.exact(more)} more")
        element: Element = "failure" if item.word in FALSE else "skipped"
        name = f"{item.code}: {item.title}"
        yield JunitTest(group, name, "\n".join(lines), element, item.word)
    broken = {item.code for item in section.findings}
    for code, times in section.facts:
        if code not in broken:
            yield JunitTest(group, code, f"holds {times}")


def _reader(section: PageSection) -> str:
    return section.about.partition(",")[0]
