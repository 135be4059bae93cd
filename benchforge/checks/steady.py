"""Whether each server settled (S1)."""

from collections.abc import Iterator, Sequence
from typing import Literal

from benchforge.checks.limits import Limits
from benchforge.model.check import Check, Status
from benchforge.model.trial import Trial
from benchforge.model.window import Settled
from benchforge.stats.windows import settled

_ID = "S1"


def of_trial(trial: Trial, limits: Limits) -> Iterator[Check]:
    """Yield whether this one settled: a flag, since one course is noisier than that of a case."""
    found = settled([trial])
    yield _check(found, limits, "trial", "warn", trial.case.server)


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Limits) -> Iterator[Check]:
    """Yield for each case whether its mean course settled: else it has no level to compare.

    Of a warm-up that is cut from the rates, latencies still hold the responses.
    """
    felt = limits[_ID].more["felt"]
    for number, trials in enumerate(cases, 1):
        of = trials[0].case.title if trials else f"case {number}"
        found = settled(trials)
        yield _check(found, limits, "comparison", "fail", of)
        if isinstance(felt, float) and found.felt > felt:
            says = (
                f"{found.says}: rates are without that, latencies are not; lengthen repeat.warmup "
                f"by {found.cut_s:g} s"
            )
            yield limits.check(
                _ID,
                "apparatus",
                found.felt,
                says,
                status="warn",
                scope="comparison",
                of=of,
                numbers="latency",
            )


def _check(
    found: Settled, limits: Limits, scope: Literal["trial", "comparison"], bad: Status, of: str
) -> Check:
    status: Status = "unknown"
    if found.steady is not None:
        status = "pass" if found.steady else bad
    value = found.change if found.steady is False else None
    return limits.check(_ID, "behaviour", value, found.says, status=status, scope=scope, of=of)
