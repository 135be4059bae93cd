"""A bar of counts, as a page shows it."""

from typing import NamedTuple


class CountedState(NamedTuple):
    """A verdict as the style names it, how many claims have it, and its word."""

    kind: str
    number: int
    word: str
