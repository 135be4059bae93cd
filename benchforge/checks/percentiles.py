"""Percentiles of response times that a scenario uses: checks judge no others."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchforge.model.files.result import Header
from benchforge.model.values.units import percentile
from benchforge.parts.part import Metric

TAIL = 99.0
"What a mean depends on, and the lowest percentile that a closed loop misjudges by itself."
_USUAL = frozenset({50.0, 90.0, TAIL})
_COUNT = "1"


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
        cases = (case for instance in claim.instances for case in instance.cases)
        yield from (claim.metric for case in cases if case.scenario == scenario)
