"""A load whose rate changes: when its requests are due, and what each stage counts."""

import math
from bisect import bisect_right
from itertools import accumulate, islice

from pace_tally import Histogram

SECOND = 1_000_000_000
PART, MOST_PARTS = 1000, 20  # requests of a part of a stage, so that it has a p99; parts of a stage


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


def parts_of(stage):
    """Return the number of equal parts in which a stage is counted."""
    begin, end, seconds = stage
    return max(1, min(MOST_PARTS, int((begin + end) / 2 * seconds / PART)))


class Course:
    """The counts of each part of each stage, by the moment at which a request was due."""

    def __init__(self, stages, begin):
        self._parts = [parts_of(stage) for stage in stages]
        self._ends, start = [], 0.0
        for (_, _, seconds), parts in zip(stages, self._parts, strict=True):
            ends = (start + seconds * (n + 1) / parts for n in range(parts))
            self._ends += [begin + int(end * SECOND) for end in ends]
            start += seconds
        self._latency = [Histogram() for _ in self._ends]
        self._failed = [0] * len(self._ends)
        self._in_flight = [0] * len(self._ends)

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
        parts = (dict(zip(names, (one.printed(), *counts), strict=True)) for one, *counts in rows)
        return {"stages": [list(islice(parts, number)) for number in self._parts]}
