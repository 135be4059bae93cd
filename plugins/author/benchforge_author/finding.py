"""What was found out about a part."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """A defect makes wrong numbers or ends a run; a warning may be meant so."""

    level: Literal["defect", "warning"]
    text: str

    def __str__(self) -> str:
        return f"{self.level}: {self.text}"


def defect(text: str) -> Finding:
    """Return a defect."""
    return Finding("defect", text)


def warning(text: str) -> Finding:
    """Return a warning."""
    return Finding("warning", text)


def defects(findings: Iterable[Finding]) -> list[str]:
    """Return the texts of the defects."""
    return [one.text for one in findings if one.level == "defect"]


def in_a_line(error: BaseException) -> str:
    """Return an error as Python names it, its first line alone."""
    first = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {first}".removesuffix(": ")
