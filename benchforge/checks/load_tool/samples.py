"""Number of responses behind each percentile (S2)."""

import math
from collections.abc import Iterator

from benchforge.checks.limits import Thresholds
from benchforge.checks.percentiles import USUAL, Percentiles
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import exact

_FEW = 10  # times: a smaller factor has one decimal


def of_trial(trial: Trial, limits: Thresholds, percentiles: Percentiles = USUAL) -> Iterator[Check]:
    """Yield S2 of each percentile that is shown, by the number of requests beyond it, N (1 - p).

    Requests that were given up or under way at the end count.
    """
    percentiles_shown = sorted(percentiles.shown)
    begun = _timed(trial)
    if not percentiles_shown:
        return
    if begun is None:
        reason = "the load tool does not tell how many response times it has"
        yield limits.check("S2", "apparatus", None, reason).about(invalidates="latency")
        return
    for percent in percentiles_shown:
        name, beyond = f"p{percent:g}", round(begun * (100 - percent) / 100, 6)
        says = f"{begun} response times: {exact(beyond)} are beyond {name}"
        limit = limits["S2"]
        if limit.status(beyond) != "pass" and limit.warn is not None:
            needed = math.ceil(round(limit.warn * 100 / (100 - percent), 6))
            longer = f"load {exact(_longer(needed / begun))} times as long, for" if begun else ""
            says += f"; {longer or 'it takes'} {needed}"
        yield limits.check("S2", "apparatus", beyond, says).about(name, invalidates="latency")


def _longer(times: float) -> float:
    """Return it rounded up: as much as is said must be enough."""
    return math.ceil(times) if times > _FEW else math.ceil(round(times * 10, 6)) / 10


def _timed(trial: Trial) -> int | None:
    reading = trial.reading
    if reading is None or reading.latency is None:
        return None if reading is None else reading.latency_samples
    in_flight = 0 if reading.in_flight is None else reading.in_flight.count
    return reading.latency.count + reading.censored + in_flight
