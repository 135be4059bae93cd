"""Counts of durations in the layout of HdrHistogram: three significant digits, in microseconds.

A bucket's number comes from the duration's highest 11 bits, so that the relative error of a
recorded value is below 1/1024. Source: hdrhistogram.org, Gil Tene.
"""

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, ItemsView, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Annotated, Self

from pydantic import AfterValidator, PlainSerializer

from benchforge.model.values.frozen import Frozen

_LAST = 1 << 16
"Number of the last bucket: more than 10^22 microseconds, whose bounds are still small numbers."


class Counts(Mapping[int, int]):
    """Positive counts by numbers from 0 on, in their order. Raises ValueError for others."""

    __slots__ = ("_counts", "_numbers")

    def __init__(self, counts: Mapping[int, int]) -> None:
        if counts and not (0 <= min(counts) <= max(counts) <= _LAST and min(counts.values()) > 0):
            raise ValueError(f"buckets are numbers from 0 to {_LAST}, and counts are positive")
        self._numbers, self._counts = _packed(counts), _packed(counts.values())

    def __getitem__(self, number: int) -> int:
        if number not in self._numbers:
            raise KeyError(number)
        return self._counts[self._numbers.index(number)]

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def items(self) -> ItemsView[int, int]:
        """Return each number with its count."""
        return dict(zip(self._numbers, self._counts, strict=True)).items()

    def ranked(self, rank: int) -> int | None:
        """Return the number whose counts reach a rank, from 1 on; None if all are too few."""
        numbers, ended = self.summed()
        index = bisect_left(ended, rank, 1)
        return numbers[index - 1] if index < len(ended) else None

    def summed(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return the numbers in order, and the sums of the counts before each and of all."""
        numbers, counts = sorted(self._numbers), self._counts
        if numbers != [*self._numbers]:  # somebody else wrote them
            counts = [*map(dict(self.items()).__getitem__, numbers)]
        return numbers, [0, *accumulate(counts)]

    def total(self) -> int:
        """Return the sum of the counts, without a dict."""
        return sum(self._counts)


def _packed(values: Collection[int]) -> Sequence[int]:
    exact = tuple(values)  # an array that grows while it is filled is larger
    largest = max(exact, default=0)
    code = next((c for c in "BHI" if not largest >> 8 * array(c).itemsize), "")
    return array(code, exact) if code else exact


_BITS = 11


def _bucket(value: int) -> int:
    exponent = max(0, value.bit_length() - _BITS)
    return (exponent << (_BITS - 1)) + (value >> exponent)


@cache  # there are some ten thousand, and each check of a trial walks through those it has
def _highest(bucket: int) -> int:
    exponent = max(0, (bucket >> (_BITS - 1)) - 1)
    return (((bucket - (exponent << (_BITS - 1))) + 1) << exponent) - 1


class Histogram(Frozen):
    """Number of occurrences of each duration; immutable, and empty without records."""

    unit: str = "us"
    "Unit of the values: microseconds."
    counts: Annotated[
        Mapping[int, int],
        AfterValidator(Counts),
        PlainSerializer(lambda counts: dict(counts.items()), dict[int, int]),
    ]
    "Count by number of the bucket, without empty buckets."
    sum_us: int
    "Sum of the exact values, in microseconds."
    max_us: int
    "Largest exact value, in microseconds; 0 if empty."

    @classmethod
    def of(cls, values: Mapping[int, int]) -> Self:
        """Return a record of durations in microseconds. Raises ValueError for a negative one."""
        counts: dict[int, int] = {}
        total = highest = 0
        for value, count in values.items():
            if value < 0 or count < 0:
                raise ValueError(f"cannot record {count} times {value} us")
            if count:
                bucket = _bucket(value)
                counts[bucket] = counts.get(bucket, 0) + count
                total += value * count
                highest = max(highest, value)
        return cls(counts=dict(sorted(counts.items())), sum_us=total, max_us=highest)

    @classmethod
    def added(cls, histograms: Iterable[Self]) -> Self:
        """Return the sum of several histograms."""
        counts, sums_us, highest_us = Counter[int](), [0], [0]
        for each in histograms:
            counts.update(dict(each.counts.items()))
            sums_us.append(each.sum_us)
            highest_us.append(each.max_us)
        return cls(counts=dict(sorted(counts.items())), sum_us=sum(sums_us), max_us=max(highest_us))

    def fault(self) -> str | None:
        """Return the contradiction between buckets and totals; None if there is none."""
        if _bucket(self.max_us) != max(self.counts, default=0):
            return f"the largest value, {self.max_us} us, is not in the last bucket"
        at_most = sum(_highest(bucket) * count for bucket, count in self.counts.items())
        at_least = sum((_highest(bucket - 1) + 1) * n for bucket, n in self.counts.items())
        if not at_least <= self.sum_us <= at_most:
            return f"the sum is {self.sum_us} us, the buckets allow {at_least} to {at_most}"
        return None

    def values(self) -> Iterator[tuple[int, int]]:
        """Yield each value in microseconds with its count, in order.

        It is the highest of its bucket, and never above the largest that was recorded.
        """
        for bucket, count in sorted(self.counts.items()):
            yield min(_highest(bucket), self.max_us), count

    @property
    def count(self) -> int:
        """Number of recorded durations."""
        assert isinstance(self.counts, Counts)  # noqa: S101 - its validator makes it
        return self.counts.total()

    def mean(self) -> float:
        """Return the mean of the exact values in microseconds. Raises ValueError if empty."""
        if not self.counts:
            raise ValueError("an empty histogram has no mean")
        return self.sum_us / self.count

    def between(self, from_us: float, to_us: float) -> int:
        """Return the number of durations from `from_us` to below `to_us`, in microseconds from 0.

        A bucket counts where its highest value does: an error of 1/1024 at the ends.
        """
        first = _bucket(math.ceil(from_us))
        end = math.inf if to_us == math.inf else _bucket(math.ceil(to_us))
        return sum(n for bucket, n in self.counts.items() if first <= bucket < end)

    def quantile(
        self, share: float, censored: int = 0, unfinished: Self | None = None
    ) -> int | None:
        """Return the smallest value with at least `share` of all at or below it, in microseconds.

        Type 1 of Hyndman and Fan, given as the highest value of its bucket (never above the
        largest that was recorded). `censored` requests took longer than anything recorded, and
        each of `unfinished` longer than its age there: with them it is the quantile of Kaplan and
        Meier. None when the answer lies among them, or there is nothing at all.
        """
        if unfinished is not None and unfinished.counts:
            return self._survived(share, censored, unfinished.counts)
        assert isinstance(self.counts, Counts)  # noqa: S101 - its validator makes it
        total = self.counts.total() + censored
        bucket = self.counts.ranked(max(1, math.ceil(share * total - 1e-9)))
        return None if bucket is None else min(_highest(bucket), self.max_us)

    def _survived(self, share: float, censored: int, unfinished: Mapping[int, int]) -> int | None:
        # Between two buckets of unfinished requests the product is one quotient.
        assert isinstance(self.counts, Counts)  # noqa: S101 - its validator makes it
        numbers, ended = self.counts.summed()
        waiting = dict(unfinished.items())
        surviving = ended[-1] + censored + sum(waiting.values())
        longer, first = 1.0, 0
        for bucket in [*sorted(waiting), _LAST]:
            end = bisect_right(numbers, bucket)
            if first < end:
                enough = ended[first] + surviving * (1 - (1 - share + 1e-9) / longer)
                index = bisect_left(ended, enough, first + 1, end + 1)
                if index <= end:
                    return min(_highest(numbers[index - 1]), self.max_us)
                longer *= 1 - (ended[end] - ended[first]) / surviving
            surviving -= ended[end] - ended[first] + waiting.get(bucket, 0)
            first = end
        return None
