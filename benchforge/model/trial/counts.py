"""Counts by number, in a tenth of the memory of a dict: a result has thousands of histograms."""

from array import array
from collections.abc import Collection, ItemsView, Iterator, Mapping, Sequence


class Counts(Mapping[int, int]):
    """Positive counts by numbers that are not negative, in the given order.

    A dict is made where they are read. Raises ValueError for other counts and numbers.
    """

    __slots__ = ("_counts", "_numbers")

    def __init__(self, counts: Mapping[int, int]) -> None:
        if counts and (min(counts) < 0 or min(counts.values()) <= 0):
            raise ValueError("buckets are not negative and counts are positive")
        self._numbers, self._counts = _packed(counts), _packed(counts.values())

    def __getitem__(self, number: int) -> int:
        if number not in self._numbers:
            raise KeyError(number)
        return self._counts[self._numbers.index(number)]

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def items(self) -> ItemsView[int, int]:
        """Return each number with its count."""
        return dict(zip(self._numbers, self._counts, strict=True)).items()

    def total(self) -> int:
        """Return the sum of the counts, without a dict."""
        return sum(self._counts)


def _packed(values: Collection[int]) -> Sequence[int]:
    exact = tuple(values)  # an array that grows while it is filled is larger
    largest = max(exact, default=0)
    code = next((c for c in "BHI" if not largest >> 8 * array(c).itemsize), "")
    return array(code, exact) if code else exact
