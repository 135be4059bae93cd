"""h2load's log: a line for each request, and which clients were silent when the load ended."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

from benchforge.plugin.load_tools import BAD

_LINE = re.compile(r"(\d{16})\t(-1|0|[1-9]\d\d)\t(\d{1,10})")
# A request that was in the tool when its connection ended: it has no start, and no length.
_NEVER_SENT = re.compile(r"0\t-1\t\d{1,16}")
# Between a response and the next request a client is in neither: many looks, and the best counts.
_LOOKS = 32


@dataclass(frozen=True)
class Log:
    """Every request that ended; `spans` are microseconds since 1970 from its start to its end."""

    spans: tuple[tuple[int, int], ...]
    "Start and end of each request that was sent."
    durations: Mapping[int, int]
    "Number of responses by duration in microseconds."
    statuses: Mapping[int, int]
    "Number of responses by status; h2load gives 0 to a status line without a reason."
    failed: int
    "Requests without a whole response, sent or not."

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the log. Raises ValueError that names the line that is not one."""
        spans: list[tuple[int, int]] = []
        durations: Counter[int] = Counter()
        statuses: Counter[int] = Counter()
        failed = 0
        for number, line in enumerate(text.splitlines(), 1):
            if _NEVER_SENT.fullmatch(line):
                failed += 1
                continue
            match = _LINE.fullmatch(line)
            if not match:
                raise ValueError(f"line {number} is no line of a request: {line[:60]!r}")
            start, status, lasted = int(match[1]), int(match[2]), int(match[3])
            spans.append((start, start + lasted))
            if status < 0:
                failed += 1
                continue
            durations[lasted] += 1
            statuses[status] += 1
        return cls(tuple(spans), durations, statuses, failed)

    @property
    def bad(self) -> int:
        """How many responses had a status of 400 or more."""
        return sum(count for status, count in self.statuses.items() if status >= BAD)

    @property
    def complete(self) -> int:
        """How many responses were whole."""
        return sum(self.statuses.values())

    @property
    def thinned_s(self) -> float:
        """Seconds from the first request until as many as ever were under way for the last time."""
        steps = sorted(
            [(start, 1) for start, _ in self.spans] + [(end, -1) for _, end in self.spans]
        )
        under_way = list(accumulate(step for _, step in steps))
        most = max(under_way)
        last = max(place for place, count in enumerate(under_way) if count == most)
        return (steps[last + 1][0] - steps[0][0]) / 1e6

    def silent(self, slots: int, seconds: float) -> int:
        """Return how many of so many slots were waiting at the end for longer than any other did.

        A slot is a client, or one stream of it; it always has a request under way. So those that
        still answer are seen in the log one longest response before the end: each of them ends a
        request between then and the end. Two of the longest back a look may be just between two.
        """
        if not self.spans:
            return slots
        end = min(start for start, _ in self.spans) + round(seconds * 1e6)
        longest = max(until - start for start, until in self.spans)
        looks = [end - longest - longest * look // _LOOKS for look in range(_LOOKS)]
        late = [span for span in self.spans if span[1] > looks[-1] and span[0] <= looks[0]]
        seen = max(sum(start <= look < until for start, until in late) for look in looks)
        return max(0, slots - seen)
