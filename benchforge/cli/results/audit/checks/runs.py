"""Identities of times of runs: their statistics, and the ranks that runs and sittings resolve."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from benchforge.cli.results.audit.facts import amount, number, shown, value
from benchforge.cli.results.audit.finding import Evidences, Finding, check
from benchforge.parts.reader import Row
from benchforge.results.validity.identities import statistics_of
from benchforge.text import readable

_EXACT = 1e-6
_TWO, _NORMAL, _TO_SD = 2, 1.96, 1.4826
_FEWEST_ROWS = 10
"Rows that two sittings have, for their noise to be known."


@check("AR1", "impossible")
def computed(row: Row) -> Evidences:
    """Mean, deviation, median and extremes are those of the listed times."""
    if not row.times or not any(name in row.facts for name in _OF_TIMES):
        return None
    findings = []
    for name, (statistic, words) in _OF_TIMES.items():
        fact = number(row, name)
        if fact is None:
            continue
        right = [statistics_of(row.times)[statistic] or 0.0]
        right += [statistics.pstdev(row.times)] if name == "sd" else []
        room = _EXACT * max(row.times) + fact.resolution
        if any(abs(entry - float(fact.value)) <= room for entry in right):
            continue
        count = readable.counted(len(row.times), "listed time")
        numbers = f"{count} give {amount(right[0], 's')}, the row has {shown(fact)}"
        true_if = "the list leaves out runs, or is of another run"
        title = f"the {words} is not that of the listed times"
        findings.append(Finding(numbers, "", true_if, where=fact.origin, title=title))
    return findings


_OF_TIMES = {
    "mean": ("mean", "mean"),
    "sd": ("sd", "standard deviation"),
    "p50": ("median", "median"),
    "min": ("lowest", "minimum"),
    "max": ("highest", "maximum"),
}
"The name of each fact in the statistics of the times, and its words."


@check("AR2", "impossible")
def derived(row: Row) -> Evidences:
    """Operations per second and the sum follow from the mean."""
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
        numbers = f"a mean of {shown(mean)} gives {amount(right, unit)}, the row has {shown(fact)}"
        true_if = "the fields are of different runs"
        title = f"{words} does not follow from the mean"
        findings.append(Finding(numbers, "", true_if, where=fact.origin, title=title))
    return findings


@check(
    "AN1", "not resolved", "two neighbours in rank differ by less than their noise", scope="table"
)
def neighbours(name: str, rows: Sequence[Row]) -> Evidences:
    """Rows next to each other in rank differ by more than their noise."""
    ranked = sorted((row for row in rows if _spread(row) is not None), key=_mean)
    if len(ranked) < _TWO:
        return None
    pairs = list(pairwise(map(_Ranked, ranked)))
    findings = [
        Finding(
            f"{faster.row_name}: {amount(faster.mean, 's')} +- {amount(faster.error, 's')}, "
            f"{slower.row_name}: {amount(slower.mean, 's')} +- {amount(slower.error, 's')} "
            f"(standard errors of {faster.runs} and {slower.runs} runs)",
            "runs are independent of each other",
            row=slower.row_name,
            where=slower.where,
        )
        for faster, slower in pairs
        if slower.mean - faster.mean < _NORMAL * math.hypot(faster.error, slower.error)
    ]
    counts = [len(pairs), *[0] * len(findings)]
    return [replace(it, ranks=(1, n)) for it, n in zip(findings, counts, strict=False)]


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


def ranks(name: str, older: Mapping[str, float], newer: Mapping[str, float]) -> Finding | None:
    """Neighbours in rank differ by more than one row between two sittings. None: too few rows."""
    shared = [row for row, rate in newer.items() if rate > 0 and older.get(row, 0) > 0]
    if len(shared) < _FEWEST_ROWS:
        return None
    changes = [math.log(newer[row] / older[row]) for row in shared]
    middle = statistics.median(changes)
    spread = _TO_SD * statistics.median(abs(change - middle) for change in changes)
    pairs = list(pairwise(sorted((rate for rate in newer.values() if rate > 0), reverse=True)))
    # The change between two sittings has the noise of both, and so has that of two rows.
    inside = sum(math.log(more / less) < _NORMAL * spread for more, less in pairs)
    if not inside:
        return None
    return Finding(
        code="AN3",
        severity="not resolved",
        title="neighbours in rank differ by less than one row between two sittings",
        identity=f"{inside} of {len(pairs)} neighbouring pairs of {name}: the rate of "
        f"{len(shared)} rows changed by {readable.percent(math.expm1(spread))} (robust "
        "standard deviation)",
        rests_on="nothing that is measured changed between the sittings",
        true_if="versions, machine or load changed between the two",
        row=name,
        ranks=(inside, len(pairs)),
    )
