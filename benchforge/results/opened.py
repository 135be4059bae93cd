"""A result for programs: its summary, and rows that make a table of any library.

All names and fields of this module, and of `TrialValue`, are a promise: see docs/stability.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from benchforge.model.summary.doubts import disturbed
from benchforge.model.summary.rows import TrialValue, trial_values, vary_text
from benchforge.model.summary.summary import Summary
from benchforge.model.summary.verdict import ComparisonState

__all__ = ["OpenedResult", "RatioValue", "TrialValue"]


class RatioValue(NamedTuple):
    """Ratio of two servers in a metric that ranks them."""

    scenario: str
    "Label of the scenario."
    driver: str
    "Label of the load tool; empty if clients are compared."
    vary: str | None
    "Varied options that both have, as JSON; None without any."
    metric: str
    "Label of the metric."
    of: str | None
    "Part of the metric, such as p99; None for the whole."
    first: str
    "Label of the better server or client, with its own varied options."
    second: str
    "Label of the other one."
    ratio: float | None
    "Ratio first / second of the metric's values; None if unknown."
    low: float | None
    "Lower end of an interval that holds for all pairs of the comparison together."
    high: float | None
    "Upper end of it."
    level: float
    "Confidence level of the interval, such as 0.95."
    blocks: int
    "Number of blocks behind the ratio."
    differ: bool
    "True if the two are shown to differ."
    state: ComparisonState | None
    "Verdict on the comparison: a ratio may be quoted if it is decided. None: an older result."


@dataclass(frozen=True)
class OpenedResult:
    """A result. Each list of rows is what `polars.DataFrame` and `pandas.DataFrame` take."""

    summary: Summary
    "All that summary.json has."

    @cached_property
    def trials(self) -> list[TrialValue]:
        """Value of each metric in each trial, also unknown and doubted ones."""
        return list(trial_values(self.summary))

    @cached_property
    def blocks(self) -> list[TrialValue]:
        """Trials that ratios are made of: those with a value that is believed, or disturbed.

        Disturbed values are compared with those of their block; their `believed` is False.
        """
        noisy = {
            (case.case.title, line.metric, line.of): disturbed(case, line)
            for case in self.summary.cases
            for line in case.metrics
        }
        return [
            row
            for row in self.trials
            if row.value is not None
            and not row.lower_bound
            and (row.believed is not False or row.trial in noisy[row.case, row.metric, row.of])
        ]

    @cached_property
    def ratios(self) -> list[RatioValue]:
        """Ratio of each pair of servers that are ranked; none with fewer than three blocks."""
        return list(_ratios(self.summary))


def _ratios(summary: Summary) -> Iterator[RatioValue]:
    for comparison in summary.comparisons:
        state = None if comparison.verdict is None else comparison.verdict.state
        labels = (comparison.scenario, comparison.driver, vary_text(comparison.vary))
        for ranked in comparison.rankings:
            for pair in ranked.ranking.pairs if ranked.ranking else ():
                estimate, names = pair.simultaneous, (pair.first, pair.second)
                interval = (estimate.value, estimate.low, estimate.high, estimate.level)
                yield RatioValue(
                    *(*labels, ranked.metric, ranked.of, *names),
                    *(*interval, estimate.n, pair.differ, state),
                )
