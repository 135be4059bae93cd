"""Response times at one rate: the percentiles of each server, with intervals over blocks."""

from collections.abc import Mapping, Sequence

from benchforge.model.summary.latency import LatencyAtRate, ServerLatency
from benchforge.model.summary.summary import Comparison
from benchforge.model.summary.verdict import Estimate
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import Identity
from benchforge.stats.inference.interval import typical
from benchforge.stats.summary.case import used_of
from benchforge.text.readable import exact

_TAIL, _MEDIAN = 99.0, 50.0
_TAILS = (_TAIL, 95.0, 90.0, 75.0)
_SLOWER = 10
"Responses slower than a percentile: with fewer it says nothing."


def latency_at_rate(
    comparison: Comparison, scenario: str, by_case: Mapping[Identity, Sequence[Trial]]
) -> LatencyAtRate | None:
    """Return the response times that `scenario` measured of the servers of a comparison.

    `by_case` has the trials of all cases. None before each server has a trial with a rate.
    """
    by_server = {
        case.server: trials
        for case in comparison.cases
        for key, trials in by_case.items()
        if key[:2] == (scenario, case.server)
    }
    loads = [trial.load for trials in by_server.values() for trial in trials]
    rates = {load.rate for load in loads if load and load.rate}
    if not rates or not all(by_server.values()):
        return None
    unknown = LatencyAtRate(scenario=scenario, rate=min(rates))
    if len(rates) > 1:
        return unknown.model_copy(update={"why": "its trials had different rates"})
    readings: dict[str, list[Reading]] = {}
    for server, trials in by_server.items():
        readings[server] = [it.reading for it in used_of(trials) if it.reading and _counts(it)]
        if not readings[server]:
            why = f"no trial of {server} counts{_doubt(trials)}"
            return unknown.model_copy(update={"why": why})
    counts = {server: sum(map(_responses, of_server)) for server, of_server in readings.items()}
    least = min(counts, key=counts.__getitem__)
    tail = next((it for it in _TAILS if counts[least] * (100 - it) >= 100 * _SLOWER), _MEDIAN)
    why = f"p99 takes {exact(100 * _SLOWER)} responses of each, and {least} has {counts[least]}"
    servers = tuple(
        ServerLatency(
            server=server,
            responses=counts[server],
            median=_percentile(of_server, _MEDIAN),
            tail=_percentile(of_server, tail),
        )
        for server, of_server in readings.items()
    )
    update = {"tail": tail, "servers": servers, "why": "" if tail == _TAIL else why}
    return unknown.model_copy(update=update)


def _counts(trial: Trial) -> bool:
    return trial.believed and not trial.latency_doubts


def _doubt(trials: Sequence[Trial]) -> str:
    """Return why the last of some trials does not count, after a colon."""
    last = trials[-1]
    doubts = (*last.doubts, *last.latency_doubts)
    message = last.failure.message if last.failure else doubts[0].message if doubts else ""
    return message and f": {message}"


def _responses(reading: Reading) -> int:
    return 0 if reading.latency is None else reading.latency.count


def _percentile(readings: Sequence[Reading], percent: float) -> Estimate:
    """Return a percentile in seconds, from the percentile of each block."""
    values = [
        reading.latency.quantile(percent / 100, reading.censored, reading.in_flight)
        for reading in readings
        if reading.latency is not None
    ]
    times_s = [value / 1e6 for value in values if value is not None]
    if len(times_s) < len(values):
        why = f"in {len(values) - len(times_s)} blocks it lies among requests without a response"
        return Estimate(method="t of logs", level=0.95, n=len(times_s), why=why)
    return typical(times_s)
