"""An audit as text, as Markdown, as JSON, and as JUnit's XML, where each check is a test."""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from benchforge.cli.results.audit.audited import Audited
from benchforge.cli.results.audit.document import conclusion, facts_by, sentences
from benchforge.cli.results.audit.finding import FALSE, Finding
from benchforge.parts.reader import Fact
from benchforge.report.junit_xml import Element, JunitSuite, JunitTest, junit_xml
from benchforge.report.page.document import PageDocument, PageSection
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
    lines += [text for item in facts_by("the auditor", given) for text in (safe.markdown(item), "")]
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


WIDTH = 88
_OF_A_KIND = 3


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
        count = len(findings.rows)
        times = f", {count} times" if count > 1 else ""
        lines = _wrapped(f"{findings.word}{times}: {findings.title} [{findings.code}]", "")
        for row in findings.rows[:most]:
            lines += _wrapped(row[0], "  ")
            lines += [line for sentence in sentences(row) for line in _wrapped(sentence, "    ")]
        if most is not None and count > most:
            lines.append(f"  and {readable.exact(count - most)} more: --all prints them")
        yield "\n".join(lines)


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
