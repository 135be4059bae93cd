"""Whether a reader may believe the answers: in a word, and then each cause with its evidence."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final, NamedTuple

from benchforge.plugin import FoldedFinding, Summary, readable
from benchforge_reporters.document.causes import CauseClass, CauseTexts

SIGNS: Final[dict[CauseClass, tuple[str, str]]] = {
    "invalid": ("✕", "makes numbers invalid"),
    "limits": ("!", "limits the answer"),
    "setup": ("i", "concerns the set-up"),
    "dealt with": ("✓", "dealt with"),
    "expert": ("·", "for experts"),
}


class Evidence(NamedTuple):
    """A check of a cause, with one outcome."""

    check: str
    status: str
    times: int
    message: str
    trials: tuple[int, ...]


def reason(causes: CauseTexts, summary: Summary) -> str:
    """Return how many trials can be believed, and how many causes of doubt there are."""
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


def evidence(findings: tuple[FoldedFinding, ...]) -> Iterator[Evidence]:
    """Yield the checks of a cause, each outcome once."""
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
