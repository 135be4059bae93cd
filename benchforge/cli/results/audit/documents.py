"""Audits as documents: text, page, JUnit's XML, JSON and Markdown."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from benchforge.cli.results.audit.audited import Audited, Sources
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
_MOST_SOURCES, _MOST_UNREAD = 500, 1000
_NOT_ASKED = "not asked"


class Pages:
    """The sources that a page or a file of JUnit has room for: the worst ones."""

    def __init__(self) -> None:
        self.worst: list[Audited] = []
        self.others = 0

    def add(self, audit: Audited) -> None:
        """Keep the findings of a source, and none of its rows."""
        audit.rows = []
        self.worst.append(audit)
        if len(self.worst) > 2 * _MOST_SOURCES:
            self.cut()

    def cut(self) -> None:
        """Keep the worst sources, in their order."""
        if len(self.worst) > _MOST_SOURCES:
            self.others += len(self.worst) - _MOST_SOURCES
            last = len(SEVERITIES), 0.0
            orders = [
                min((it.order for it in audit.findings), default=last) for audit in self.worst
            ]
            chosen = sorted(range(len(orders)), key=orders.__getitem__)[:_MOST_SOURCES]
            self.worst = [self.worst[number] for number in sorted(chosen)]


def document(
    pages: Pages,
    sources: Sources,
    sentences: Sequence[str],
    counts: Mapping[Severity, int],
    held: int,
) -> PageDocument:
    """Return the audit of all sources, the worst findings of each first."""
    pages.cut()
    audits = pages.worst
    rows = readable.counted(sum(audit.count for audit in audits), "row")
    several = readable.counted(len(audits) + pages.others, "source")
    sections = [_source(number, audit) for number, audit in enumerate(audits, start=1)]
    for title, reasons in (("Not read", sources.unread), ("Passed over", sources.passed)):
        if reasons:
            about = f"{len(reasons):,}" + "; --json lists all" * (len(reasons) > _MOST_UNREAD)
            sections.append(PageSection(title[:3], title, about, items=reasons[:_MOST_UNREAD]))
    if pages.others:
        title = readable.counted(pages.others, "more source")
        sections.append(PageSection("others", title, "with lesser findings: --json lists them"))
    return PageDocument(
        title=f"Audit: {audits[0].source if len(audits) == 1 else several}",
        eyebrow=f"{several} \N{MIDDLE DOT} {rows}",
        counts=[
            *((_STATES[word][0], counts[word], word) for word in SEVERITIES if counts.get(word)),
            *[("holds", held, _held(held))] * bool(held),
        ],
        sentences=sentences,
        sections=sections,
    )


def conclusion(counts: Mapping[Severity, int], held: int) -> str:
    """Return the numbers of findings and of identities that hold, in words."""
    if not held and not counts:
        return "Nothing could be checked."
    stated = [f"{counts[severity]:,} {severity}" for severity in SEVERITIES if counts.get(severity)]
    sentence = f"Found: {', '.join(stated) or 'nothing'}. {readable.exact(held)} {_held(held)}."
    if held and not any(counts.get(severity) for severity in FALSE):
        sentence += " Nothing is impossible. That does not show that the result is right."
    return sentence


def _held(count: int) -> str:
    return "identity holds" if count == 1 else "identities hold"


def _conclusion(audit: Audited) -> str:
    return conclusion(Counter(entry.severity for entry in audit.findings), audit.held.total())


def facts_by(auditor: str, stated: Mapping[str, Fact]) -> list[str]:
    """Return the facts that the auditor gave, in a sentence; none without any."""
    facts = readable.listed(f"{name} {shown(fact)}" for name, fact in stated.items())
    return [f"Facts by {auditor}: {facts}"] if stated else []


def _source(number: int, audit: Audited) -> PageSection:
    facts = [(code, readable.counted(count, "time")) for code, count in audit.held.items()]
    return PageSection(
        f"source-{number}",
        audit.source,
        f"{audit.reader}, {readable.counted(audit.count, 'row')}",
        _conclusion(audit),
        empty="No check has a finding.",
        findings=[*_findings(audit)],
        heads=("row", "numbers", "rests on", "true if"),
        others="--json prints them",
        facts_title="The checks that hold, and those that lack facts",
        facts=sorted([*facts, *_not_asked(audit)]),
    )


def _not_asked(audit: Audited) -> list[tuple[str, str]]:
    """Return the checks that said nothing, each with the facts that it lacks."""
    return [
        (code, f"{_NOT_ASKED}: no {readable.listed(sorted(lacks), 6)}" if lacks else _NOT_ASKED)
        for code, lacks in sorted(audit.not_asked.items())
    ]


def _findings(audit: Audited) -> Iterator[Findings]:
    for (severity, code), findings in _by_kind(audit).items():
        titles = {finding.title for finding in findings}
        title = findings[0].title if len(titles) == 1 else f"such as: {findings[0].title}"
        _, kind, sign = _STATES[severity]
        cells = [
            (_place(item), item.identity, item.rests_on or "nothing", item.true_if)
            for item in findings
        ]
        yield Findings(kind, sign, severity, code, title, cells)


def _by_kind(audit: Audited) -> dict[tuple[Severity, str], list[Finding]]:
    kinds: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in audit.sorted():
        kinds.setdefault((finding.severity, finding.code), []).append(finding)
    return kinds


def _place(finding: Finding) -> str:
    return ", ".join(filter(None, (finding.row, finding.where)))


_MOST = 200
"Rows of a table of Markdown: a comment on a pull request takes no more."


class AuditJson:
    """All findings as JSON, and the number of identities that hold, a source at a time."""

    def __init__(self, stated: Mapping[str, Fact]) -> None:
        given = {name: asdict(fact) for name, fact in stated.items()}
        self._above = f'{{\n "given": {_indented(given)},\n "sources": [\n'

    def source(self, audit: Audited) -> str:
        """Return the text of a source."""
        item = {
            "source": audit.source,
            "reader": audit.reader,
            "rows": audit.count,
            "unread": audit.unread,
            "not_asked": {code: dict(lacks) for code, lacks in audit.not_asked.items()},
            "held": dict(sorted(audit.held.items())),
            "findings": [asdict(finding) for finding in audit.sorted()],
        }
        text, self._above = f"{self._above}  {_indented(item, 2)}", ",\n"
        return text

    def end(self, sources: Sources, summary: str) -> str:
        """Return the text below the last source."""
        unread, passed = (_indented(reasons) for reasons in (sources.unread, sources.passed))
        return f' ],\n "unread": {unread},\n "passed_over": {passed}\n}}'


def _indented(item: object, depth: int = 1) -> str:
    return safe.as_json(json.dumps(item, indent=1)).replace("\n", f"\n{' ' * depth}")


class AuditMarkdown:
    """A table of findings for each source."""

    def __init__(self, stated: Mapping[str, Fact]) -> None:
        facts = [f"{safe.markdown(fact)}\n" for fact in facts_by("the auditor", stated)]
        self._above = "\n".join(["# Audit", "", *facts, ""])

    def source(self, audit: Audited) -> str:
        """Return the table of a source."""
        rows = readable.counted(audit.count, "row")
        lines = [f"{self._above}## {safe.markdown(audit.source)}", ""]
        lines.append(f"{audit.reader}, {rows}. {_conclusion(audit)}")
        if findings := audit.sorted():
            lines += ["", "| severity | code | row | finding | true if |", "|---|---|---|---|---|"]
            lines += [_row(finding) for finding in findings[:_MOST]]
        if len(findings) > _MOST:
            lines += ["", f"{len(findings) - _MOST} more are in the output of `--json`."]
        if codes := sorted(audit.not_asked):
            lines += ["", f"Not asked, for want of facts: {', '.join(codes)}."]
        self._above = ""
        return "\n".join([*lines, ""])

    def end(self, sources: Sources, summary: str) -> str:
        """Return the unread sources, and the conclusion of all sources."""
        lines: list[str] = []
        for title, reasons in (("Not read", sources.unread), ("Passed over", sources.passed)):
            items = [f"- {safe.markdown(reason)}" for reason in reasons]
            lines += [f"## {title}", "", *items, ""] if reasons else []
        return "\n".join([*lines, summary])


def _row(finding: Finding) -> str:
    rests = f" Rests on: {finding.rests_on}." if finding.rests_on else ""
    sentence = f"{finding.title}: {finding.identity}.{rests}"
    row_place = f"{finding.row} ({finding.where})" if finding.where else finding.row
    cells = (finding.severity, finding.code, row_place, sentence, finding.true_if)
    return f"| {' | '.join(safe.markdown(cell) for cell in cells)} |"


WIDTH = 88
OF_A_KIND = 3


class AuditText:
    """The findings of each source, the worst first, and the checks that lacked facts."""

    def __init__(self, stated: Mapping[str, Fact], most: int) -> None:
        self._most, self._facts = most, facts_by("you", stated)

    def source(self, audit: Audited) -> str:
        """Return the findings of a source."""
        rows = readable.counted(audit.count, "row")
        blocks = [[f"{safe.line(audit.source)}: {audit.reader}, {rows}"]]
        for findings in _by_kind(audit).values():
            lines = lines_of_kind(findings[: self._most], len(findings))
            if (more := len(findings) - self._most) > 0:
                lines.append(f"  and {readable.exact(more)} more: --all prints them")
            blocks.append(lines)
        if codes := ", ".join(sorted(audit.not_asked)):
            blocks.append(wrapped(f"Not asked: {codes}; --json has the facts that they lack.", ""))
        return "\n\n".join(["\n".join(lines) for lines in blocks] + [""])

    def end(self, sources: Sources, summary: str) -> str:
        """Return the facts of the auditor, and the conclusion of all sources."""
        return "\n\n".join([*self._facts, "\n".join(wrapped(summary, ""))])


def printer(
    facts: Mapping[str, Fact], most: int, *, as_json: bool, markdown: bool
) -> AuditJson | AuditMarkdown | AuditText | None:
    """Return the printer of each source; None for the answer alone, with no finding of a kind."""
    if as_json:
        return AuditJson(facts)
    return AuditMarkdown(facts) if markdown else AuditText(facts, most) if most else None


def lines_of_kind(findings: Sequence[Finding], count: int, name: str = "") -> list[str]:
    """Return the lines of findings of a check, and of how many they are."""
    first = findings[0]
    such = "such as: " if len({finding.title for finding in findings}) > 1 else ""
    times = f", {count:,} times" if count > 1 else ""
    lines = wrapped(f"{first.severity}{times}: {such}{first.title} [{first.code}]", "")
    for finding in findings:
        lines += wrapped(name + _place(finding), "  ")
        for sentence in _sentences(finding):
            lines += wrapped(sentence, "    ")
    return lines


def _sentences(finding: Finding) -> list[str]:
    rests = [f"Rests on: {finding.rests_on}."] * bool(finding.rests_on)
    true_if = [f"True if {finding.true_if}."] * bool(finding.true_if)
    return [f"{finding.identity}.", *rests, *true_if]


def wrapped(line: str, indent: str) -> list[str]:
    """Return the lines of a sentence, as wide as a terminal has room for."""
    below = f"{indent}  " if indent else ""
    return textwrap.wrap(safe.line(line), WIDTH, initial_indent=indent, subsequent_indent=below)


_NAME = "benchforge audit"
_LISTED = 20
"Findings that the text of a test lists, at most."


def junit(pages: Pages, sources: Sources) -> str:
    """Return the checks as tests: impossible or false numbers fail, open checks are skipped."""
    pages.cut()
    named = ((f"{audit.source} ({audit.reader})", audit) for audit in pages.worst)
    suites = [JunitSuite(name, [*_tests(audit)]) for name, audit in named]
    unread: list[tuple[Element, str, Sequence[str]]] = [
        ("error", "not read", sources.unread),
        ("skipped", "passed over", sources.passed),
        ("skipped", f"{pages.others:,} more sources", ["--json lists them"] * bool(pages.others)),
    ]
    for element, word, lines in unread:
        tests = [JunitTest(_NAME, line, line, element, word) for line in lines[:_MOST_UNREAD]]
        suites += [JunitSuite(word, tests)] * bool(tests)
    return junit_xml(_NAME, suites).decode()


def _tests(audit: Audited) -> Iterator[JunitTest]:
    group = f"benchforge.audit.{audit.reader}"
    kinds = _by_kind(audit)
    for (severity, code), findings in kinds.items():
        lines = [f"{_place(item)}: {' '.join(_sentences(item))}" for item in findings[:_LISTED]]
        if (more := len(findings) - _LISTED) > 0:
            lines.append(f"and {readable.exact(more)} more")
        element: Element = "failure" if severity in FALSE else "skipped"
        name = f"{code}: {findings[0].title}"
        yield JunitTest(group, name, "\n".join(lines), element, severity)
    broken = {code for _, code in kinds}
    for code, count in sorted(audit.held.items()):
        if code not in broken:
            yield JunitTest(group, code, f"holds {readable.counted(count, 'time')}")
    if facts := _not_asked(audit):
        lines = [f"{code}: {words}" for code, words in facts]
        yield JunitTest(group, _NOT_ASKED, "\n".join(lines), "skipped", _NOT_ASKED)
