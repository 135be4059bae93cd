"""How long a request waits for something that is no CPU, and whether slices change that.

A timer runs on while its server is frozen: what waited for it is due at once when the server goes
on. So a rate in slices is too high, and more so in shorter ones after the same rest: that shows
after five pairs of slices, where a change to longer ones drowns in how few answers each has.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchforge.model.trial.turns import ProbedSlice
from benchforge.stats.distributions.student import t_quantile

SMALL = 0.05
"Share of a slice up to which waiting changes no ratio by more than that."
SHORTER = 4
"By how much probed slices are shorter than those that count."
_PAIRS = 5
_SURE = 0.99


def waiting_s(concurrency: int, rate: float, busy: float) -> float:
    """Return how long a request waits by Little's law, in seconds, less what CPUs explain.

    `busy` is for how long server and load tool use a CPU or wait for one, per second: requests that
    wait for that wait for one another, and stand still with their server.
    """
    return concurrency / rate * max(0.0, 1.0 - busy) if rate else math.inf


def probe_lengths(slice_s: float) -> Iterator[float]:
    """Yield the lengths of probed slices: one that opens, then pairs of both in mirrored order."""
    yield slice_s
    for number in range(_PAIRS):
        yield from (slice_s, slice_s / SHORTER)[:: -1 if number % 2 else 1]


class Rise(NamedTuple):
    """By what share a rate is higher in shorter slices, and by how much at least."""

    mean: float
    least: float
    "Lower end of the interval at 99 %."


def rise_of_rate(probed: Sequence[ProbedSlice]) -> Rise | None:
    """Return by how much shorter slices raise the rate of a server; None if unknown."""
    pairs = [sorted(pair, key=_length_s) for pair in zip(probed[::2], probed[1::2], strict=True)]
    usual = [long.responses / long.seconds for _, long in pairs]
    if len(pairs) < len(("a", "b")) or not sum(usual):
        return None
    rates = [short.responses / short.seconds for short, _ in pairs]
    mean = statistics.fmean(usual)
    rises = [(high - low) / mean for high, low in zip(rates, usual, strict=True)]
    half = t_quantile(_SURE, len(rises) - 1) * statistics.stdev(rises) / math.sqrt(len(rises))
    return Rise(statistics.fmean(rises), statistics.fmean(rises) - half)


def _length_s(probe: ProbedSlice) -> float:
    return probe.slice_s
