"""Rows of words in columns, for a terminal, and estimates for such rows."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from benchforge.text import safe
from benchforge.text.readable import counted, exact, percent, spoken

if TYPE_CHECKING:  # `plugins list` needs no model
    from benchforge.model.suite.until import Until
    from benchforge.model.summary.verdict import Estimate

NOTHING = "\N{EN DASH}"


def columns(rows: Sequence[Sequence[str]], left_aligned: int) -> list[str]:
    """Return lines with their words in columns; the first `left_aligned` begin at the left.

    Words keep to their line, whatever they contain: labels come from anybody.
    """
    clean = [[safe.word(word) for word in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*clean, strict=True)]
    return [
        "  ".join(
            word.ljust(width) if index < left_aligned else word.rjust(width)
            for index, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in clean
    ]


def spread(estimate: "Estimate", text: Callable[[float], str]) -> str:
    """Return a value with its interval, where it has one; `text` writes each number."""
    if estimate.value is None:
        return "unknown"
    if estimate.low is None or estimate.high is None:
        return text(estimate.value)
    return f"{text(estimate.value)} [{text(estimate.low)}{NOTHING}{text(estimate.high)}]"


def amount(cases: int, blocks: int, trials: tuple[int, int], until: "Until | None") -> str:
    """Return cases, blocks (all, or the most) and trials (fewest, most) in words."""
    if until is None:
        most = "" if trials[1] == cases * blocks else "at most "
        in_blocks, total = f"{most}{counted(blocks, 'block')}", counted(trials[1], "trial")
    else:
        in_blocks, total = f"{_between(until.least, blocks)} blocks", f"{_between(*trials)} trials"
    return f"{counted(cases, 'case')}, {in_blocks}: {total}"


def awaited(until: "Until") -> str:
    """Return the rule that ends a run without a number of blocks, in words."""
    wide = f"no interval of {percent(until.level)} is wider than {until.in_words} to a side"
    decided = "each claim is decided at all looks together, or until "
    return f"blocks are added until {decided * (until.method == 'decision')}{wide}"


def lasts(fewest_s: float, most_s: float) -> str:
    """Return the duration of a run, from the fewest blocks to the most."""
    durations = dict.fromkeys(map(spoken, (fewest_s, most_s)))
    return f"about {' to '.join(durations)}"


def _between(fewest: int, most: int) -> str:
    return exact(most) if fewest == most else f"{exact(fewest)} to {exact(most)}"
