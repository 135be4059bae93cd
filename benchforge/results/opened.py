"""A result for programs: its summary, and rows that make a table of any library.

All names and fields of this module, and of `TrialValue`, are a promise: see docs/stability.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from benchforge.model.summary.doubts import disturbed, doubted
from benchforge.model.summary.rows import TrialValue, trial_values, vary_text
from benchforge.model.summary.summary import Summary
from benchforge.model.summary.verdict import ComparisonState
from benchforge.stats.summary.line import by_place

__all__ = ["BlockValue", "RatioValue", "Result", "TrialValue"]


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


class BlockValue(NamedTuple):
    """Value of a case in a block, as ratios are made of: neither unknown nor doubted."""

    scenario: str
    "Label of the scenario."
    server: str
    "Label of the server."
    driver: str
    "Label of the load tool or client."
    vary: str | None
    "Varied options as JSON; None without any."
    metric: str
    "Label of the metric."
    of: str | None
    "Part of the metric, such as p99; None for the whole."
    unit: str
    "Unit of the value."
    block: int
    "Number of the block, from 1."
    disturbed: bool
    "True if other processes disturbed the trial: it compares with such values only."
    value: float
    "Value."


@dataclass(frozen=True)
class Result:
    """A result. Each list of rows is what `polars.DataFrame` and `pandas.DataFrame` take."""

    summary: Summary
    "All that summary.json has."

    @cached_property
    def trials(self) -> list[TrialValue]:
        """Value of each metric in each trial, also unknown and doubted ones."""
        return list(trial_values(self.summary))

    @cached_property
    def blocks(self) -> list[BlockValue]:
        """Values that ratios are made of."""
        return list(_blocks(self.summary))

    @cached_property
    def ratios(self) -> list[RatioValue]:
        """Ratio of each pair of servers that are ranked; none with fewer than three blocks."""
        return list(_ratios(self.summary))


def _blocks(summary: Summary) -> Iterator[BlockValue]:
    for case in summary.cases:
        name = case.case
        labels = (name.scenario, name.server, name.driver, vary_text(name.vary))
        for line in case.metrics:
            believed = {sample.trial for sample in line.samples} - doubted(case, line)
            values = by_place(line, believed, disturbed(case, line))
            for (block, noisy), value in sorted(values.items()):
                measure = (line.metric, line.of, line.unit)
                yield BlockValue(*labels, *measure, block, noisy, value)


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
