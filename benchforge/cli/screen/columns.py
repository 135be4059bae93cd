"""Rows of words in columns, for a terminal; and a number as such a row has it."""

from collections.abc import Sequence

from benchforge import safe
from benchforge.model.summary.verdict import Estimate

NOTHING = "\N{EN DASH}"
_WHOLE_FROM = 999.5
_MILLI, _MEGA = 1e-3, 1e6


def columns(rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """Return lines with their words below one another; the first `left` columns begin at the left.

    What is in the words stays in its line: labels come from anybody.
    """
    clean = [[safe.word(word) for word in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*clean, strict=True)]
    return [
        "  ".join(
            word.ljust(width) if place < left else word.rjust(width)
            for place, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in clean
    ]


def scale(unit: str, value: float | None) -> tuple[str, float]:
    """Return in which unit a number reads best, and by what it is multiplied then."""
    size = abs(value or 0.0)
    if unit == "s" and 0 < size < 1:
        return ("ms", 1e3) if size >= _MILLI else ("µs", 1e6)
    if unit in {"B", "B/s"} and size >= _MEGA:
        return f"M{unit}", 1e-6
    return ("" if unit == "1" else unit), 1.0


def number(value: float | None, factor: float = 1.0) -> str:
    """Return a number with four digits that mean something, or that it is not known."""
    if value is None:
        return "unknown"
    value *= factor
    return f"{value:,.0f}" if abs(value) >= _WHOLE_FROM else f"{value:.4g}"


def spread(estimate: Estimate, factor: float = 1.0) -> str:
    """Return a value with its interval, where it has one."""
    value = number(estimate.value, factor)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{number(estimate.low, factor)}{NOTHING}{number(estimate.high, factor)}]"


def times(ratio: float | None) -> str:
    """Return a ratio to three decimals, or that there is none."""
    return NOTHING if ratio is None else f"{ratio:.3f}"


def times_spread(estimate: Estimate) -> str:
    """Return a ratio with its interval, where it has one."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return times(estimate.value)
    return f"{times(estimate.value)} [{times(estimate.low)}{NOTHING}{times(estimate.high)}]"
