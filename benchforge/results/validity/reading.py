"""Rules for the numbers of requests and the times in a reading, and for connections."""

from collections.abc import Iterator

from benchforge.model.trial.answers.monitor import LoadAnswers, Monitor, Windows
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading
from benchforge.model.values.places import JsonPath
from benchforge.results.validity.contradiction import (
    BRIEF_S,
    Contradiction,
    beneath,
    highest,
    longest_s,
    lowest,
)
from benchforge.results.validity.identities import MORE, falling, mean_at_least, mean_at_most
from benchforge.text.readable import exact, figure

_SIGMAS = 6  # arrivals at random: beyond that once in 10^9 loads


def counts(reading: Reading) -> Iterator[Contradiction]:
    """Say which numbers of responses, errors, latencies and bytes cannot be."""
    yield from _good(reading)
    yield from _statuses_and_bodies(reading)
    yield from _errors(reading)
    yield from _latencies(reading)
    yield from _series(reading)
    yield from _schedule(reading)
    document, received = reading.document_bytes, reading.received_bytes
    if document is not None and received is not None and not reading.other_lengths:
        least = reading.good_at_least * document
        if received < least:
            yield f"{received} are less than the {least} bytes of good bodies", ("received_bytes",)


def moments(monitor: Monitor) -> Iterator[Contradiction]:
    """Say which numbers of a monitor cannot be."""
    yield from _at_most(monitor.wrong + monitor.other_bodies, monitor.moments, "moments", "wrong")
    answered = monitor.moments + monitor.unjudged
    yield from _at_most(answered, monitor.connections + monitor.held, "connections", "moments")


def windows(read: LoadAnswers) -> Iterator[Contradiction]:
    """Say which numbers of the windows of a load cannot be."""
    parts: dict[JsonPath, Windows] = {("load",): read.load, ("around",): read.around}
    parts |= {("kinds", label): kind for label, kind in read.kinds.items()}
    for path, part in parts.items():
        yield from beneath(path, _window_counts(part))
    for label, kind in read.kinds.items():
        for name in ("judged", "wrong", "answers", "wrong_answers"):
            most = getattr(read.load, name)
            message = _at_most(getattr(kind, name), most, "of all kinds together", name)
            yield from beneath(("kinds", label), message)
    judged = sum(windows_.answers + windows_.unjudged for windows_ in (read.load, read.around))
    yield from _at_most(sum(each.answers for each in read.answers), judged, "answers", "answers")
    if read.why and (read.load.windows or read.around.windows):
        yield "says why no window was opened, but some were", ("why",)


def _window_counts(part: Windows) -> Iterator[Contradiction]:
    yield from _at_most(part.judged, part.windows, "windows", "judged")
    yield from _at_most(part.judged, part.answers, "answers", "judged")
    yield from _at_most(part.wrong + part.other_bodies, part.judged, "judged windows", "wrong")
    yield from _at_most(part.wrong, part.wrong_answers, "wrong answers", "wrong")
    most = part.answers if part.wrong else 0
    yield from _at_most(part.wrong_answers, most, "answers of wrong windows", "wrong_answers")


def _good(reading: Reading) -> Iterator[Contradiction]:
    yield from _at_most(reading.good_at_most, reading.responses, "responses", "good_at_most")
    most = reading.good_at_most
    yield from _at_most(reading.good_at_least, most, "good ones at most", "good_at_least")
    if reading.good is None and not reading.doubt:
        yield "only bounds are known, and nothing says why", ("doubt",)


def _statuses_and_bodies(reading: Reading) -> Iterator[Contradiction]:
    """What the tool tells of statuses and bodies, each response once."""
    yield from _at_most(sum(reading.statuses.values()), reading.responses, "responses", "statuses")
    by_status: dict[str, int] = {}
    for bodies in reading.bodies:
        by_status[str(bodies.status)] = by_status.get(str(bodies.status), 0) + bodies.responses
    for status, count in by_status.items():
        most = reading.statuses.get(status, 0)
        if count > most:
            yield f"{count} bodies are of status {status}, and {most} responses", ("bodies",)


def _errors(reading: Reading) -> Iterator[Contradiction]:
    """Each request that did not end well stands in one class, or in several if they overlap."""
    if reading.unanswered is None:
        return
    # A late response is complete, and may be counted as an error beside it.
    most = reading.responses - reading.good_at_least + reading.unanswered + reading.censored
    least = reading.responses - reading.good_at_most + reading.unanswered
    total = sum(reading.errors.values())
    if total < least:
        yield f"hold {total}, but {least} requests did not end well", ("errors",)
    if not reading.overlapping_errors and total > most:
        yield f"hold {total}, but {most} requests at most did not end well", ("errors",)
    ended = reading.responses + reading.unanswered + reading.censored
    for name, count in reading.errors.items():
        if reading.overlapping_errors and count > ended:
            yield f"{count} are more than the {ended} requests that ended", ("errors", name)


def _latencies(reading: Reading) -> Iterator[Contradiction]:
    responses = reading.responses
    if reading.latency is not None:
        recorded, late = reading.latency.count, reading.censored
        if not recorded <= responses <= recorded + late:
            message = f"hold {recorded}, and {late} took longer, of {responses} responses"
            yield message, ("latency", "counts")
    if reading.latency is not None and reading.latency_by_status:
        split = reading.latency_by_status.values()
        for name, parts, expected in (
            ("counts", sum(histogram.count for histogram in split), reading.latency.count),
            ("sum_us", sum(histogram.sum_us for histogram in split), reading.latency.sum_us),
            ("max_us", max(histogram.max_us for histogram in split), reading.latency.max_us),
        ):
            if parts != expected:
                message = f"together they have {parts} in {name}, and `latency` has {expected}"
                yield message, ("latency_by_status",)
    if reading.service_time is not None and reading.service_time.count != responses:
        message = f"hold {reading.service_time.count} of {responses} responses"
        yield message, ("service_time", "counts")
    if reading.unanswered is not None and (samples := reading.latency_samples) is not None:
        ended = responses + reading.unanswered
        yield from _at_most(samples, ended, "requests that ended", "latency_samples")


def _series(reading: Reading) -> Iterator[Contradiction]:
    series = reading.series
    if series is None:
        return
    if sum(series.completed) != reading.responses:
        message = f"add up to {sum(series.completed)}, not to {reading.responses} responses"
        yield message, ("series", "completed")
    if reading.unanswered is not None and sum(series.errors) != reading.unanswered:
        message = f"add up to {sum(series.errors)}, not to {reading.unanswered} unanswered requests"
        yield message, ("series", "errors")
    for name, bins in (("completed", series.completed), ("errors", series.errors)):
        # The last bin may be short, and a clock may be read a moment after it.
        too_long = (len(bins) - 2) * series.bin_s > reading.seconds
        if too_long or len(bins) * series.bin_s + BRIEF_S < reading.seconds:
            load_s = exact(reading.seconds)
            message = f"{len(bins)} bins of {exact(series.bin_s)} s are no {load_s} s"
            yield message, ("series", name)


def _schedule(reading: Reading) -> Iterator[Contradiction]:
    schedule = reading.schedule
    if schedule is None or schedule.intended is None:
        return
    due = schedule.rate * reading.seconds
    if schedule.intended > due + _SIGMAS * due**0.5 + 1:
        message = f"{schedule.intended} came due in {exact(reading.seconds)} s"
        message += f" at {exact(schedule.rate)}/s"
        yield message, ("schedule", "intended")
    if schedule.lateness is not None and schedule.lateness.count != schedule.intended:
        message = f"hold {schedule.lateness.count} of {schedule.intended} intended requests"
        yield message, ("schedule", "lateness", "counts")
    if schedule.sent is not None:
        if schedule.sent > schedule.intended:
            message = f"{schedule.sent} were sent of {schedule.intended} intended requests"
            yield message, ("schedule", "sent")
        if reading.responses > schedule.sent:
            message = f"{reading.responses} came, but {schedule.sent} requests were sent"
            yield message, ("responses",)


def _at_most(count: int, most: int, total_name: str, name: str) -> Iterator[Contradiction]:
    if count > most:
        yield f"{count} are more than the {most} {total_name}", (name,)


_PERCENT = 100.0


def times(reading: Reading, at_once: int | None) -> Iterator[Contradiction]:
    """Say which response times cannot be; `at_once` requests are under way at most, if known."""
    longest_us = (longest_s(reading.seconds) * MORE + BRIEF_S) * 1e6
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
    if rate and mean_us / 1e6 > at_once / rate * MORE:
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
