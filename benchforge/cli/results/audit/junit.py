"""An audit as JUnit's XML: each check of a source is a test."""

from collections.abc import Iterator

from benchforge.cli.results.audit.document import sentences
from benchforge.cli.results.audit.finding import FALSE
from benchforge.report.document import Document, Section
from benchforge.report.junit_xml import Element, JunitSuite, JunitTest, junit_xml
from benchforge.text import readable

_NAME = "benchforge audit"
_MOST = 20
"Findings that the text of a test lists."


def junit(document: Document) -> str:
    """Return the checks: what is impossible or false fails, and what is open is skipped."""
    suites = [
        JunitSuite(f"{section.title} ({_reader(section)})", [*_tests(section)])
        for section in document.sections
    ]
    return junit_xml(_NAME, suites).decode()


def _tests(section: Section) -> Iterator[JunitTest]:
    group = f"benchforge.audit.{_reader(section)}"
    for one in section.findings:
        lines = [f"{row[0]}: {' '.join(sentences(row))}" for row in one.rows[:_MOST]]
        if (more := len(one.rows) - _MOST) > 0:
            lines.append(f"and {readable.exact(more)} more")
        element: Element = "failure" if one.word in FALSE else "skipped"
        name = f"{one.code}: {one.title}"
        yield JunitTest(group, name, "\n".join(lines), element, one.word)
    broken = {one.code for one in section.findings}
    for code, times in section.facts:
        if code not in broken:
            yield JunitTest(group, code, f"holds {times}")


def _reader(section: Section) -> str:
    return section.about.partition(",")[0]
