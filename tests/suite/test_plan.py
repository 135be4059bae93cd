"""The order of measurements is balanced, shuffled, and the same for the same seed."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise, permutations
from typing import ClassVar

from hypothesis import given
from hypothesis import strategies as st
from made.plain import named

from benchforge.model.suite.placement import Tuning
from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.plugin import Command, Driver, Loader, Output, Reading, Server, Site, Target
from benchforge.suite.cases.case import Case
from benchforge.suite.cases.expand import Cases
from benchforge.suite.plan import Measurement, RunGraph, plan, rows, williams
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
            name=named(str(number), scenario=scenario, driver="tool"),
            server=Nothing(),
            backends=(),
            driver=Tool(),
            request=Request(),
            expect=Expect(),
            metrics=(),
            warm_up_s=3.0,
            tuning=Tuning(),
        )
        for number in range(size)
    ]


class Listed(list[Case]):
    """Cases that are held, as a group."""

    def declared_s(self, number: int) -> float:
        return self[number].declared_s


def planned(*groups: list[Case], blocks: int, seed: int) -> RunGraph:
    return plan(Cases([Listed(group) for group in groups]), Repeat(blocks=blocks), seed)


def orders(graph: RunGraph) -> list[list[str]]:
    """The servers of each block, in order."""
    blocks = groupby(graph, lambda measure: measure.block)
    return [[measure.case.name.server for measure in block] for _, block in blocks]


@given(SIZES, st.integers(1, 20), SEEDS)
def test_each_block_holds_each_case_once(size: int, blocks: int, seed: int) -> None:
    graph = planned(cases(size), blocks=blocks, seed=seed)
    actual = orders(graph)
    assert len(actual) == blocks
    assert all(sorted(order) == [str(number) for number in range(size)] for order in actual)
    assert len(graph) == size * blocks
    assert [measure.position for measure in graph] == [*range(1, size + 1)] * blocks
    assert [measure.block for measure in graph][::size] == [*range(1, blocks + 1)]


@given(SIZES, st.integers(1, 9), st.integers(1, 9), SEEDS)
def test_blocks_of_a_scenario(size: int, blocks: int, mine: int, seed: int) -> None:
    more = [case._replace(blocks=mine) for case in cases(2, "more")]
    graph = planned(cases(size), more, blocks=blocks, seed=seed)
    counter = Counter((measure.block, measure.case.name.scenario) for measure in graph)
    assert all(counter[block, "one"] == (size if block <= blocks else 0) for block in range(1, 10))
    assert all(counter[block, "more"] == (2 if block <= mine else 0) for block in range(1, 10))
    assert len(graph) == size * blocks + 2 * mine


@given(SIZES, st.integers(1, 3), SEEDS)
def test_a_complete_set_of_rows_is_balanced(size: int, sets: int, seed: int) -> None:
    actual = orders(planned(cases(size), blocks=sets * rows(size), seed=seed))
    times = rows(size) // size
    for start in range(0, len(actual), rows(size)):
        of_set = actual[start : start + rows(size)]
        counter = Counter(pair for order in of_set for pair in enumerate(order))
        later = Counter(pair for order in of_set for pair in pairwise(order))
        assert set(counter.values()) == {times}
        assert len(counter) == size**2
        assert set(later.values()) == {times}
        assert later.keys() == set(permutations(map(str, range(size)), 2))


def square(size: int) -> list[list[int]]:
    return [list(williams(size, row)) for row in range(rows(size))]


def test_the_square_of_four_is_the_one_in_the_books() -> None:
    assert square(4) == [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]
    assert square(3) == [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 2, 1], [1, 0, 2]]
    assert square(1) == [[0]]
    assert square(0) == []


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), SEEDS)
def test_each_group_stands_together_in_each_block(sizes: list[int], seed: int) -> None:
    everything = [cases(size, str(number)) for number, size in enumerate(sizes)]
    for _, block in groupby(
        planned(*everything, blocks=3, seed=seed), lambda measure: measure.block
    ):
        measures = list(block)
        groups = [key for key, _ in groupby(measures, lambda item: item.case.name.scenario)]
        assert sorted(groups) == [str(number) for number in range(len(sizes))]
        assert [measure.position for measure in measures] == [*range(1, sum(sizes) + 1)]


@given(SIZES, SEEDS)
def test_the_same_seed_gives_the_same_plan_and_more_blocks_extend_it(size: int, seed: int) -> None:
    def order(blocks: int) -> list[Measurement]:
        return list(planned(cases(size), cases(3, "other"), blocks=blocks, seed=seed))

    five = order(5)
    assert five == order(5)
    assert order(8)[: len(five)] == five
    assert all(0 <= measure.seed < 2**32 for measure in five)
    assert len({measure.seed for measure in five}) > 1


@given(st.lists(st.integers(0, 5), max_size=4), st.integers(1, 12), SEEDS)
def test_a_plan_is_walked_the_same_again(sizes: list[int], blocks: int, seed: int) -> None:
    everything = [cases(size, str(number)) for number, size in enumerate(sizes)]
    graph = planned(*everything, blocks=blocks, seed=seed)
    assert list(graph) == list(graph)
    assert len(list(graph)) == len(graph)
    flat = [case for group in everything for case in group]
    assert list(graph.cases) == flat
    for measure, step in zip(graph, graph.steps(), strict=True):
        assert measure.case == flat[step.number]
        assert (measure.block, measure.position) == (step.block, step.position)
        assert measure.seed == step.seed


def test_the_order_of_a_seed_is_the_one_that_results_on_disk_have() -> None:
    graph = planned(cases(3, "a"), cases(4, "b"), blocks=8, seed=7)
    words = [f"{step.block} {step.position} {step.number} {step.seed}" for step in graph.steps()]
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()
    assert digest == "2bae8fb5a9e533748b3bd9545a6cec38fb996201af97ae2fbb8a265f355f9eec"


def test_seeds_differ_in_order_and_groups_change_places_between_blocks() -> None:
    assert len({str(orders(planned(cases(5), blocks=5, seed=seed))) for seed in range(20)}) == 20
    graph = planned(cases(1, "a"), cases(1, "b"), blocks=20, seed=1)
    first = {measure.case.name.scenario for measure in graph if measure.position == 1}
    assert first == {"a", "b"}


def test_the_declared_time_is_of_warm_up_and_load() -> None:
    assert planned(cases(2), blocks=3, seed=1).declared_s == 2 * 3 * 13
    assert list(planned(blocks=3, seed=1)) == []
    assert planned(blocks=3, seed=1).declared_s == 0
