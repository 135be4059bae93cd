"""The run graph: all measurements in their order.

A block is one pass over all groups in shuffled order, each group's cases back to back in an order
that is balanced over the blocks. With a fixed order, drift makes two identical servers differ in
26 to 74 % of all sessions; with this one in about 5 %. Iteration draws the order and makes cases.
"""

import math
import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, takewhile
from typing import NamedTuple

from benchforge.model.suite.until import Until
from benchforge.model.values.case_name import comparison
from benchforge.suite.cases.case import Case
from benchforge.suite.cases.expand import Cases
from benchforge.suite.suite import Repeat

START_AND_STOP_S = 1.5
"What a trial takes beyond what it declares: a guess, until trials have been measured."


class Step(NamedTuple):
    """A place in the order, and the number of the case that is measured there."""

    block: int
    "Number of the block, from 1."
    position: int
    "Position in the block, from 1."
    number: int
    "Index of the case, from 0, in the order of the suite."
    seed: int


@dataclass(frozen=True)
class Measurement:
    """One measurement of a case, with nothing else running."""

    block: int
    "Number of the block, from 1."
    position: int
    "Position in the block, from 1."
    case: Case
    seed: int
    "PYTHONHASHSEED of its servers: sampled, because a fixed one gives a precise wrong answer."
    run_seed: int = 0
    "Seed of the run; with the block it makes the stream of a mix."


@dataclass(frozen=True)
class RunGraph:
    """All measurements in their order: each time it is walked, the same."""

    seed: int
    cases: Cases
    rounds: tuple[int, ...]
    "Number of blocks of each group; with `until` or a search, the maximum."
    until: Until | None = None
    "Rule that ends the run early; None with a number of blocks, or with searches only."

    @property
    def least(self) -> int:
        """Minimum number of blocks, without those of searches."""
        return self.blocks if self.until is None else self.until.least

    def __len__(self) -> int:
        return sum(self.before(self.blocks + 1))

    @property
    def blocks(self) -> int:
        """Of the group that takes part in most."""
        return max(self.rounds, default=0)

    @property
    def fewest(self) -> int:
        """Number of measurements in the minimum number of blocks."""
        return sum(self.before(self.least + 1))

    @cached_property
    def once(self) -> frozenset[str]:
        """Labels of scenarios of which a place is measured once, whatever spoils it."""
        firsts = (group[0] for group in self.cases.groups if len(group))
        return frozenset(first.name.scenario for first in firsts if first.once)

    def before(self, block: int) -> list[int]:
        """Return how many measurements of each group stand before a block."""
        sizes = map(len, self.cases.groups)
        return [size * min(most, block - 1) for size, most in zip(sizes, self.rounds, strict=True)]

    def __iter__(self) -> Iterator[Measurement]:
        for step in self.steps():
            case = self.cases[step.number]
            yield Measurement(step.block, step.position, case, step.seed, self.seed)

    def together(self, first: Measurement) -> Iterator[Measurement]:
        """Yield all measurements of a block that take turns with one of them, itself too."""
        turns = first.case.turns
        group = comparison if turns is None else turns.group
        for step in takewhile(lambda step: step.block <= first.block, self.steps()):
            if step.block == first.block:
                case = self.cases[step.number]
                if group(case.name) == group(first.case.name):
                    yield Measurement(step.block, step.position, case, step.seed, self.seed)

    def steps(self) -> Iterator[Step]:
        """Yield the order alone; no case is made."""
        return steps([len(group) for group in self.cases.groups], self.rounds, self.seed)

    @property
    def declared_s(self) -> float:
        """Declared length of all measurements in seconds, without starts and stops."""
        return math.fsum(self.declared_by_group_s)

    @cached_property
    def declared_by_group_s(self) -> tuple[float, ...]:
        """Declared length of all blocks of each group, in seconds."""
        return tuple(
            rounds * math.fsum(map(group.declared_s, range(len(group))))
            for group, rounds in zip(self.cases.groups, self.rounds, strict=True)
        )


def plan(cases: Cases, repeat: Repeat, seed: int, *, decides: bool = False) -> RunGraph:
    """Order the measurements, by claims if it `decides`; one seed gives one order at any length."""
    firsts = [group[0] if len(group) else None for group in cases.groups]
    searches = any(first is not None and first.find is not None for first in firsts)
    until = None if searches else repeat.amount(decides=decides)  # a suite that has both is refused
    blocks = repeat.blocks if until is None else until.most
    rounds = (blocks if first is None else _rounds(first, repeat, blocks) for first in firsts)
    return RunGraph(seed, cases, tuple(rounds), until)


def _rounds(first: Case, repeat: Repeat, blocks: int) -> int:
    if first.find is not None:
        return first.find.rounds
    count = first.blocks or blocks
    if repeat.until is not None:  # nobody waits for what is measured in fewer blocks
        count = min(count, blocks)
    return min(count, repeat.bridge) if first.bridge else count


def steps(sizes: Sequence[int], rounds: Sequence[int], seed: int) -> Iterator[Step]:
    """Yield the order of groups by their numbers of cases and blocks; one seed gives one order."""
    rng = _seeded(seed)
    orders = [
        (most, _orders(start, size, _seeded(rng.getrandbits(64))))
        for start, size, most in zip(accumulate(sizes, initial=0), sizes, rounds, strict=False)
        if size
    ]
    for block in range(1, max(rounds, default=0) + 1):
        rng.shuffle(orders)
        ordered = chain.from_iterable(next(order) for most, order in orders if block <= most)
        for position, number in enumerate(ordered, 1):
            yield Step(block, position, number, rng.getrandbits(32))


def rows(size: int) -> int:
    """Return how many rows the Williams square of a size has."""
    return 2 * size if size % 2 and size > 1 else size


def williams(size: int, row: int) -> Iterator[int]:
    """Yield an order of `size` things, a row of a Williams square; the first has number 0.

    Over all rows each thing stands equally often at each position, and directly after each other
    thing. An odd size takes the square and its reverse. Source: E. J. Williams, 1949.
    """
    for column in range(size) if row < size else reversed(range(size)):
        yield (row + ((column + 1) // 2 if column % 2 else -(column // 2))) % size


def _seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - an order is no secret


def _orders(start: int, size: int, rng: random.Random) -> Iterator[Iterator[int]]:
    """Yield the order of a group in each block: rows without replacement, then all anew."""
    named = array("L", rng.sample(range(start, start + size), size))
    first = array("L", williams(size, 0))
    while True:
        order = array("L", range(rows(size)))
        rng.shuffle(order)
        for row in order:  # each is the first one, or its reverse, of numbers that are shifted
            shift = row % size
            shifted = named[shift:] + named[:shift]
            yield map(shifted.__getitem__, first if row < size else reversed(first))
