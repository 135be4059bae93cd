"""The rate that a search asks for next: from the trials of the blocks before."""

from collections.abc import Sequence
from dataclasses import replace

from benchforge.model.suite.search import RateSearch
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName
from benchforge.stats.search.search import Next, where
from benchforge.suite.plan import Measurement
from benchforge.suite.scenarios.search import rated


def with_sought_rate(step: Measurement, trials: Sequence[Trial]) -> Measurement | None:
    """Return a measurement, of a search at its rate; None if that is over. Raises InvalidFile."""
    find = step.case.find
    if find is None:
        return step
    rate = following(find, step.case.name, step.block, trials).rate
    if rate is None:
        return None
    driver = rated(step.case.driver, rate, step.block)
    return replace(step, case=step.case._replace(driver=driver))


def following(find: RateSearch, case: CaseName, block: int, trials: Sequence[Trial]) -> Next:
    """Return what a case's search asks in a block, by earlier trials.

    Raises InvalidFile where earlier trials are of other rates than their search asked for.
    """
    return where(find, case, [each for each in trials if each.block < block and each.case == case])
