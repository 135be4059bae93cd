"""Whether each server settled (S1)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Limits
from benchforge.model.check import Check
from benchforge.model.trial import Trial


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Limits) -> Iterator[Check]:
    """Yield what speaks against comparing cases: the believed trials of each."""
    yield from ()
