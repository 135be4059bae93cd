"""What the times in a reading must be to one another, and to the number of connections."""

import math
from collections.abc import Iterator, Mapping

from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading
from benchforge.model.validity.contradiction import (
    BRIEF_S,
    MORE,
    Contradiction,
    highest,
    longest_s,
    lowest,
)
from benchforge.model.values.places import JsonPath
from benchforge.text.readable import exact, figure

_PERCENT = 100.0
_LAST_BUCKET = 1 << 16
"More than 10^22 microseconds: what is beyond is not even computed."


def times(reading: Reading, at_once: int | None) -> Iterator[Contradiction]:
    """Say which response times cannot be; `at_once` requests are under way at most, if known."""
    longest_us = longest_s(reading.seconds) * MORE * 1e6 + BRIEF_S * 1e6
    for path, histogram in _histograms(reading):
        if max(histogram.counts, default=0) > _LAST_BUCKET:
            yield "no duration is in so high a bucket", (*path, "counts")
        elif (message := histogram.fault()) is not None:
            yield message, path
        elif histogram.max_us > longest_us:
            yield _longer(histogram.max_us, reading.seconds), (*path, "max_us")
    strange = [percent for percent in reading.percentiles_us or {} if not _is_percent(percent)]
    if strange:
        yield "is no percent, such as 99.9", ("percentiles_us", strange[0])
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
        **{("latency_by_status", name): one for name, one in reading.latency_by_status.items()},
        **{("phases", name): one for name, one in reading.phases.items()},
    }
    if reading.schedule is not None:
        named["schedule", "lateness"] = reading.schedule.lateness
        named["schedule", "queueing"] = reading.schedule.queueing
    yield from ((path, one) for path, one in named.items() if one is not None)


def _percentiles(reading: Reading, longest_us: float) -> Iterator[Contradiction]:
    given = reading.percentiles_us or {}
    before = 0.0
    for percent in sorted(given, key=float):
        value = given[percent]
        if value < before:
            message = f"{exact(value)} us is less than a lower percentile, {exact(before)} us"
            yield message, ("percentiles_us", percent)
        if lowest(value) > longest_us:
            yield _longer(value, reading.seconds), ("percentiles_us", percent)
        before = max(before, value)
    mean = reading.mean_us
    if mean is None:
        return
    if lowest(mean) > longest_us:
        yield _longer(mean, reading.seconds), ("mean_us",)
    if "100" in given and lowest(mean) > highest(given["100"]):
        longest = exact(given["100"])
        yield f"{exact(mean)} us is more than the longest, {longest} us", ("mean_us",)
    if (least := mean_at_least(_lowest(given))) > highest(mean) * MORE:
        message = f"{exact(mean)} us, but the percentiles allow {exact(least)} us at least"
        yield message, ("mean_us",)


def _law(reading: Reading, at_once: int) -> Iterator[Contradiction]:
    """Little's law: responses a second, times their mean time, are the requests under way.

    More than there can be: times are made up, or a count or a clock is wrong.
    """
    if reading.latency is not None:
        spent_us = float(reading.latency.sum_us)
    else:
        mean_us = mean_at_least(_lowest(reading.percentiles_us or {}))
        if reading.mean_us is not None:
            mean_us = max(mean_us, lowest(reading.mean_us))
        spent_us = mean_us * (reading.latency_samples or reading.responses)
    under_way = spent_us / 1e6 / longest_s(reading.seconds)
    if under_way > at_once * MORE:
        message = (
            f"by Little's law {figure(under_way)} requests were under way, but {at_once} can be: "
            "seconds, responses and their times do not fit"
        )
        yield message, ("seconds",)


def _lowest(percentiles: Mapping[str, float]) -> dict[float, float]:
    return {float(percent): lowest(value) for percent, value in percentiles.items()}


def mean_at_least(percentiles: Mapping[float, float], samples: float = math.inf) -> float:
    """Return what a mean is at least: each step up to a percentile is of the share above it.

    Tools differ in the rank of a percentile, by two samples at most.
    """
    total = reached = 0.0
    for percent, value in sorted(percentiles.items()):
        total += max(0.0, value - reached) * max(0.0, 1 - percent / _PERCENT - 2 / samples)
        reached = max(reached, value)
    return total


def _longer(value_us: float, seconds: float) -> str:
    return f"{exact(value_us)} us is longer than the load of {exact(seconds)} s"
