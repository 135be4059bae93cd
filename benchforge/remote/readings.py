"""Reports of several load tools of one load, as one reading.

Counts and histograms are added, percentiles never averaged. What one tool alone can tell is
unknown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Bodies, Reading, SampledBody, Schedule, Series
from benchforge.model.values.bounds import MOST_VALUES

_ADDED = (
    *("unanswered", "received_bytes", "body_bytes", "promised_bytes", "connections"),
    *("other_lengths", "cpu_user_s", "cpu_system_s", "not_reached"),
    *("responses", "good_at_least", "good_at_most", "sampled_others", "byte_error", "censored"),
    *("test_connections", "stream_began_again"),
)
"Numbers, which are unknown of all where one tool does not report them."


def merged_reading(readings: Sequence[Reading], starts: Sequence[float]) -> Reading:
    """Return the reading of all, from the first start to the last end.

    `starts` are the begins of their loads on one clock, in seconds.
    """
    first_s, first = min(starts), readings[0]
    ends = [start + reading.seconds for start, reading in zip(starts, readings, strict=True)]
    moved_s = [start - first_s for start in starts]
    censored_us = [each.censored_from_us for each in readings if each.censored_from_us is not None]
    return Reading(
        seconds=max(ends) - first_s,
        doubt=_joined(reading.doubt for reading in readings),
        by_length=_joined(reading.by_length for reading in readings),
        statuses=_counts(reading.statuses for reading in readings),
        own_requests=any(reading.own_requests for reading in readings),
        errors=_counts(reading.errors for reading in readings),
        overlapping_errors=any(reading.overlapping_errors for reading in readings),
        bodies=_bodies(readings),
        sampled=_sampled(readings),
        latency=_added([reading.latency for reading in readings]),
        latency_by_status=_by_name([reading.latency_by_status for reading in readings]),
        service_time=_added([reading.service_time for reading in readings]),
        phases=_by_name([reading.phases for reading in readings]),
        in_flight=_added([reading.in_flight for reading in readings]),
        series=_series([reading.series for reading in readings], moved_s),
        schedule=_schedule([reading.schedule for reading in readings]),
        censored_from_us=min(censored_us, default=None),
        method=_same(reading.method for reading in readings),
        document_bytes=_same(reading.document_bytes for reading in readings),
        server_software=first.server_software,
        kinds={
            label: merged_reading([reading.kinds[label] for reading in readings], starts)
            for label in first.kinds
            if all(label in reading.kinds for reading in readings)
        },
        records_taken=_all([reading.records_taken for reading in readings]),
        defects=tuple(dict.fromkeys(defect for reading in readings for defect in reading.defects)),
        **{name: _sum([getattr(reading, name) for reading in readings]) for name in _ADDED},
    )


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, texts)))


def _sum(values: Sequence[Any]) -> Any:
    return None if None in values else sum(values)


def _all(counts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return what all threads report; nothing where one tool reports nothing."""
    return tuple(count for count_ in counts for count in count_) if all(counts) else ()


def _same(values: Iterable[Any]) -> Any:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _counts(each: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for counts in each:
        total.update(counts)
    return dict(total)


def _added(histograms: Sequence[Histogram | None]) -> Histogram | None:
    known_histograms = [histogram for histogram in histograms if histogram is not None]
    return Histogram.added(known_histograms) if len(known_histograms) == len(histograms) else None


def _by_name(each: Sequence[Mapping[str, Histogram]]) -> dict[str, Histogram]:
    """Add what all have; a class of statuses that one never saw counts as empty there."""
    if not all(each):
        return {}
    names = dict.fromkeys(name for mapping in each for name in mapping)
    return {name: Histogram.added(table[name] for table in each if name in table) for name in names}


def _bodies(readings: Sequence[Reading]) -> tuple[Bodies, ...]:
    if not all(reading.bodies for reading in readings if reading.responses):
        return ()
    total: Counter[tuple[int, int]] = Counter()
    for body in (body for reading in readings for body in reading.bodies):
        total[body.status, body.length] += body.responses
    return tuple(
        Bodies(status=code, length=size, responses=count) for (code, size), count in total.items()
    )


def _sampled(readings: Sequence[Reading]) -> tuple[SampledBody, ...]:
    kinds: dict[tuple[int, int, str], SampledBody] = {}
    for body in (body for reading in readings for body in reading.sampled):
        key = body.status, body.length, body.sha256
        earlier = kinds.get(key)
        count = body.responses + (0 if earlier is None else earlier.responses)
        kinds[key] = (earlier or body).model_copy(update={"responses": count})
    return tuple(kinds.values())


def _series(each: Sequence[Series | None], later_s: Sequence[float]) -> Series | None:
    """Add the bins of all, each moved by how much later its load began."""
    known_series = [series for series in each if series is not None]
    if len(known_series) < len(each) or len({series.bin_s for series in known_series}) != 1:
        return None
    bin_s = known_series[0].bin_s
    moved = [round(later / bin_s) for later in later_s]
    if max(moved) > MOST_VALUES:
        return None

    def bins(part: Callable[[Series], Sequence[int]]) -> tuple[int, ...]:
        total = [0] * max(by + len(part(row)) for by, row in zip(moved, known_series, strict=True))
        for by, series in zip(moved, known_series, strict=True):
            for number, count in enumerate(part(series), by):
                total[number] += count
        return tuple(total)

    return Series(
        bin_s=bin_s,
        completed=bins(lambda series: series.completed),
        errors=bins(lambda series: series.errors),
    )


def _schedule(each: Sequence[Schedule | None]) -> Schedule | None:
    schedules = [schedule for schedule in each if schedule is not None]
    if not schedules or len(schedules) < len(each):
        return None
    return Schedule(
        rate=sum(schedule.rate for schedule in schedules),
        intended=_sum([schedule.intended for schedule in schedules]),
        sent=_sum([schedule.sent for schedule in schedules]),
        lateness=_added([schedule.lateness for schedule in schedules]),
        queueing=_added([schedule.queueing for schedule in schedules]),
    )
