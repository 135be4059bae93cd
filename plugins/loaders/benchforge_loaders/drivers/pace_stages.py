"""A load whose rate changes: when its requests are due, and what each stage counts."""

import math
from bisect import bisect_right
from itertools import accumulate

from pace_tally import Histogram

SECOND = 1_000_000_000


def parsed(text):
    """Return stages as (requests/s at the begin, at the end, seconds)."""
    return [tuple(map(float, stage.split(":"))) for stage in text.split(",")]


def inverse(stages):
    """Return the function from the number of a request to the ns at which it is due.

    It is that of the expected numbers, from 0; beyond the last stage there is none.
    """
    ends = list(accumulate((a + b) / 2 * s for a, b, s in stages))
    starts = [0.0, *accumulate(s for _, _, s in stages)]

    def due(number):
        place = bisect_right(ends, number)
        if place == len(stages):
            return None
        begin, end, seconds = stages[place]
        left = number - (ends[place - 1] if place else 0.0)
        slope = (end - begin) / seconds
        # The smaller root of slope / 2 t^2 + begin t = left, without a difference of equals.
        root = math.sqrt(max(0.0, begin * begin + 2 * slope * left))
        after = 2 * left / (begin + root) if begin + root else 0.0
        return int((starts[place] + min(after, seconds)) * SECOND)

    return due


class Course:
    """The counts of each stage, by the moment at which a request was due."""

    def __init__(self, stages, begin):
        self._ends = [begin + int(end * SECOND) for end in accumulate(s for _, _, s in stages)]
        self._latency = [Histogram() for _ in stages]
        self._failed = [0] * len(stages)
        self._in_flight = [0] * len(stages)

    def _place(self, intended):
        return min(bisect_right(self._ends, intended), len(self._ends) - 1)

    def answered(self, intended, us):
        self._latency[self._place(intended)].record(us)

    def failed(self, intended):
        self._failed[self._place(intended)] += 1

    def unfinished(self, intended):
        self._in_flight[self._place(intended)] += 1

    def printed(self):
        rows = zip(self._latency, self._failed, self._in_flight, strict=True)
        names = "durations", "failed", "in_flight"
        return {
            "stages": [
                dict(zip(names, (one.printed(), *counts), strict=True)) for one, *counts in rows
            ]
        }
