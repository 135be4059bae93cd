"""junit.xml: what was asked and what came of it, as CI servers read the results of tests.

JUnit's format has no owner. What GitHub's actions, GitLab and Jenkins read alike is used: a
`testcase` with a `failure`, an `error` or `skipped`, the sentence both as an attribute and as text.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from datetime import UTC
from pathlib import Path
from typing import ClassVar, Final

from benchforge.plugin import Part, Reporter, Summary, Trial, hookimpl, safe
from benchforge_reporters.text.verdicts import VerdictText, answers
from benchforge_reporters.text.words import heading

FILE: Final = "junit.xml"
_ELEMENTS: Final = {"fails": "failure", "invalid": "error", "inconclusive": "skipped"}


class Junit(Reporter):
    """Each claim and each case as a test in junit.xml, for CI servers."""

    name: ClassVar[str] = "junit"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write junit.xml."""
        (folder / FILE).write_bytes(junit(summary))
        return (folder / FILE,)


def junit(summary: Summary) -> bytes:
    """Return the document, in UTF-8."""
    verdict_texts = list(answers(summary))
    counts = {element: str(_count(verdict_texts, came)) for came, element in _ELEMENTS.items()}
    totals = {
        "tests": str(len(verdict_texts)),
        "failures": counts["failure"],
        "errors": counts["error"],
        "skipped": counts["skipped"],
    }
    root = ET.Element("testsuites", {"name": "benchforge", **totals})
    # Strict readers take neither a fraction of a second nor a zone.
    when = f"{summary.created.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"
    named = {"name": safe.text(heading(summary)), "timestamp": when}
    suite = ET.SubElement(root, "testsuite", {**named, **totals})
    for verdict_text in verdict_texts:
        names = {
            "classname": safe.text(f"{summary.name}.{verdict_text.group}"),
            "name": safe.text(verdict_text.name),
        }
        case, says = ET.SubElement(suite, "testcase", names), safe.text(verdict_text.says)
        if element := _ELEMENTS.get(verdict_text.came):
            ET.SubElement(case, element, {"message": says, "type": verdict_text.came}).text = says
        else:
            ET.SubElement(case, "system-out").text = says
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _count(verdict_texts: Iterable[VerdictText], came: str) -> int:
    return sum(one.came == came for one in verdict_texts)


@hookimpl
def benchforge_parts() -> Iterable[type[Part]]:
    """Bring JUnit's XML."""
    return [Junit]
