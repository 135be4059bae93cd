"""The histogram: against the sorted list, and against the reference implementation."""

import json
import math
import random
from collections import Counter

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from benchforge.model.trial import histogram as module
from benchforge.model.trial.histogram import Histogram

# Up to an hour, and mostly where latencies are.
durations = st.one_of(st.integers(0, 5000), st.integers(0, 3_600_000_000))
several = st.lists(durations, min_size=1, max_size=200)
shares = st.floats(0, 1)


def recorded(values: list[int]) -> Histogram:
    return Histogram.of(Counter(values))


@given(several, shares)
def test_a_quantile_is_that_of_the_sorted_list(values: list[int], share: float) -> None:
    rank = max(1, math.ceil(share * len(values) - 1e-9))
    exact = sorted(values)[rank - 1]
    got = recorded(values).quantile(share)
    assert got is not None
    assert exact <= got <= exact * (1 + 1 / 1024)


@given(several, shares, st.randoms())
def test_a_quantile_does_not_depend_on_the_order_of_the_buckets(
    values: list[int], share: float, chance: random.Random
) -> None:
    """A file of somebody else may have them in any order."""
    ordered = recorded(values)
    buckets = [*ordered.counts.items()]
    chance.shuffle(buckets)
    shuffled = Histogram(counts=dict(buckets), sum_us=ordered.sum_us, max_us=ordered.max_us)
    assert shuffled.quantile(share) == ordered.quantile(share)


@given(several, st.data())
def test_a_quantile_is_that_of_hdrhistogram(values: list[int], data: st.DataObject) -> None:
    reference = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        reference.record_value(value)
    rank = data.draw(st.integers(1, len(values)))
    theirs = reference.get_value_at_percentile(100 * rank / len(values))
    assert recorded(values).quantile(rank / len(values)) == min(theirs, max(values))


@given(several)
def test_count_mean_and_extremes_are_exact(values: list[int]) -> None:
    histogram = recorded(values)
    assert histogram.count == len(values)
    assert histogram.mean() == sum(values) / len(values)
    assert histogram.max_us == histogram.quantile(1) == max(values)


@given(several, st.lists(durations, min_size=1, max_size=40), st.integers(0, 9), shares)
def test_unfinished_requests_count_as_with_kaplan_and_meier(
    values: list[int], ages: list[int], censored: int, share: float
) -> None:
    finished, waiting = recorded(values), recorded(ages)
    at_risk, survival, expected = len(values) + len(ages) + censored, 1.0, None
    for bucket in sorted({*finished.counts, *waiting.counts}):
        ended = finished.counts.get(bucket, 0)
        survival *= 1 - ended / at_risk
        if ended and 1 - survival >= share - 1e-9:
            expected = next(v for v, _ in recorded(values).values() if module._bucket(v) == bucket)
            break
        at_risk -= ended + waiting.counts.get(bucket, 0)
    assert finished.quantile(share, censored, waiting) == expected


@given(several, st.integers(0, 300), shares)
def test_censored_requests_are_slowest(values: list[int], censored: int, share: float) -> None:
    beyond = 10**12
    rank = max(1, math.ceil(share * (len(values) + censored) - 1e-9))
    exact = (sorted(values) + [beyond] * censored)[rank - 1]
    assert (recorded(values).quantile(share, censored) is None) == (exact == beyond)


def test_small_values_are_exact() -> None:
    for value in range(2048):
        assert Histogram.of({value: 1, 10**6: 1}).quantile(0.5) == value


def test_an_empty_one_has_no_quantile_and_no_mean() -> None:
    empty = Histogram.of({})
    assert (empty.count, empty.quantile(0.5), empty.quantile(0.5, 3)) == (0, None, None)
    with pytest.raises(ValueError, match="no mean"):
        empty.mean()


@pytest.mark.parametrize("pair", [(-1, 1), (1, -1)])
def test_nothing_negative_is_recorded(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="cannot record"):
        Histogram.of(dict([pair]))


@pytest.mark.parametrize("counts", [{-1: 1}, {1: 0}, {1: -3}])
def test_counts_that_cannot_be_are_refused(counts: dict[int, int]) -> None:
    with pytest.raises(ValidationError):
        Histogram(counts=counts, sum_us=1, max_us=1)


@given(several, st.floats(0, 4e9), st.floats(0, 4e9) | st.just(math.inf))
def test_a_buckets_highest_value(values: list[int], from_us: float, to_us: float) -> None:
    buckets = recorded(values).counts.items()
    inside = (count for bucket, count in buckets if from_us <= module._highest(bucket) < to_us)
    assert recorded(values).between(from_us, to_us) == sum(inside)


@given(st.dictionaries(st.integers(0, 2**16), st.integers(1, 2**40)))
def test_counts_are_those_of_a_dict(counts: dict[int, int]) -> None:
    histogram = Histogram(counts=counts, sum_us=1, max_us=1)
    assert list(histogram.counts.items()) == list(counts.items())
    assert histogram.counts == counts
    assert dict(histogram.counts) == counts
    assert len(histogram.counts) == len(counts)
    assert -1 not in histogram.counts
    text = histogram.model_dump_json()
    assert text.startswith(f'{{"unit":"us","counts":{json.dumps(counts, separators=(",", ":"))}')
    assert Histogram.model_validate_json(text, strict=True) == histogram
