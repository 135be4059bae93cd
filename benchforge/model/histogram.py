"""Counts of durations in the layout of HdrHistogram: three significant digits, in microseconds.

A bucket's number comes from the duration's highest 11 bits, so that the relative error of a
recorded value is below 1/1024. Source: hdrhistogram.org, Gil Tene.
"""

import math
from collections.abc import Mapping
from typing import Self

from pydantic import field_validator

from benchforge.model.frozen import Frozen

_BITS = 11


def _bucket(value: int) -> int:
    exponent = max(0, value.bit_length() - _BITS)
    return (exponent << (_BITS - 1)) + (value >> exponent)


def _highest(bucket: int) -> int:
    """The highest value of a bucket."""
    exponent = max(0, (bucket >> (_BITS - 1)) - 1)
    return (((bucket - (exponent << (_BITS - 1))) + 1) << exponent) - 1


class Histogram(Frozen):
    """How often each duration occurred; immutable, empty when nothing was recorded."""

    unit: str = "us"
    counts: dict[int, int]
    "Bucket number to count; only buckets that hold something."
    sum_us: int
    "The sum of the exact values, in microseconds."
    max_us: int
    "The largest exact value, in microseconds; 0 when empty."

    @field_validator("counts")
    @classmethod
    def _nothing_negative(cls, counts: dict[int, int]) -> dict[int, int]:
        if any(bucket < 0 or count <= 0 for bucket, count in counts.items()):
            msg = "buckets are not negative and counts are positive"
            raise ValueError(msg)
        return counts

    @classmethod
    def of(cls, values: Mapping[int, int]) -> Self:
        """Record durations in microseconds, each so often. Raises ValueError on a negative one."""
        counts: dict[int, int] = {}
        total = highest = 0
        for value, count in values.items():
            if value < 0 or count < 0:
                msg = f"cannot record {count} times {value} us"
                raise ValueError(msg)
            if count:
                bucket = _bucket(value)
                counts[bucket] = counts.get(bucket, 0) + count
                total += value * count
                highest = max(highest, value)
        return cls(counts=dict(sorted(counts.items())), sum_us=total, max_us=highest)

    @property
    def count(self) -> int:
        """How many durations were recorded."""
        return sum(self.counts.values())

    def mean(self) -> float:
        """The mean of the exact values in microseconds. Raises ValueError when empty."""
        if not self.counts:
            msg = "an empty histogram has no mean"
            raise ValueError(msg)
        return self.sum_us / self.count

    def quantile(self, share: float, censored: int = 0) -> int | None:
        """Return the smallest value with at least `share` of all at or below it, in microseconds.

        Type 1 of Hyndman and Fan, given as the highest value of its bucket (never above the
        largest that was recorded). `censored` requests took longer than anything recorded; None
        when the answer lies among them, or there is nothing at all.
        """
        total = self.count + censored
        rank = max(1, math.ceil(share * total - 1e-9))
        seen = 0
        for bucket, count in sorted(self.counts.items()):
            seen += count
            if seen >= rank:
                return min(_highest(bucket), self.max_us)
        return None
