"""Omissions of a closed loop (O1), and a timer that is too coarse (O2)."""

from collections.abc import Iterable, Iterator

from benchforge.checks.limits import Thresholds
from benchforge.checks.percentiles import TAIL, USUAL, Percentiles
from benchforge.checks.seen import users_think
from benchforge.model.trial.check import Check
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, figure

P = TAIL / 100
_FINE_S = 0.1  # bins that the gap test needs
_TIMES_MEDIAN = 10
_COARSE = "wrk2:1ms-timer"
_UNCORRECTED = "uncorrected_p50_us"


def of_trial(trial: Trial, limits: Thresholds, percentiles: Percentiles = USUAL) -> Iterator[Check]:
    """Yield O1 of a closed loop and O2 of wrk2.

    O1 needs a tail or a mean: below them, requests that are slow by their kind look like a server
    that stood still.
    """
    reading, tails = trial.reading, percentiles.tails
    if reading is None:
        return
    if _COARSE in reading.defects:
        yield _timer(reading, limits)
    load = trial.load  # of a client and at a rate no user waits in a closed loop
    is_open_or_client = load is not None and (load.rate is not None or load.kind == "client")
    closed = not (reading.schedule or reading.process_s or is_open_or_client)
    if closed and tails and tails[-1] >= TAIL:
        yield _omission(reading, users_think(trial), limits)


def residual_us(histogram: Histogram, p: float) -> float | None:
    """Return the microseconds t with S_R(t) = 1 - p: what p of all random moments would wait.

    S_R(t) is the sum of max(v - t, 0) over that of v, the residual life of a renewal process. It is
    made of straight lines between the values, which are walked from the largest.
    """
    values = [(value, count) for value, count in histogram.values() if value]
    shorter = (1 - p) * sum(value * count for value, count in values)
    longer = weight = 0
    for index in range(len(values) - 1, -1, -1):
        value, count = values[index]
        longer, weight = longer + count, weight + value * count
        t = (weight - shorter) / longer
        if t >= (values[index - 1][0] if index else 0):
            return t
    return None


def _omission(reading: Reading, thinks: bool, limits: Thresholds) -> Check:
    if reading.latency is None or not reading.latency.counts:
        reason = "the load tool gives no histogram of its response times"
        says = f"{reason}: whether it missed is unknown"
        return limits.check("O1", "apparatus", None, says).about(invalidates="latency")
    if reading.censored and reading.censored_from_us is None:
        reason = f"{reading.censored} requests took longer than the load tool records"
        return limits.check("O1", "apparatus", None, reason).about(invalidates="latency")
    # Requests without a response time took at least so long.
    late = Histogram.of({reading.censored_from_us or 0: reading.censored})
    young = () if reading.in_flight is None else (reading.in_flight,)
    times = Histogram.added((reading.latency, late, *young))
    raw_us, waits_us = times.quantile(P), residual_us(times, P)
    if not raw_us or waits_us is None:
        reason = "the response times are too short for the load tool's clock"
        return limits.check("O1", "apparatus", None, reason).about(invalidates="latency")
    value = waits_us / raw_us
    # Of what took longer than is recorded only this is known: the truth is above both numbers.
    more = "more than " if reading.censored else ""
    longest = amount("us", reading.censored_from_us or 0)
    if reading.latency.quantile(P, reading.censored) is None:
        reason = f"p99 itself is longer than the {longest} that the load tool records"
        return limits.check("O1", "apparatus", None, reason).about(invalidates="latency")
    says = f"at random moments p99 would be {more}{amount('us', waits_us)}, {more}{figure(value)} "
    says += "times that of the closed loop"
    if more:
        says += f", which records no response time above {longest}"
    if limits["O1"].status(value) != "pass":
        # A pause of users ends nothing for other reasons, too.
        says += "" if thinks else _stalls(reading, times.quantile(0.5) or 0, waits_us)
        says += ": measure response times at a rate, with pace"
    return limits.check("O1", "apparatus", value, says).about(invalidates="latency")


def _stalls(reading: Reading, median_us: float, waits_us: float) -> str:
    """Say whether the whole server stood still: by gaps of all connections that are long enough."""
    series = reading.series
    if series is None or series.bin_s > _FINE_S * 1.001:
        return ""
    longest = _longest_gap(series.completed) * series.bin_s
    if longest >= max(_FINE_S, _TIMES_MEDIAN * median_us / 1e6, waits_us / 1e6 / 2):
        return f"; the whole server stood still, for {amount('s', longest)} at the longest"
    return "; single requests were slow while others were answered"


def _longest_gap(completed: Iterable[int]) -> int:
    """Return the most bins in a row in which nothing ended, between two in which something did."""
    bins = "".join("1" if count else " " for count in completed).strip()
    return max(map(len, bins.split("1")))


def _timer(reading: Reading, limits: Thresholds) -> Check:
    median_us = (reading.percentiles_us or {}).get("50")
    uncorrected = reading.printed.get(_UNCORRECTED)
    if median_us is None or not isinstance(uncorrected, int | float):
        reason = "wrk2 told no times from the real sending, so how late its timer was is not known"
        return limits.check("O2", "apparatus", None, reason).about(invalidates="latency")
    value = max(0.0, median_us - uncorrected) / 1e6
    says = f"half of the response times have {amount('s', value)} or more of wrk2's own timer"
    check = limits.check("O2", "apparatus", value, says).about(invalidates="latency")
    return check.advising(": use pace, which is built in")
