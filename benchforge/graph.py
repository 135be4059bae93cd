"""The run graph: what is measured, in which order.

A block is one pass over all groups in shuffled order, each group's cases back to back in an order
that is balanced over the blocks. With a fixed order, drift makes two identical servers differ in
26 to 74 % of all sessions; with this one in about 5 %.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from benchforge.suite.case import Case
from benchforge.suite.suite import Repeat


@dataclass(frozen=True)
class Measure:
    """One measurement of a case, with nothing else running."""

    block: int
    "From 1."
    position: int
    "In the block, from 1."
    case: Case
    seed: int
    "PYTHONHASHSEED of its servers: sampled, because a fixed one gives a precise wrong answer."


@dataclass(frozen=True)
class RunGraph:
    """All measurements in their order."""

    seed: int
    measures: tuple[Measure, ...]

    @property
    def declared_s(self) -> float:
        """What the suite declares for all of them, in seconds: without starts and stops."""
        return sum(measure.case.declared_s for measure in self.measures)


def plan(cases: Iterable[Case], repeat: Repeat, seed: int) -> RunGraph:
    """Order the measurements; the same seed gives the same order, and more blocks extend it."""
    blocks = islice(_blocks(list(cases), _seeded(seed)), repeat.blocks)
    return RunGraph(seed, tuple(measure for block in blocks for measure in block))


def williams(size: int) -> list[list[int]]:
    """Return orders of `size` things, the rows of a Williams square.

    Over all rows each thing stands equally often at each position, and directly after each other
    thing. An odd size takes the square and its reverse. Source: E. J. Williams, 1949.
    """
    first = [0]
    for low in range(1, size // 2 + 1):
        first += [low, size - low]
    rows = [[(one + shift) % size for one in first[:size]] for shift in range(size)]
    return rows + [row[::-1] for row in rows] if size % 2 and size > 1 else rows


def _seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - an order is no secret


def _blocks(cases: Sequence[Case], rng: random.Random) -> Iterator[list[Measure]]:
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.name.scenario, []).append(case)
    orders = [_orders(group, _seeded(rng.getrandbits(64))) for group in groups.values()]
    block = 0
    while True:
        block += 1
        rng.shuffle(orders)
        ordered = (case for order in orders for case in next(order))
        yield [
            Measure(block, position, case, rng.getrandbits(32))
            for position, case in enumerate(ordered, 1)
        ]


def _orders(group: list[Case], rng: random.Random) -> Iterator[list[Case]]:
    """Yield the order of a group in each block: rows without replacement, then all anew."""
    named = rng.sample(group, len(group))
    while True:
        rows = williams(len(group))
        rng.shuffle(rows)
        for row in rows:
            yield [named[number] for number in row]
