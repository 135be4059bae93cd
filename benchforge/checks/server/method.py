"""Mode in which a client made its requests, against its name (D5)."""

from collections.abc import Iterator

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield D5 of a client that has several ways; who takes another is measured by that one."""
    wanted = None if trial.load is None else trial.load.method
    if wanted is None:
        return
    ran = None if trial.reading is None else trial.reading.method
    driver = trial.case.driver
    if ran is None:
        says = f"{driver} did not tell by which of its ways it made its requests"
        yield limits.check("D5", "behaviour", None, says).about(driver)
    elif ran == wanted:
        says = f"{driver} made its requests by {ran}"
        yield limits.check("D5", "behaviour", None, says, "pass").about(driver)
    else:
        says = f"{driver} was to make its requests by {wanted}, and made them by {ran}"
        says += ": call it that"
        yield limits.check("D5", "behaviour", None, says, "fail").about(driver)
