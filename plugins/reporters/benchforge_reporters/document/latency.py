"""Response times of the servers of a comparison at one rate, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchforge.plugin import Comparison, Estimate, Summary, readable
from benchforge_reporters.document.answers import label_of


@dataclass(frozen=True)
class ServerTimes:
    """Median and tail of a server, each with its interval, in words."""

    server: str
    median: str
    tail: str


@dataclass(frozen=True)
class LatencyRow:
    """Response times of the servers of a comparison, which all received one rate."""

    label: str
    "Label of the comparison."
    scenario: str
    "Label of the scenario that measured them."
    rate: str
    "Rate with its unit: 1,500 requests/s."
    tail: str
    "Name of the tail: p99, or the highest percentile that is known."
    servers: tuple[ServerTimes, ...]
    "Servers in the order of the suite; empty if no response time is known."
    why: str
    "Reason why no response time is known, or why the tail is not p99; else empty."

    @property
    def sentence(self) -> str:
        """All of it in a sentence."""
        times = "; ".join(
            f"{it.server} p50 {it.median}, {self.tail} {it.tail}" for it in self.servers
        )
        why = f" ({self.why})" if self.why and times else self.why
        return f"latency at {self.rate}: {times or 'unknown: '}{why}"


def latency_rows(summary: Summary) -> Iterator[LatencyRow]:
    """Yield the response times of each comparison that has some beside it."""
    for comparison in summary.comparisons:
        if comparison.latency is not None and not summary.smoke:
            yield _row(comparison, label_of(comparison, summary))


def _row(comparison: Comparison, label: str) -> LatencyRow:
    latency = comparison.latency
    assert latency is not None  # noqa: S101 - its caller has looked
    servers = (
        ServerTimes(it.server, _in_words(it.median), _in_words(it.tail)) for it in latency.servers
    )
    rate, tail = readable.amount("requests/s", latency.rate), f"p{latency.tail:g}"
    return LatencyRow(label, latency.scenario, rate, tail, tuple(servers), latency.why)


def _in_words(estimate: Estimate) -> str:
    """Return a time with its interval: 1.21 (1.10 to 1.33) ms."""
    if estimate.value is None:
        return f"unknown: {estimate.why}"
    if estimate.low is None or estimate.high is None:
        return f"{readable.amount('s', estimate.value)} (no interval: {estimate.why})"
    low, value, high = readable.amounts("s", estimate.low, estimate.value, estimate.high)
    number, unit = high.split(" ")
    return f"{value} ({low} to {number}) {unit}"
