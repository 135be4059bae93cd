"""Workers, CPU, what the limit was, the backend and its encryption (W1 to W4)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Limits
from benchforge.model.check import Check
from benchforge.model.trial import Trial


def of_trial(trial: Trial, limits: Limits) -> Iterator[Check]:
    """Yield what a measured trial shows."""
    yield from ()


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Limits) -> Iterator[Check]:
    """Yield what speaks against comparing cases: the believed trials of each."""
    yield from ()
