"""The order of measurements is balanced, shuffled, and the same for the same seed."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise, permutations
from typing import ClassVar

from hypothesis import given
from hypothesis import strategies as st

from benchforge.graph import RunGraph, plan, williams
from benchforge.model.answer import Expect, Request
from benchforge.model.trial import CaseName
from benchforge.plugin import Command, Driver, Loader, Output, Reading, Server, Site, Target
from benchforge.suite.case import Case
from benchforge.suite.suite import Repeat

SIZES = st.integers(2, 9)
SEEDS = st.integers(0, 2**64)


class Nothing(Server):
    name: ClassVar[str] = "nothing"

    def command(self, site: Site) -> None:
        return None


class Tool(Loader):
    name: ClassVar[str] = "tool"

    def commands(self, target: Target) -> Sequence[Command]:
        return [Command("true")]

    def read(self, output: Output) -> Reading:
        raise NotImplementedError

    def declared_s(self) -> float:
        return 10.0

    def for_warm_up(self, seconds: float) -> Driver:
        return self


def cases(size: int, scenario: str = "one") -> list[Case]:
    return [
        Case(
            name=CaseName(
                scenario=scenario, server=str(number), driver="tool", vary={}, digest=str(number)
            ),
            server=Nothing(),
            backends=(),
            driver=Tool(),
            request=Request(),
            expect=Expect(),
            metrics=(),
            warm_up_s=3.0,
        )
        for number in range(size)
    ]


def orders(graph: RunGraph) -> list[list[str]]:
    """The servers of each block, in order."""
    blocks = groupby(graph.measures, lambda measure: measure.block)
    return [[measure.case.name.server for measure in block] for _, block in blocks]


def rows(size: int) -> int:
    return size if size % 2 == 0 else 2 * size


@given(SIZES, st.integers(1, 20), SEEDS)
def test_each_block_holds_each_case_once(size: int, blocks: int, seed: int) -> None:
    graph = plan(cases(size), Repeat(blocks=blocks), seed)
    found = orders(graph)
    assert len(found) == blocks
    assert all(sorted(order) == [str(number) for number in range(size)] for order in found)
    assert [measure.position for measure in graph.measures] == [*range(1, size + 1)] * blocks
    assert [measure.block for measure in graph.measures[::size]] == [*range(1, blocks + 1)]


@given(SIZES, st.integers(1, 3), SEEDS)
def test_a_complete_set_of_rows_is_balanced(size: int, sets: int, seed: int) -> None:
    found = orders(plan(cases(size), Repeat(blocks=sets * rows(size)), seed))
    times = rows(size) // size
    for start in range(0, len(found), rows(size)):
        of_set = found[start : start + rows(size)]
        at = Counter((position, one) for order in of_set for position, one in enumerate(order))
        after = Counter(pair for order in of_set for pair in pairwise(order))
        assert set(at.values()) == {times}
        assert len(at) == size**2
        assert set(after.values()) == {times}
        assert after.keys() == set(permutations(map(str, range(size)), 2))


def test_the_square_of_four_is_the_one_in_the_books() -> None:
    assert williams(4) == [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]
    assert williams(1) == [[0]]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), SEEDS)
def test_each_group_stands_together_in_each_block(sizes: list[int], seed: int) -> None:
    every = [case for number, size in enumerate(sizes) for case in cases(size, str(number))]
    graph = plan(every, Repeat(blocks=3), seed)
    for _, block in groupby(graph.measures, lambda measure: measure.block):
        measures = list(block)
        groups = [key for key, _ in groupby(measures, lambda one: one.case.name.scenario)]
        assert sorted(groups) == [str(number) for number in range(len(sizes))]
        assert [measure.position for measure in measures] == [*range(1, sum(sizes) + 1)]


@given(SIZES, SEEDS)
def test_the_same_seed_gives_the_same_plan_and_more_blocks_extend_it(size: int, seed: int) -> None:
    every = [*cases(size), *cases(3, "other")]
    five = plan(every, Repeat(blocks=5), seed)
    assert five == plan(every, Repeat(blocks=5), seed)
    assert plan(every, Repeat(blocks=8), seed).measures[: len(five.measures)] == five.measures
    assert all(0 <= measure.seed < 2**32 for measure in five.measures)
    assert len({measure.seed for measure in five.measures}) > 1


def test_seeds_differ_in_order() -> None:
    assert len({str(orders(plan(cases(5), Repeat(), seed))) for seed in range(20)}) == 20


def test_groups_change_places_between_blocks() -> None:
    every = [*cases(1, "a"), *cases(1, "b")]
    graph = plan(every, Repeat(blocks=20), 1)
    first = {measure.case.name.scenario for measure in graph.measures if measure.position == 1}
    assert first == {"a", "b"}


def test_the_declared_time_is_of_warm_up_and_load() -> None:
    assert plan(cases(2), Repeat(blocks=3), 1).declared_s == 2 * 3 * 13
    assert plan([], Repeat(), 1) == RunGraph(1, ())
