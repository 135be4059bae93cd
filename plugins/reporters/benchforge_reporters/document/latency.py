"""Response times of the servers of a comparison at one rate, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchforge.plugin import Estimate, Summary, readable


@dataclass(frozen=True)
class LatencyRow:
    """Response times of the servers of a comparison, which all received one rate."""

    scenario: str
    "Label of the scenario that measured them."
    sentence: str
    "Rate, median and tail of each server; why they are unknown, or why the tail is not p99."


def latency_rows(summary: Summary) -> Iterator[LatencyRow]:
    """Yield the response times of each comparison that has some beside it."""
    for latency in (comparison.latency for comparison in summary.comparisons):
        if latency is None or summary.smoke:
            continue
        times = "; ".join(
            f"{it.server} p50 {_in_words(it.median)}, p{latency.tail:g} {_in_words(it.tail)}"
            for it in latency.servers
        )
        why = f" ({latency.why})" if latency.why and times else latency.why
        rate = readable.amount("requests/s", latency.rate)
        sentence = f"latency at {rate}: {times or 'unknown: '}{why}"
        yield LatencyRow(latency.scenario, sentence)


def _in_words(estimate: Estimate) -> str:
    """Return a time with its interval: 1.21 (1.10 to 1.33) ms."""
    if estimate.value is None:
        return f"unknown: {estimate.why}"
    if estimate.low is None or estimate.high is None:
        return f"{readable.amount('s', estimate.value)} (no interval: {estimate.why})"
    low, value, high = readable.amounts("s", estimate.low, estimate.value, estimate.high)
    number, unit = high.split(" ")
    return f"{value} ({low} to {number}) {unit}"
