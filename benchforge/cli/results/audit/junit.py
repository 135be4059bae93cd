"""An audit as JUnit's XML: each check of a source is a test."""

from collections.abc import Iterator, Sequence

from benchforge.cli.results.audit.audited import Audited
from benchforge.cli.results.audit.finding import FALSE, Finding
from benchforge.cli.results.audit.kinds import kinds, sentences
from benchforge.report.junit_xml import JunitSuite, JunitTest, junit_xml
from benchforge.text import readable

_NAME = "benchforge audit"
_MOST = 20
"Findings that the text of a test lists."


def junit(audits: Sequence[Audited]) -> str:
    """Return the checks: what is impossible or false fails, and what is open is skipped."""
    suites = [JunitSuite(f"{audit.source} ({audit.reader})", [*_tests(audit)]) for audit in audits]
    return junit_xml(_NAME, suites).decode()


def _tests(audit: Audited) -> Iterator[JunitTest]:
    group = f"benchforge.audit.{audit.reader}"
    for kind in kinds(audit):
        lines = [_line(finding) for finding in kind.findings[:_MOST]]
        if (more := len(kind.findings) - _MOST) > 0:
            lines.append(f"and {readable.exact(more)} more")
        yield JunitTest(
            group,
            f"{kind.code}: {kind.title}",
            "\n".join(lines),
            "failure" if kind.severity in FALSE else "skipped",
            kind.severity,
        )
    broken = {finding.code for finding in audit.findings}
    for code, count in sorted(audit.held.items()):
        if code not in broken:
            yield JunitTest(group, code, f"holds {readable.counted(count, 'time')}")


def _line(finding: Finding) -> str:
    where = ", ".join(entry for entry in (finding.row, finding.where) if entry)
    return f"{where}: {' '.join(sentences(finding))}"
