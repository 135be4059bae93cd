"""Percentiles of response times that a scenario uses, and responses behind each (S2).

Checks judge no others.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchforge.checks.limits import Thresholds
from benchforge.model.files.result import Header
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.model.values.units import percentile
from benchforge.parts.part import Metric
from benchforge.text.readable import exact

TAIL = 99.0
"What a mean depends on, and the lowest percentile that a closed loop misjudges by itself."
_USUAL = frozenset({50.0, 90.0, TAIL})
_COUNT = "1"
_FEW = 10  # times: a smaller factor has one decimal


@dataclass(frozen=True)
class Percentiles:
    """Those that are shown, in percent; the usual ones where nobody says which."""

    shown: frozenset[float] = _USUAL
    mean: bool = True
    "True if the mean is shown, too."

    @property
    def tails(self) -> list[float]:
        """Those that requests without a response time may reach, from the lowest."""
        return sorted(self.shown | ({TAIL} if self.mean else set()))


USUAL = Percentiles()
NO_PERCENTILES = Percentiles(frozenset(), mean=False)


def of_scenario(header: Header, metrics: Mapping[str, Metric], scenario: str) -> Percentiles:
    """Return what a scenario's metrics, tables, claims and objectives ask; USUAL if one is open."""
    uses = [metrics[label] for label in _labels(header, scenario) if label in metrics]
    if any(not metric.parts() and metric.unit != _COUNT for metric in uses):
        return USUAL
    names = {part for metric in uses for part in metric.parts()}
    numbers = (value for part in names if (value := percentile(part)) is not None)
    return Percentiles(frozenset(numbers), "mean" in names)


def _labels(header: Header, scenario: str) -> Iterator[str]:
    yield from header.scenario_metrics.get(scenario, [use.label for use in header.metrics])
    if search := header.searches.get(scenario):
        yield from (objective.metric for objective in search.objectives)
    for pivot in header.tables.values():
        yield from pivot.metrics if scenario in pivot.scenarios else ()
    for claim in header.claims:
        yield from (claim.metric for case in claim.cases if case.scenario == scenario)


def samples(trial: Trial, limits: Thresholds, percentiles: Percentiles = USUAL) -> Iterator[Check]:
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
