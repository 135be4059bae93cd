"""wrk's correction of its latencies, undone exactly.

Before wrk prints, and before its Lua hook is called, it adds samples that never were: below each
latency of at least twice the time E that a connection needs for a request, one at every step of E.
With a server that stands still for 200 ms each second, wrk printed a mean of 14.1 ms where the
requests took 0.4 ms. Source: `stats_correct` of src/stats.c and `main` of src/wrk.c, wrk 4.1.
"""

from collections.abc import Mapping


def expected_interval_us(duration_us: int, requests: int, connections: int) -> int | None:
    """Return wrk's E in microseconds; None where wrk has too few requests to correct anything."""
    each = requests // connections
    return duration_us // each if each else None


def without_synthetic(corrected: Mapping[int, int], expected_us: int) -> dict[int, int]:
    """Return the counts by microsecond as they were before wrk's correction.

    From the top down, because what stands at the top was added by nothing above it. Raises
    ValueError when the counts cannot have come from that correction.
    """
    if expected_us < 1:
        raise ValueError("requests cannot follow one another within less than a microsecond")
    raw = dict(corrected)
    for value in sorted(corrected, reverse=True):
        count = raw[value]
        made_up = value - expected_us
        while count and made_up > expected_us:
            left = raw.get(made_up, 0) - count
            if left < 0:
                msg = f"the {count} requests of {value} us left no trace at {made_up} us"
                raise ValueError(msg)
            raw[made_up] = left
            made_up -= expected_us
    return {value: count for value, count in raw.items() if count}


def printed_percentile_us(corrected: Mapping[int, int], percent: float) -> int:
    """Return the percentile that wrk prints, 0 when it has no samples."""
    rank = int(percent / 100 * sum(corrected.values())) + 1
    seen = 0
    for value, count in sorted(corrected.items()):
        seen += count
        if seen >= rank:
            return value
    return 0
