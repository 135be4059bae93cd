"""What becomes of a result: how it is printed, and the exit code."""

from dataclasses import dataclass

from benchforge.model.summary import CaseSummary, Summary

FAILS, NO_ANSWER = 1, 4


@dataclass(frozen=True)
class Shown:
    """What the command line asks for."""

    as_json: bool
    inconclusive_fails: bool
    "Whether a claim that has no answer yet counts as one that fails."


def exit_code(summary: Summary, shown: Shown) -> int:
    """Return 4 where something has no believable answer, else 1 where a claim fails, else 0."""
    states = {verdict.state for verdict in summary.verdicts}
    answered = all(_answered(case, smoke=summary.smoke) for case in summary.cases)
    if not answered or "invalid" in states:
        return NO_ANSWER
    failing = {"fails", "inconclusive"} if shown.inconclusive_fails else {"fails"}
    return FAILS if states & failing else 0


def _answered(case: CaseSummary, *, smoke: bool) -> bool:
    """Whether a case has a number to speak of; a noisy machine is no error: its numbers are marked.

    A smoke shows that all works: it has numbers.
    """
    if not case.trials:
        return False
    if smoke or case.believed != 0:
        return True
    return any(all(check.again for check in one.checks) for one in case.doubted if one.used)
