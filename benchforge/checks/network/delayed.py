"""The 40 ms that a delayed acknowledgement costs, seen in response times (K4)."""

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import grown, requests
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import figure, percent

_FROM, _TO = 38_000, 46_000
"Microseconds: Linux delays an acknowledgement for 40 ms at least."
_BELOW, _ABOVE = 20_000, 80_000
"Between these, and outside of those, is what the density is compared with."


def delayed(trial: Trial, limits: Thresholds) -> Check:
    """K4: whether many responses took as long as an acknowledgement is delayed."""
    reading, limit = trial.reading, limits["K4"]
    acks = None if reading is None else _acks(trial, reading)
    times = None if reading is None else reading.service_time or reading.latency
    few_acks = acks is not None and acks <= limit.number("acks")
    if times is None or not times.counts:
        return _without_times(acks, few_acks=few_acks, limits=limits)
    share, density = crowded(times)
    crowd = f"{percent(share)} of the responses took 38 to 46 ms"
    if limit.status(share) == "pass" or density <= limit.number("times"):
        sooner = times.between(0, _FROM) / times.count
        if not few_acks and sooner < limit.number("sooner"):
            # A busy machine smears the crowd. What is slow by itself delays few: 0 of 196 at 60 ms.
            counted = "" if acks is None else f", with {figure(acks)} delayed acknowledgements each"
            says = (
                f"{crowd}, {percent(sooner)} took less{counted}: whether the others "
                "waited is not known"
            )
            return _check(limits, None, says, "unknown")
        says = f"{crowd}: no crowd at the 40 ms of a delayed acknowledgement"
        return _check(limits, share, says, "pass")
    if few_acks:
        says = f"{crowd}, and hardly any acknowledgement was delayed: the server takes so long"
        return _check(limits, share, says, "pass")
    counted = "" if acks is None else f", with {figure(acks)} delayed acknowledgements each"
    says = (
        f"{crowd}{counted}: that is how long a second small write waits for the acknowledgement of "
        "the first; set TCP_NODELAY on the server's sockets, or write each response at once"
    )
    return _check(limits, share, says, "fail")


def crowded(times: Histogram) -> tuple[float, float]:
    """Return the share of 38 to 46 ms, and its density over the mean one of 20 to 80 ms around."""
    inside = times.between(_FROM, _TO)
    around = times.between(_BELOW, _FROM) + times.between(_TO, _ABOVE)
    beside = around / (_ABOVE - _BELOW - (_TO - _FROM))
    density = inside / (_TO - _FROM)
    return inside / times.count, density / beside if beside else (float("inf") if inside else 0.0)


def _acks(trial: Trial, reading: Reading) -> float | None:
    seen = trial.observation
    if seen is None or seen.network != "private" or not requests(reading):
        return None
    count = grown(seen, "TcpExtDelayedACKs")
    return None if count is None else count / requests(reading)


def _without_times(acks: float | None, *, few_acks: bool, limits: Thresholds) -> Check:
    no_times = "the tool tells no distribution of response times"
    if acks is None:
        return _check(
            limits, None, f"{no_times}, and delayed acknowledgements were not counted", "unknown"
        )
    if few_acks:
        return _check(limits, None, "hardly any acknowledgement was delayed", "pass")
    says = f"{figure(acks)} acknowledgements were delayed for each request, and {no_times}"
    return _check(
        limits, None, f"{says}: whether responses waited for them is not known", "unknown"
    )


def _check(limits: Thresholds, value: float | None, says: str, status: Status) -> Check:
    return limits.check("K4", "behaviour", value, says, status=status).about(invalidates="latency")
