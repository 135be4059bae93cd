"""Response times at one rate: the percentiles of each server, with intervals over blocks."""

from collections.abc import Mapping, Sequence

from benchforge.model.summary.latency import LatencyAtRate, ServerLatency
from benchforge.model.summary.summary import Comparison
from benchforge.model.summary.verdict import Estimate
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import Identity
from benchforge.stats.inference.interval import LEAST, typical
from benchforge.stats.summary.case import used_of
from benchforge.text.readable import exact

_MEDIAN = 50.0
_TAILS = (99.0, 95.0, 90.0, 75.0)
_LATE = 0.10  # of a percentile, as L4's limit for p99
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
    tail, why = highest(readings)
    servers = tuple(
        ServerLatency(
            server=server,
            responses=sum(map(_responses, of_server)),
            median=_percentile(of_server, _MEDIAN),
            tail=_percentile(of_server, tail),
        )
        for server, of_server in readings.items()
    )
    return unknown.model_copy(update={"tail": tail, "servers": servers, "why": why})


def highest(readings: Mapping[str, Sequence[Reading]]) -> tuple[float, str]:
    """Return the highest percentile that all servers carry, and why no higher one."""
    reason = ""
    for percent in _TAILS:
        lacking = _lacking(readings, percent)
        if not lacking:
            return percent, reason
        reason = reason or lacking
    return _MEDIAN, reason


def _lacking(readings: Mapping[str, Sequence[Reading]], percent: float) -> str:
    """Return why some server does not carry a percentile; empty if each does."""
    for server, of_server in readings.items():
        timely, blocks = len(_timely(of_server, percent)), len(of_server)
        if timely < min(LEAST, blocks):
            late = f"{blocks - timely} of {blocks} blocks"
            return f"with {server}, the load tool sent too late for it in {late}"
        count, needed = sum(map(_responses, of_server)), round(100 * _SLOWER / (100 - percent))
        if count < needed:
            return f"p{percent:g} takes {exact(needed)} responses of each, and {server} has {count}"
    return ""


def _timely(readings: Sequence[Reading], percent: float) -> list[Reading]:
    """Return those whose load tool was on time, by L4's limit of lateness, or does not tell."""
    return [it for it in readings if (it.late_share(percent / 100) or 0.0) < _LATE]


def _counts(trial: Trial) -> bool:
    return trial.believed and not _doubts(trial)


def _doubts(trial: Trial) -> list[Check]:
    # S2 and L4 judge p99 of a trial alone: `_lacking` asks the same of all blocks, by percentile.
    return [it for it in trial.latency_doubts if it.topic != "samples" and not it.of_lateness]


def _doubt(trials: Sequence[Trial]) -> str:
    """Return why the last of some trials does not count, after a colon."""
    last = trials[-1]
    doubts = (*last.doubts, *_doubts(last))
    message = last.failure.message if last.failure else doubts[0].message if doubts else ""
    return message and f": {message}"


def _responses(reading: Reading) -> int:
    return 0 if reading.latency is None else reading.latency.count


def _percentile(readings: Sequence[Reading], percent: float) -> Estimate:
    """Return a percentile in seconds, from the percentile of each block."""
    values = [it.quantile_us(percent / 100) for it in _timely(readings, percent)]
    times_s = [value / 1e6 for value in values if value is not None]
    if len(times_s) < len(values):
        why = f"in {len(values) - len(times_s)} blocks it lies among requests without a response"
        return Estimate(method="t of logs", level=0.95, n=len(times_s), why=why)
    return typical(times_s)
