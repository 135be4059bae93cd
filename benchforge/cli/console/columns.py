"""Rows of words in columns, for a terminal; and an estimate as such a row has it."""

from collections.abc import Callable, Sequence

from benchforge.model.summary.verdict import Estimate
from benchforge.text import safe

NOTHING = "\N{EN DASH}"


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


def spread(estimate: Estimate, text: Callable[[float], str]) -> str:
    """Return a value with its interval, where it has one; `text` writes each number."""
    if estimate.value is None:
        return "unknown"
    if estimate.low is None or estimate.high is None:
        return text(estimate.value)
    return f"{text(estimate.value)} [{text(estimate.low)}{NOTHING}{text(estimate.high)}]"
