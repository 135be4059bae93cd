"""Whether the machine stayed the same (G1)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Limits
from benchforge.model.check import Check
from benchforge.model.result import Header
from benchforge.model.trial import Trial


def of_session(header: Header, trials: Sequence[Trial], limits: Limits) -> Iterator[Check]:
    """Yield what speaks against a whole result."""
    yield from ()
