"""Enough responses for what is said of them (S2)."""

from collections.abc import Iterator

from benchforge.checks.limits import Limits
from benchforge.model.check import Check
from benchforge.model.trial import Trial


def of_trial(trial: Trial, limits: Limits) -> Iterator[Check]:
    """Yield what a measured trial shows."""
    yield from ()
