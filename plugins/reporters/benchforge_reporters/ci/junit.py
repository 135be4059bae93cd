"""junit.xml: what was asked and what came of it, as CI servers read the results of tests."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import ClassVar, Final

from benchforge.plugin import Reporter, Summary, Trial
from benchforge.plugin.drawing import JunitSuite, junit_xml
from benchforge_reporters.text.verdicts import answers
from benchforge_reporters.text.words import heading

FILE: Final = "junit.xml"


class Junit(Reporter):
    """Each claim and each case as a test in junit.xml, for CI servers."""

    name: ClassVar[str] = "junit"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write junit.xml."""
        (folder / FILE).write_bytes(junit(summary))
        return (folder / FILE,)


def junit(summary: Summary) -> bytes:
    """Return the document, in UTF-8."""
    tests = [replace(item, group=f"{summary.name}.{item.group}") for item in answers(summary)]
    # Strict readers take neither a fraction of a second nor a zone.
    when = f"{summary.created.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"
    return junit_xml(
        "benchforge", [JunitSuite(heading(summary), tests, attributes={"timestamp": when})]
    )
