"""Response times of the servers of a comparison at one rate, in words."""

from collections.abc import Iterator

from benchforge.plugin import Estimate, Summary, readable


def latency_rows(summary: Summary) -> Iterator[tuple[str, str]]:
    """Yield what comparisons have beside them: the label of a scenario, and its times in words."""
    for comparison in summary.comparisons:
        latency = comparison.latency
        if latency is not None and not summary.smoke:
            times = "; ".join(
                f"{it.server} p50 {_in_words(it.median)}, p{latency.tail:g} {_in_words(it.tail)}"
                for it in latency.servers
            )
            reason = f" ({latency.why})" if latency.why and times else latency.why
            rate = readable.amount("requests/s", latency.rate)
            yield latency.scenario, f"latency at {rate}: {times or 'unknown: '}{reason}"


def _in_words(estimate: Estimate) -> str:
    """Return a time with its interval: 1.21 (1.10 to 1.33) ms."""
    if estimate.value is None:
        return f"unknown: {estimate.why}"
    if estimate.low is None or estimate.high is None:
        return f"{readable.amount('s', estimate.value)} ({estimate.why})"
    low, value, high = readable.amounts("s", estimate.low, estimate.value, estimate.high)
    number, unit = high.split(" ")
    return f"{value} ({low} to {number}) {unit}"
