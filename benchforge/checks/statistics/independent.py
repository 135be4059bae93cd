"""Independence of the blocks of a comparison (S8)."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import compared
from benchforge.checks.statistics.repetitions import rates_of, ratios_of
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.stats.timeseries.trend import LEAST, resemblance
from benchforge.text.readable import exact, figure

_ID = "S8"


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield whether the clearest pair's ratio resembles that of the block before (Bonferroni)."""
    if len(cases) <= 1:
        return
    rates = [rates_of(trials) for trials in cases]
    names = [compared(trials[0]) if trials else "?" for trials in cases]
    clearest: tuple[float, str] | None = None
    pairs = [*combinations(range(len(cases)), 2)]
    for a, b in pairs:
        p = resemblance(ratios_of(rates[a], rates[b]))
        if p is not None:
            p_of_pair = min(1.0, p * len(pairs)), f"{names[a]} / {names[b]}"
            clearest = min(clearest or p_of_pair, p_of_pair)
    if clearest is None:
        says = f"it takes {LEAST} blocks with different values of two cases"
        yield limits.check(_ID, "apparatus", None, says).about(scope="comparison")
        return
    p, pair = clearest
    if limits[_ID].status(p) != "pass":
        says = f"{pair} drifts from block to block (p {figure(p)}): its interval is too narrow, "
        says += "since it takes blocks as independent; measure longer loads, and find what drifts"
    else:
        says = f"no pair of {exact(len(pairs))} drifts from block to block (lowest p {figure(p)})"
    yield limits.check(_ID, "apparatus", p, says).about(pair, "comparison")
