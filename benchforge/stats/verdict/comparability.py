"""Whether cases can be compared: the rule on which each verdict, screen and exit code rests."""

import re
from collections.abc import Callable, Iterable, Iterator

from benchforge.model.summary.summary import CaseSummary, MetricSummary
from benchforge.model.summary.verdict import Objection
from benchforge.model.trial.check import Check

_ADVICE = re.compile(r": (?=(?:[^']*'[^']*')*[^']*$)")
"Where the advice of a message begins: not within a text that it quotes."
IsGrave = Callable[[Check], bool]
"Tells whether a failed check makes the numbers of its trial invalid."


def never(check: Check) -> bool:
    """Return that a check is not grave: for who has no limits of checks."""
    del check
    return False


def wrong_answers(case: CaseSummary, line: MetricSummary | None = None) -> Iterator[str]:
    """Yield how a server answered wrongly, in any attempt of its trials: expected and received.

    A warning is none. To a question about failures, `line` counts them: they are its value. A
    search has an objective for them.
    """
    for trial in case.failed:
        if trial.failure.by_answer:
            yield trial.failure.message
    counted = case.capacity is not None or (line is not None and line.of_failures)
    for check in (finding.check for finding in case.findings):
        if check.wrong_answers and not (counted and check.topic == "failures"):
            yield f"{case.case.server}: {check.message}"


def unlike(objections: Iterable[Objection], is_grave: IsGrave) -> list[Check]:
    """Return the checks that say that the sides did other work than one another, or than asked."""
    return [
        objection.check
        for objection in objections
        if not objection.check.wrong_answers and _is_unlike(objection.check, is_grave)
    ]


def in_short(checks: Iterable[Check]) -> tuple[str, ...]:
    """Return what each of the checks found, without its advice, and its id; each text once."""
    return tuple(dict.fromkeys(f"{_ADVICE.split(one.message)[0]} ({one.id})" for one in checks))


def _is_unlike(check: Check, is_grave: IsGrave) -> bool:
    if check.invalidates != "all" or check.of_noise or check.topic == "blocks":
        return False
    if check.of_work:
        return check.status in {"warn", "fail"}
    if check.status != "fail" or check.subject != "behaviour":
        return False
    return check.scope == "comparison" or is_grave(check)
