"""What several load tools of one load report, as one reading.

Counts are added, and histograms bucket by bucket, which is exact: no percentile is ever averaged.
What only one tool alone can tell, such as percentiles without a histogram, is unknown of all.
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
    """Return the reading of all. `starts` are the begins of their loads on one clock, in seconds.

    The length is that from the first start to the last end.
    """
    first_s = min(starts)
    ends = [start + one.seconds for start, one in zip(starts, readings, strict=True)]
    first = readings[0]
    return Reading(
        seconds=max(ends) - first_s,
        doubt="; ".join(dict.fromkeys(one.doubt for one in readings if one.doubt)),
        by_length="; ".join(dict.fromkeys(one.by_length for one in readings if one.by_length)),
        statuses=_counts(one.statuses for one in readings),
        own_requests=any(one.own_requests for one in readings),
        errors=_counts(one.errors for one in readings),
        overlapping_errors=any(one.overlapping_errors for one in readings),
        bodies=_bodies(readings),
        sampled=_sampled(readings),
        latency=_added([one.latency for one in readings]),
        latency_by_status=_by_name([one.latency_by_status for one in readings]),
        service_time=_added([one.service_time for one in readings]),
        phases=_by_name([one.phases for one in readings]),
        in_flight=_added([one.in_flight for one in readings]),
        series=_series([one.series for one in readings], [start - first_s for start in starts]),
        schedule=_schedule([one.schedule for one in readings]),
        censored_from_us=min(
            (one.censored_from_us for one in readings if one.censored_from_us is not None),
            default=None,
        ),
        method=_same(one.method for one in readings),
        document_bytes=_same(one.document_bytes for one in readings),
        server_software=first.server_software,
        kinds={
            label: merged_reading([one.kinds[label] for one in readings], starts)
            for label in first.kinds
            if all(label in one.kinds for one in readings)
        },
        records_taken=_all([one.records_taken for one in readings]),
        defects=tuple(dict.fromkeys(defect for one in readings for defect in one.defects)),
        **{name: _sum([getattr(one, name) for one in readings]) for name in _ADDED},
    )


def _sum(values: Sequence[Any]) -> Any:
    return None if None in values else sum(values)


def _all(counts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return what all threads report; nothing where one tool reports nothing."""
    return tuple(count for one in counts for count in one) if all(counts) else ()


def _same(values: Iterable[Any]) -> Any:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _counts(each: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for counts in each:
        total.update(counts)
    return dict(total)


def _added(histograms: Sequence[Histogram | None]) -> Histogram | None:
    there = [one for one in histograms if one is not None]
    return Histogram.added(there) if len(there) == len(histograms) else None


def _by_name(each: Sequence[Mapping[str, Histogram]]) -> dict[str, Histogram]:
    """Add what all have; a class of statuses that one never saw counts as empty there."""
    if not all(each):
        return {}
    names = dict.fromkeys(name for one in each for name in one)
    return {name: Histogram.added(one[name] for one in each if name in one) for name in names}


def _bodies(readings: Sequence[Reading]) -> tuple[Bodies, ...]:
    if not all(one.bodies for one in readings if one.responses):
        return ()
    total: Counter[tuple[int, int]] = Counter()
    for body in (body for one in readings for body in one.bodies):
        total[body.status, body.length] += body.responses
    return tuple(
        Bodies(status=status, length=length, responses=count)
        for (status, length), count in total.items()
    )


def _sampled(readings: Sequence[Reading]) -> tuple[SampledBody, ...]:
    kinds: dict[tuple[int, int, str], SampledBody] = {}
    for body in (body for one in readings for body in one.sampled):
        key = body.status, body.length, body.sha256
        before = kinds.get(key)
        count = body.responses + (0 if before is None else before.responses)
        kinds[key] = (before or body).model_copy(update={"responses": count})
    return tuple(kinds.values())


def _series(each: Sequence[Series | None], later_s: Sequence[float]) -> Series | None:
    """Add the bins of all, each moved by how much later its load began."""
    there = [one for one in each if one is not None]
    if len(there) < len(each) or len({one.bin_s for one in there}) != 1:
        return None
    bin_s = there[0].bin_s
    moved = [round(later / bin_s) for later in later_s]
    if max(moved) > MOST_VALUES:
        return None

    def bins(of: Callable[[Series], Sequence[int]]) -> tuple[int, ...]:
        total = [0] * max(by + len(of(one)) for by, one in zip(moved, there, strict=True))
        for by, series in zip(moved, there, strict=True):
            for number, count in enumerate(of(series), by):
                total[number] += count
        return tuple(total)

    return Series(
        bin_s=bin_s,
        completed=bins(lambda series: series.completed),
        errors=bins(lambda series: series.errors),
    )


def _schedule(each: Sequence[Schedule | None]) -> Schedule | None:
    there = [one for one in each if one is not None]
    if not there or len(there) < len(each):
        return None
    return Schedule(
        rate=sum(one.rate for one in there),
        intended=_sum([one.intended for one in there]),
        sent=_sum([one.sent for one in there]),
        lateness=_added([one.lateness for one in there]),
        queueing=_added([one.queueing for one in there]),
    )
