"""Compact letters: two servers share a letter exactly when no difference was found."""

from collections.abc import Callable
from itertools import combinations
from string import ascii_letters

_MOST = 500  # columns: nobody reads so many, and random relations make more of them than atoms


def letters(k: int, differ: Callable[[int, int], bool]) -> tuple[str, ...] | None:
    """Return the letters of each of k servers, which stand in the order of their ranks.

    `differ(i, j)` is asked for i < j. None where it would take more than 500 letters. Letters
    after z and Z are numbers in brackets. Insert-absorb, Piepho 2004, J. Comp. Graph. Stat. 13.
    """
    columns = [frozenset(range(k))]
    for i, j in combinations(range(k), 2):
        if differ(i, j):
            columns = _absorbed(columns, i, j)
        if len(columns) > _MOST:
            return None
    columns.sort(key=sorted)
    return tuple(
        "".join(_letter(at) for at, column in enumerate(columns) if i in column) for i in range(k)
    )


def _absorbed(columns: list[frozenset[int]], i: int, j: int) -> list[frozenset[int]]:
    """Return columns of which none holds both, and none is part of another."""
    kept = [column for column in columns if not {i, j} <= column]
    split = {column - {each} for column in columns if {i, j} <= column for each in (i, j)}
    return kept + [
        part
        for part in split
        if not any(part <= column for column in kept) and not any(part < other for other in split)
    ]


def _letter(at: int) -> str:
    return ascii_letters[at] if at < len(ascii_letters) else f"({at + 1})"
