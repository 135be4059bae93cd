"""The cases of a suite, by number: a case is made when it is asked for, and none is held."""

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Protocol

from benchforge.suite.cases.case import Case


class Group(Protocol):
    """The cases of one scenario, numbered from 0."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Case: ...

    def declared_s(self, number: int, /) -> float:
        """Return what the suite declares for one trial of a case, which is not made for that."""
        ...


class Cases:
    """The cases of all scenarios, one scenario after the other, numbered from 0."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = tuple(groups)
        self.starts = tuple(accumulate(map(len, groups), initial=0))
        "The number of each group's first case; the last is that of all cases."

    def __len__(self) -> int:
        return self.starts[-1]

    def __getitem__(self, number: int) -> Case:
        if not 0 <= number < len(self):
            raise IndexError(number)
        group = bisect(self.starts, number) - 1
        return self.groups[group][number - self.starts[group]]

    def __iter__(self) -> Iterator[Case]:
        return (group[number] for group in self.groups for number in range(len(group)))
