"""Rules for the times in a reading, and for the number of connections."""

from collections.abc import Iterator

from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading
from benchforge.model.values.places import JsonPath
from benchforge.results.validity.contradiction import (
    BRIEF_S,
    Contradiction,
    highest,
    longest_s,
    lowest,
)
from benchforge.results.validity.identities import (
    MORE,
    falling,
    longest_mean,
    longest_response,
    mean_at_least,
    mean_at_most,
)
from benchforge.text.readable import exact, figure

_PERCENT = 100.0


def times(reading: Reading, at_once: int | None) -> Iterator[Contradiction]:
    """Say which response times cannot be; `at_once` requests are under way at most, if known."""
    longest_us = longest_response(longest_s(reading.seconds), BRIEF_S) * 1e6
    for path, histogram in _histograms(reading):
        if (message := histogram.fault()) is not None:
            yield message, path
        elif histogram.max_us > longest_us:
            yield _longer(histogram.max_us, reading.seconds), (*path, "max_us")
    strange = [percent for percent in reading.percentiles_us or {} if not _is_percent(percent)]
    if strange:
        yield "is not a percent, such as 99.9", ("percentiles_us", strange[0])
        return
    yield from _percentiles(reading, longest_us)
    if at_once is not None:
        yield from _law(reading, at_once)
        if reading.in_flight is not None and reading.in_flight.count > at_once:
            message = f"hold {reading.in_flight.count}, but {at_once} can be under way at once"
            yield message, ("in_flight", "counts")


def _is_percent(text: str) -> bool:
    try:
        return 0 <= float(text) <= _PERCENT
    except ValueError:
        return False


def _histograms(reading: Reading) -> Iterator[tuple[JsonPath, Histogram]]:
    named: dict[JsonPath, Histogram | None] = {
        ("latency",): reading.latency,
        ("service_time",): reading.service_time,
        ("in_flight",): reading.in_flight,
        **{("latency_by_status", name): part for name, part in reading.latency_by_status.items()},
        **{("phases", name): phase for name, phase in reading.phases.items()},
    }
    if reading.schedule is not None:
        named["schedule", "lateness"] = reading.schedule.lateness
        named["schedule", "queueing"] = reading.schedule.queueing
    yield from ((path, histogram) for path, histogram in named.items() if histogram is not None)


def _percentiles(reading: Reading, longest_us: float) -> Iterator[Contradiction]:
    stated = {float(name): (name, us) for name, us in (reading.percentiles_us or {}).items()}
    for low, high in falling({percent: (us, us) for percent, (_, us) in stated.items()}):
        (name, value), (_, lower_value) = stated[high], stated[low]
        message = f"{exact(value)} us is less than a lower percentile, {exact(lower_value)} us"
        yield message, ("percentiles_us", name)
    for name, value in stated.values():
        if lowest(value) > longest_us:
            yield _longer(value, reading.seconds), ("percentiles_us", name)
    if (mean := reading.mean_us) is None:
        return
    if lowest(mean) > longest_us:
        yield _longer(mean, reading.seconds), ("mean_us",)
    if (least := mean_at_least(_lowest(reading))) > highest(mean) * MORE:
        message = f"{exact(mean)} us, but the percentiles allow {exact(least)} us at least"
        yield message, ("mean_us",)
    if _PERCENT not in stated:
        return
    longest = stated[_PERCENT][1]
    highs = {percent: highest(us) for percent, (_, us) in stated.items()}
    if lowest(mean) > highest(longest):
        yield f"{exact(mean)} us is more than the longest, {exact(longest)} us", ("mean_us",)
    elif lowest(mean) > (most := mean_at_most(highs, max(1, _samples(reading)))) * MORE:
        message = f"{exact(mean)} us, but the percentiles allow {exact(most)} us at most"
        yield message, ("mean_us",)


def _law(reading: Reading, at_once: int) -> Iterator[Contradiction]:
    """Say where more requests were under way than there can be, by Little's law."""
    if reading.latency is not None:
        mean_us = reading.latency.sum_us / max(1, reading.latency.count)
    else:
        mean_us = max(mean_at_least(_lowest(reading)), lowest(reading.mean_us or 0.0))
    rate = _samples(reading) / longest_s(reading.seconds)
    if rate and mean_us / 1e6 > longest_mean(at_once, rate) * MORE:
        message = (
            f"by Little's law {figure(rate * mean_us / 1e6)} requests were under way, but "
            f"{at_once} can be: seconds, responses and their times do not fit"
        )
        yield message, ("seconds",)


def _samples(reading: Reading) -> int:
    if reading.latency is not None:
        return reading.latency.count
    return reading.latency_samples or reading.responses


def _lowest(reading: Reading) -> dict[float, float]:
    return {float(percent): lowest(us) for percent, us in (reading.percentiles_us or {}).items()}


def _longer(value_us: float, seconds: float) -> str:
    return f"{exact(value_us)} us is longer than the load of {exact(seconds)} s"
