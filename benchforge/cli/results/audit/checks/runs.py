"""Times of single runs: what is computed from them, and what they can tell apart."""

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

from benchforge.cli.results.audit.facts import amount, number, shown, value
from benchforge.cli.results.audit.finding import Finding
from benchforge.parts.reader import Row
from benchforge.results.validity.identities import statistics_of
from benchforge.text import readable

_EXACT = 1e-6
_TWO, _NORMAL = 2, 1.96


def computed(row: Row) -> Sequence[Finding] | None:
    """AR1: mean, deviation, median and extremes are those of the listed times."""
    if not row.times or not any(name in row.facts for name in _OF_TIMES):
        return None
    findings = []
    for name, (statistic, words) in _OF_TIMES.items():
        fact = number(row, name)
        if fact is None:
            continue
        right = _right(statistic, row.times)
        if any(
            abs(entry - float(fact.value)) <= _EXACT * max(row.times) + fact.resolution
            for entry in right
        ):
            continue
        count = readable.counted(len(row.times), "listed time")
        findings.append(
            Finding(
                "AR1",
                "impossible",
                f"the {words} is not that of the listed times",
                f"{count} give {amount(right[0], 's')}, the row has {shown(fact)}",
                true_if="the list leaves out runs, or is of another run",
                where=fact.origin,
            )
        )
    return findings


_OF_TIMES = {
    "mean": ("mean", "mean"),
    "sd": ("sd", "standard deviation"),
    "p50": ("median", "median"),
    "min": ("lowest", "minimum"),
    "max": ("highest", "maximum"),
}
"The name of each fact in the statistics of the times, and its words."


def _right(name: str, times: Sequence[float]) -> list[float]:
    right = statistics_of(times)[name]
    return [right or 0.0, statistics.pstdev(times)] if name == "sd" else [right or 0.0]


def derived(row: Row) -> Sequence[Finding] | None:
    """AR2: operations per second and the sum follow from the mean."""
    mean, rounds = number(row, "mean"), value(row, "requests")
    per_second, total = number(row, "per_second"), number(row, "sum")
    if mean is None or not mean.value or (per_second is None and total is None):
        return None
    findings = []
    pairs = [("operations per second", per_second, 1 / float(mean.value), "1/s")]
    if rounds:
        pairs.append(("the sum", total, float(mean.value) * rounds, "s"))
    for words, fact, right, unit in pairs:
        if fact is None or abs(float(fact.value) - right) <= _EXACT * right + fact.resolution:
            continue
        findings.append(
            Finding(
                "AR2",
                "impossible",
                f"{words} does not follow from the mean",
                f"a mean of {shown(mean)} gives {amount(right, unit)}, the row has {shown(fact)}",
                true_if="the fields are of different runs",
                where=fact.origin,
            )
        )
    return findings


def neighbours(name: str, rows: Sequence[Row]) -> Sequence[Finding] | None:
    """AN1: rows next to each other in rank differ by more than their noise."""
    ranked = sorted((row for row in rows if _spread(row) is not None), key=_mean)
    if len(ranked) < _TWO:
        return None
    return [
        Finding(
            "AN1",
            "not resolved",
            "two neighbours in rank differ by less than their noise",
            f"{faster.row_name}: {amount(faster.mean, 's')} +- {amount(faster.error, 's')}, "
            f"{slower.row_name}: {amount(slower.mean, 's')} +- {amount(slower.error, 's')} "
            f"(standard errors of {faster.runs} and {slower.runs} runs)",
            "runs are independent of each other",
            row=slower.row_name,
            where=slower.where,
        )
        for faster, slower in pairwise([_Ranked(row) for row in ranked])
        if slower.mean - faster.mean < _NORMAL * math.hypot(faster.error, slower.error)
    ]


class _Ranked:
    """A row with its mean, and the standard error of that."""

    def __init__(self, row: Row) -> None:
        self.row_name, self.where, self.mean = row.name, row.where, _mean(row)
        self.runs = int(_runs(row))
        self.error = (_spread(row) or 0.0) / math.sqrt(self.runs)


def _mean(row: Row) -> float:
    return statistics.fmean(row.times) if row.times else value(row, "mean")


def _runs(row: Row) -> float:
    return float(len(row.times)) or value(row, "requests")


def _spread(row: Row) -> float | None:
    """Return the deviation of a run; None where it is not known, or where rows are single loads."""
    if len(row.times) > 1:
        return statistics.stdev(row.times)
    if "rate" in row.facts or "sum" not in row.facts or _runs(row) < _TWO:
        return None
    return value(row, "sd")
