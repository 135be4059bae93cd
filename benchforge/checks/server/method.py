"""Whether a client made its requests in the way that it is called by (D5)."""

from collections.abc import Iterator

from benchforge.checks.limits import Limits
from benchforge.model.check import Check
from benchforge.model.trial import Trial


def of_trial(trial: Trial, limits: Limits) -> Iterator[Check]:
    """Yield D5 of a client that has several ways; who takes another is measured by that one."""
    asked = None if trial.load is None else trial.load.method
    if asked is None:
        return
    ran = None if trial.reading is None else trial.reading.method
    of = trial.case.driver
    if ran is None:
        says = f"{of} did not tell by which of its ways it made its requests"
        yield limits.check("D5", "behaviour", None, says, of=of)
    elif ran == asked:
        says = f"{of} made its requests by {ran}"
        yield limits.check("D5", "behaviour", None, says, status="pass", of=of)
    else:
        says = f"{of} was to make its requests by {asked}, and made them by {ran}: call it that"
        yield limits.check("D5", "behaviour", None, says, status="fail", of=of)
