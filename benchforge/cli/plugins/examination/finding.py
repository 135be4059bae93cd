"""What was found out about a part."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class PartFinding:
    """A defect makes wrong numbers or ends a run; a warning may be meant so."""

    level: Literal["defect", "warning"]
    text: str

    def __str__(self) -> str:
        return f"{self.level}: {self.text}"


def defect(text: str) -> PartFinding:
    """Return a defect."""
    return PartFinding("defect", text)


def warning(text: str) -> PartFinding:
    """Return a warning."""
    return PartFinding("warning", text)


def defects(findings: Iterable[PartFinding]) -> list[str]:
    """Return the texts of the defects."""
    return [finding.text for finding in findings if finding.level == "defect"]
