"""What becomes of a result: how it is printed, and the exit code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchforge.model.summary.summary import Summary
from benchforge.model.summary.verdict import ComparisonState

FAILS, NO_ANSWER = 1, 4
EXIT_CODES: Mapping[ComparisonState, int] = {
    "decided": 0,
    "undecided": 0,
    "not comparable": NO_ANSWER,
    "broken": NO_ANSWER,
}
"Exit code of a run or a duel by the verdict on each comparison; the highest counts."


@dataclass(frozen=True)
class Shown:
    """What the command line asks for."""

    as_json: bool = False
    inconclusive_fails: bool = False
    "True if an inconclusive claim counts as one that fails."
    reports: Sequence[str] = ()
    "Reporters beside those that every run uses."


def exit_code(summary: Summary, shown: Shown) -> int:
    """Return 4 where something has no believable answer, else 1 where a claim fails, else 0."""
    states = {verdict.state for verdict in summary.verdicts}
    answered = all(case.answered(smoke=summary.smoke) for case in summary.cases)
    verdicts = (comparison.verdict for comparison in summary.comparisons)
    compared = max((EXIT_CODES[one.state] for one in verdicts if one is not None), default=0)
    if not answered or "invalid" in states or compared == NO_ANSWER:
        return NO_ANSWER
    failing = {"fails", "inconclusive"} if shown.inconclusive_fails else {"fails"}
    return FAILS if states & failing else 0
