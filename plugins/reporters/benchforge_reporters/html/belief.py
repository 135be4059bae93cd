"""Whether a reader may believe the answers: in a word, and then each cause with its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from benchforge.plugin import FoldedFinding, Summary, readable
from benchforge_reporters.document.causes import CauseClass, CauseText, CauseTexts
from benchforge_reporters.document.quotable import Quotable

_SIGNS: Final[dict[CauseClass, tuple[str, str]]] = {
    "invalid": ("✕", "makes numbers invalid"),
    "limits": ("!", "limits the answer"),
    "setup": ("i", "concerns the set-up"),
    "dealt with": ("✓", "dealt with"),
    "expert": ("·", "for experts"),
}


@dataclass(frozen=True)
class Evidence:
    """A check of a cause, with one outcome."""

    check: str
    status: str
    times: int
    message: str
    trials: tuple[int, ...]


@dataclass(frozen=True)
class CauseCard:
    """A cause of findings, which unfolds to its evidence."""

    text: CauseText
    sign: str
    word: str
    evidence: tuple[Evidence, ...]

    @property
    def kind(self) -> str:
        """The class of the cause, as the style names it."""
        return self.text.kind.replace(" ", "-")


@dataclass(frozen=True)
class Belief:
    """The verdict on the whole, and its causes."""

    state: str
    "Name of the verdict's colour."
    verdict: str
    reason: str
    causes: tuple[CauseCard, ...]
    others: tuple[CauseCard, ...]


def belief(causes: CauseTexts, quotable: Quotable, summary: Summary) -> Belief:
    """Return whether the answers of a result can be believed."""
    return Belief(
        state=quotable.state,
        verdict=quotable.sentence,
        reason=_reason(causes, summary),
        causes=tuple(map(_card, causes.shown)),
        others=tuple(map(_card, causes.others)),
    )


def _reason(causes: CauseTexts, summary: Summary) -> str:
    trials = sum(case.trials for case in summary.cases)
    believed = sum(
        case.trials if case.believed is None else case.believed for case in summary.cases
    )
    planned = sum(case.planned for case in summary.cases)
    counts = (
        f"{readable.exact(trials)} of {readable.exact(planned)} planned trials have a measurement"
    )
    if believed < trials:
        counts += f", and {readable.exact(believed)} of them can be believed"
    if not causes.findings:
        return f"{counts}. No check found anything."
    has = f"The checks found {readable.counted(len(causes.all), 'cause')} of doubt"
    limited = any(text.kind in {"invalid", "limits"} for text in causes.all)
    harmless = not (limited or causes.unanswered)
    return f"{counts}. {has}{'; none of them limits the answer' if harmless else ''}."


def _card(text: CauseText) -> CauseCard:
    sign, word = _SIGNS[text.kind]
    return CauseCard(text, sign, word, tuple(_evidence(text.cause.findings)))


def _evidence(findings: tuple[FoldedFinding, ...]) -> Iterator[Evidence]:
    for _, equal in groupby(findings, lambda finding: (finding.check.id, finding.check.status)):
        alike = list(equal)
        first = alike[0].check
        trials = dict.fromkeys(trial for finding in alike for trial in finding.trials)
        yield Evidence(
            check=f"{first.id} {first.name}".strip(),
            status=first.status,
            times=sum(finding.count for finding in alike),
            message=first.message,
            trials=tuple(sorted(trials)),
        )
