"""Findings of an audit, and the checks that report them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

Severity = Literal["impossible", "false field", "unsupported", "not resolved", "unknown"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"The worst one first."
FALSE = SEVERITIES[:2]
"These make the exit code 1, unless the auditor names another level."
FAIL_ON = {"impossible": SEVERITIES[:1], "false": FALSE, "unsupported": SEVERITIES[:3]}


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement about numbers that do not fit, with all that it rests on."""

    identity: str
    "The numbers, and the identity that they break or satisfy."
    rests_on: str = ""
    "Assumption that the result does not state; empty if there is none."
    true_if: str = ""
    "Circumstance in which the numbers would be true."
    row: str = ""
    where: str = ""
    severity: Severity = "unknown"
    "Severity; `unknown` stands for that of the check."
    title: str = ""
    "Title of the finding; empty for that of the check."
    instead: float = -1.0
    "Requests per second that the numbers allow; negative if they tell none."
    code: str = ""
    "Code of the check."
    factor: float = 1.0
    "Times by which a number is off, for the order of findings."
    ranks: tuple[int, int] = (0, 0)
    "Neighbours in rank that are within noise, and all of them that this finding adds."

    @property
    def order(self) -> tuple[int, float]:
        """The key that sorts the worst finding first."""
        return SEVERITIES.index(self.severity), -self.factor


Evidences = Finding | Sequence[Finding] | None
"""Evidence against an identity; none if the identity holds, and None where a fact is missing."""
Scope = Literal["row", "table", "source"]


@dataclass(frozen=True)
class AuditCheck:
    """An identity, with the words of its findings."""

    code: str
    severity: Severity
    title: str
    scope: Scope
    "Subject that it judges: a row; or the rows of a table or a source, after its name."
    judge: Callable[..., Evidences]

    def __call__(self, *judged: Any) -> list[Finding] | None:
        """Return the findings; none if the identity holds, and None where a fact is missing."""
        evidences = self.judge(*judged)
        if evidences is None:
            return None
        findings = []
        for finding in [evidences] if isinstance(evidences, Finding) else evidences:
            severity = self.severity if finding.severity == "unknown" else finding.severity
            title = finding.title or self.title
            findings.append(replace(finding, code=self.code, severity=severity, title=title))
        return findings


def check(
    code: str, severity: Severity, title: str = "", scope: Scope = "row"
) -> Callable[[Callable[..., Evidences]], AuditCheck]:
    """Return a decorator that makes a check of a function, with this code and title."""
    return lambda judge: AuditCheck(code, severity, title, scope, judge)
