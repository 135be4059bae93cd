"""Identities of several runs or rows: their statistics, ranks and noise, copies, sums, sizes."""

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from benchforge.cli.results.audit.facts import amount, interval, number, shown, value, word
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
    pairs = list(pairwise(ranked))
    findings = [
        Finding(
            f"{_with_error(faster)}, {_with_error(slower)} "
            f"(standard errors of {int(_runs(faster))} and {int(_runs(slower))} runs)",
            "runs are independent of each other",
            row=slower.name,
            where=slower.where,
        )
        for faster, slower in pairs
        if _mean(slower) - _mean(faster) < _NORMAL * math.hypot(_error(faster), _error(slower))
    ]
    counts = [len(pairs), *[0] * len(findings)]
    return [replace(it, ranks=(1, n)) for it, n in zip(findings, counts, strict=False)]


def _with_error(row: Row) -> str:
    return f"{row.name}: {amount(_mean(row), 's')} +- {amount(_error(row), 's')}"


def _error(row: Row) -> float:
    return (_spread(row) or 0.0) / math.sqrt(int(_runs(row)))


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


_SEVERAL = 3
"Rows whose mean is their p99: one alone may be chance."
_DIGITS = 12
"Digits that two rows must share to be copies: small numbers of runs agree by chance."
_MOST_BYTES = 1.6
_SUM = 0.01
_FACTS = ("rate", "requests", "mean", "sd", "max", "min", "p50", "p90", "p99", "byte_rate", "cpu")


@check("AX1", "false field", "a row is a copy of another one", scope="table")
def copies(name: str, rows: Sequence[Row]) -> Evidences:
    """No two rows have all their measured numbers in common."""
    if len(rows) < 2:  # noqa: PLR2004 - of one row there is no copy
        return None
    first: dict[tuple[tuple[str, float], ...], Row] = {}
    findings = []
    for row in rows:
        if "total" in row.facts:  # of one row, it is that row
            continue
        measured = tuple((entry, value(row, entry)) for entry in _FACTS if value(row, entry))
        if sum(_digits(number_) for _, number_ in measured) < _DIGITS:
            continue
        if (other := first.setdefault(measured, row)) is row:
            continue
        same = ", ".join(f"{entry} {shown(row.facts[entry])}" for entry, _ in measured)
        numbers = f"{row.name} and {other.name} have the same {same}"
        true_if = "both names are of one measurement"
        findings.append(Finding(numbers, "", true_if, row.name, row.where))
    return findings


def _digits(number_: float) -> int:
    return len(f"{number_:.12g}".replace(".", "").partition("e")[0].strip("0"))


@check("AX2", "false field", "the mean stands in the column of the p99", scope="table")
def mean_is_percentile(name: str, rows: Sequence[Row]) -> Evidences:
    """The mean and the p99 of a row are two numbers."""
    candidates = [row for row in rows if "mean" in row.facts and "p99" in row.facts]
    same = [row for row in candidates if value(row, "mean") == value(row, "p99") != 0]
    if not candidates:
        return None
    if len(same) < _SEVERAL:
        return []
    findings = []
    true_if = "all requests of each of these rows took the same time"
    for row in same:
        equal = f"mean {shown(row.facts['mean'])} = p99 {shown(row.facts['p99'])}"
        numbers = f"{equal}, in {len(same)} of {len(candidates)} rows of {name}"
        where = row.facts["p99"].origin or row.where
        findings.append(Finding(numbers, "", true_if, row.name, where))
    return findings


@check("AF1", "false field", "the column percentile99 holds another percentile", scope="table")
def misnamed(name: str, rows: Sequence[Row]) -> Evidences:
    """A column holds what its name says, as far as the publisher's own script shows."""
    listed = [row for row in rows if "p99" in row.facts]
    if not listed:
        return None
    wrong = [row for row in listed if row.facts["p99"].estimator.startswith("oha's p95")]
    if not wrong:
        return []
    return Finding(
        f"{len(wrong)} rows of {name}: {wrong[0].facts['p99'].estimator}",
        "the file was made by that script",
        "the column were called percentile95",
        row=f"{len(wrong)} rows",
        where=wrong[0].facts["p99"].origin,
    )


@check("AC6", "impossible", "the rows do not add up to their total", scope="table")
def sums(name: str, rows: Sequence[Row]) -> Evidences:
    """The rows of a table add up to its row of totals."""
    total = next((row for row in rows if "total" in row.facts), None)
    parts = [row for row in rows if "total" not in row.facts]
    if total is None or not parts:
        return None
    differ = []
    for fact in ("requests", "failed"):
        if number(total, fact) is None or any(number(row, fact) is None for row in parts):
            continue
        added = sum(value(row, fact) for row in parts)
        if abs(added - value(total, fact)) > _SUM * max(added, 1.0):
            whole = readable.exact(value(total, fact))
            differ.append(f"the rows have {readable.exact(added)} {fact}, {total.name} has {whole}")
    counted = [row for row in parts if value(row, "requests") and number(row, "mean")]
    requests = sum(value(row, "requests") for row in counted)
    mean = number(total, "mean")
    if mean is not None and requests and not differ:
        right = sum(value(row, "requests") * value(row, "mean") for row in counted) / requests
        if abs(right - float(mean.value)) > _SUM * right + mean.resolution:
            average = f"the means of the rows average {amount(right, 's')}"
            differ.append(f"{average}, {total.name} has {shown(mean)}")
    true_if = "rows were removed, or the total is of another run"
    return [Finding(numbers, "", true_if, total.name, total.where) for numbers in differ]


@check(
    "AB4", "unsupported", "its responses have another size than those of the others", scope="table"
)
def sizes(name: str, rows: Sequence[Row]) -> Evidences:
    """Responses of one test have about one size."""
    each: dict[str, float] = {}
    by_protocol: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        rates, per = interval(row, "rate"), interval(row, "byte_rate")
        if rates is not None and per is not None and word(row, "protocol") != "WebSocket":
            each[row.name] = (per / rates).low
            by_protocol[word(row, "protocol")].append(row)
    if max(map(len, by_protocol.values()), default=0) < _SEVERAL:
        return None
    findings = []
    rests = "all rows send the same requests, and have the same right answer"
    true_if = "it compresses differently, sends more headers, or answers something else"
    for same in by_protocol.values():
        middle = statistics.median(each[row.name] for row in same)
        others = f"the median of {len(same)} rows of {name} is {amount(middle, 'B')}"
        for row in same:
            size = each[row.name]
            if middle and not middle / _MOST_BYTES <= size <= middle * _MOST_BYTES:
                numbers = f"{amount(size, 'B')} a response; {others}"
                times = max(size, middle) / max(min(size, middle), 1e-6)
                place = row.name, row.where
                findings.append(Finding(numbers, rests, true_if, *place, factor=times))
    return findings


@check("AN2", "unknown", "it is unknown which ranks are noise", scope="table")
def unknown_spread(name: str, rows: Sequence[Row]) -> Evidences:
    """A ranking needs more than one run of each row."""
    ranked = [row for row in rows if "rate" in row.facts or "requests" in row.facts]
    if len(ranked) < 2 or not name or any("total" in row.facts for row in rows):  # noqa: PLR2004
        return None
    if any(row.times or "processes" in row.facts or "sum" in row.facts for row in ranked):
        return None
    if "samples" in name.split():
        return None
    return Finding(
        f"{len(ranked)} rows, each with one number and no spread between runs",
        true_if="the table stated the numbers of several runs of each row",
        row=name,
        where=ranked[0].where,
    )
