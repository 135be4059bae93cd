"""JUnit's XML, as CI servers read the results of tests.

JUnit's format has no owner. What GitHub's actions, GitLab and Jenkins read alike is used: a
`testcase` with a `failure`, an `error` or `skipped`, the sentence both as an attribute and as text.
"""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from benchforge.text import safe

Element = Literal["", "failure", "error", "skipped"]
"Element of an outcome; empty for a test that passes."
_ELEMENTS: dict[Element, str] = {"failure": "failures", "error": "errors", "skipped": "skipped"}


@dataclass(frozen=True)
class JunitTest:
    """A test and its outcome."""

    group: str
    name: str
    text: str
    "Sentences of the outcome."
    element: Element = ""
    outcome: str = ""
    "Word for the outcome, such as `slower`."


@dataclass(frozen=True)
class JunitSuite:
    """Tests that belong together."""

    name: str
    tests: Sequence[JunitTest]
    attributes: Mapping[str, str] = field(default_factory=dict)


def junit_xml(name: str, suites: Sequence[JunitSuite]) -> bytes:
    """Return the document, in UTF-8."""
    every_test = [test for suite in suites for test in suite.tests]
    root = ET.Element("testsuites", {"name": safe.text(name), **_totals(every_test)})
    for suite in suites:
        head = {"name": safe.text(suite.name), **suite.attributes, **_totals(suite.tests)}
        element = ET.SubElement(root, "testsuite", head)
        for test in suite.tests:
            _add(element, test)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _totals(tests: Sequence[JunitTest]) -> dict[str, str]:
    counts = Counter(test.element for test in tests)
    totals = {title: str(counts[element]) for element, title in _ELEMENTS.items()}
    return {"tests": str(len(tests)), **totals}


def _add(suite: ET.Element, test: JunitTest) -> None:
    names = {"classname": safe.text(test.group), "name": safe.text(test.name)}
    case, text = ET.SubElement(suite, "testcase", names), safe.text(test.text)
    if test.element:
        state = {"message": text, "type": test.outcome}
        ET.SubElement(case, test.element, state).text = text
    else:
        ET.SubElement(case, "system-out").text = text
