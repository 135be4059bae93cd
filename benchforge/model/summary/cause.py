"""Causes of a result's findings, each with the findings that follow from it."""

from typing import Literal

from pydantic import PositiveInt

from benchforge.model.trial.check import Audience, Check
from benchforge.model.values.frozen import Frozen

CauseState = Literal["open", "dealt with", "unknown"]


class FoldedFinding(Frozen):
    """A check that did not pass, with all equal findings of a case, a comparison or the result."""

    check: Check
    "Finding with the highest value."
    scenario: str = ""
    "Label of the scenario; empty for the whole result."
    case: str = ""
    "Title of the case; empty for a comparison and for the whole result."
    server: str = ""
    "Label of the case's server."
    trials: tuple[PositiveInt, ...] = ()
    "Numbers of the trials; empty for a comparison and for the whole result."
    count: PositiveInt
    "Number of equal findings."
    values: tuple[float, float] | None = None
    "Lowest and highest value of the check; None if none has a value."


class Cause(Frozen):
    """A finding that nothing else explains, and all findings that follow from it."""

    id: str
    "Id of the check at the root."
    audience: Audience
    "Whom the cause concerns: the worst of its findings."
    state: CauseState
    "Dealt with: only trials that were set aside have it. Unknown: no check could answer."
    verdicts: tuple[str, ...] = ()
    "Labels of the claims whose verdicts one of the findings speaks against."
    count: PositiveInt
    "Number of findings."
    trials: tuple[PositiveInt, ...] = ()
    "Numbers of the trials with a finding."
    findings: tuple[FoldedFinding, ...]
    "Findings, those of the check at the root first."
