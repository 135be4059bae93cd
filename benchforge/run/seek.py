"""The rate that a search asks for next: from the trials of the blocks before."""

from collections.abc import Sequence
from dataclasses import replace

from benchforge.errors import InvalidFile
from benchforge.graph import Measure, RunGraph
from benchforge.model.find import Find
from benchforge.model.trial import CaseName, Trial
from benchforge.stats.capacity import Next
from benchforge.stats.search import where
from benchforge.suite.find import rated


def asked(step: Measure, trials: Sequence[Trial]) -> Measure | None:
    """Return a measurement as it is made: of a search at its rate, None where that is over.

    Raises InvalidFile where trials of before are of other rates than their search asked for.
    """
    find = step.case.find
    if find is None:
        return step
    rate = following(find, step.case.name, step.block, trials).rate
    if rate is None:
        return None
    case = replace(step.case, driver=rated(step.case.driver, rate, step.block))
    return replace(step, case=case)


def following(find: Find, case: CaseName, block: int, trials: Sequence[Trial]) -> Next:
    """Return what the search of a case asks in a block, from its trials in the blocks before.

    Raises InvalidFile as above.
    """
    own = [trial for trial in trials if trial.block < block and trial.case == case]
    try:
        return where(find, case.driver, own)
    except ValueError as error:
        raise InvalidFile(
            f"{case.title}: {error}", "its trials were changed: begin a new result"
        ) from None


def left(graph: RunGraph, trials: Sequence[Trial], settled: int) -> int:
    """Return how many measurements may still be made, of a plan of which so many are settled."""
    walked = 0
    for group, rounds in zip(graph.cases.groups, graph.rounds, strict=True):
        if not len(group) or group[0].find is None:
            continue
        for case in (group[number] for number in range(len(group))):
            find = case.find
            if find and following(find, case.name, rounds + 1, trials).rate is None:
                walked += rounds - len({one.block for one in trials if one.case == case.name})
    return len(graph) - settled - walked
