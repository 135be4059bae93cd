"""What several load tools report together is what one would have reported."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import plain

from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Bodies, Reading, Schedule, Series
from benchforge.remote.session.merged import merged_reading

TIMES = st.lists(st.integers(0, 5_000_000), max_size=60)
SECONDS = st.floats(0.5, 10)


def reading(times: list[int], seconds: float = 1.0) -> Reading:
    count, histogram = len(times), Histogram.of(Counter(times))
    bodies = (Bodies(status=200, length=5, responses=count),) if times else ()
    fields: dict[str, Any] = {"statuses": {"200": count}, "errors": {"timeout": 1}}
    fields |= {"bodies": bodies, "latency": histogram, "latency_by_status": {"2xx": histogram}}
    fields |= {"received_bytes": 10 * count, "seconds": seconds}
    fields["schedule"] = Schedule(rate=50, intended=count, lateness=histogram)
    fields["series"] = Series(bin_s=0.1, completed=(count, 0), errors=(0, 1))
    return plain.reading(count, **fields)


@given(TIMES, TIMES)
def test_counts_and_histograms_are_those_of_all_requests(item: list[int], two: list[int]) -> None:
    merged, full = merged_reading([reading(item), reading(two)], [0, 0]), reading([*item, *two])
    for name in ("responses", "good", "statuses", "latency", "received_bytes", "bodies"):
        assert getattr(merged, name) == getattr(full, name)
    assert merged.latency_by_status["2xx"] == full.latency
    assert merged.errors == {"timeout": 2}
    assert merged.schedule is not None
    assert (merged.schedule.rate, merged.schedule.intended) == (100, len(item) + len(two))
    assert merged.schedule.lateness == full.latency


@given(SECONDS, SECONDS, st.floats(0, 3), st.floats(0, 3))
def test_a_load_lasts_from_the_first_start_to_the_last_end(
    item: float, two: float, first: float, second: float
) -> None:
    merged = merged_reading([reading([], item), reading([], two)], [first, second])
    assert merged.seconds == pytest.approx(max(first + item, second + two) - min(first, second))


def test_bins_are_moved_by_how_much_later_a_load_began() -> None:
    series = merged_reading([reading([1, 2, 3]), reading([4])], [7.0, 7.21]).series
    assert series is not None
    assert (series.completed, series.errors) == ((3, 0, 1, 0), (0, 1, 0, 1))


def test_what_one_tool_does_not_report_is_unknown_of_all() -> None:
    silent = reading([1]).model_copy(
        update={"latency": None, "received_bytes": None, "series": None, "schedule": None}
    )
    merged = merged_reading([reading([1]), silent], [0, 0])
    for name in ("latency", "received_bytes", "series", "schedule", "percentiles_us"):
        assert getattr(merged, name) is None
    assert merged.responses == 2


@given(TIMES, TIMES)
def test_kinds_of_a_mix_are_added_by_their_labels(item: list[int], two: list[int]) -> None:
    def of_mix(times: list[int]) -> Reading:
        of_pay = reading(times).model_copy(update={"not_reached": len(times)})
        update = {"kinds": {"pay": of_pay}, "records_taken": (len(times), 7)}
        return reading(times).model_copy(update={**update, "stream_began_again": 1})

    merged = merged_reading([of_mix(item), of_mix(two)], [0, 0])
    pay = merged.kinds["pay"]
    assert pay.responses == pay.not_reached == len(item) + len(two)
    assert pay.latency == reading([*item, *two]).latency
    assert merged.records_taken == (len(item), 7, len(two), 7)
    assert merged.stream_began_again == 2
    silent = of_mix(two).model_copy(update={"kinds": {}, "records_taken": ()})
    merged = merged_reading([of_mix(item), silent], [0, 0])
    assert (merged.kinds, merged.records_taken) == ({}, ())
