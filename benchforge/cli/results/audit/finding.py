"""What a check reports about a row or a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from benchforge.parts.reader import Row

Severity = Literal["impossible", "false field", "unsupported", "unknown", "not resolved"]
SEVERITIES: tuple[Severity, ...] = (
    *("impossible", "false field", "unsupported"),
    *("not resolved", "unknown"),
)
"The worst one first."
FALSE = SEVERITIES[:2]
"These make the exit code 1."


@dataclass(frozen=True)
class Finding:
    """A statement about numbers that do not fit, with all that it rests on."""

    code: str
    severity: Severity
    title: str
    "Sentence that says what is wrong."
    identity: str
    "The numbers, and what they must be to one another."
    rests_on: str = ""
    "Assumption that the result does not state; empty if there is none."
    true_if: str = ""
    "Circumstance in which the numbers would be true."
    row: str = ""
    where: str = ""


RowCheck = Callable[[Row], Sequence[Finding] | None]
"""Return the findings of a row; none if the identity holds, and None where a fact is missing."""

TableCheck = Callable[[str, Sequence[Row]], Sequence[Finding] | None]
"""The same for the rows of a table, which has a name."""
