"""What changed between two labels of one result, measured in the same blocks."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchforge.model.summary import CaseSummary, Line, Summary
from benchforge.model.times import doubted
from benchforge.model.trial import CaseName
from benchforge.model.verdict import Change
from benchforge.stats.change import rerun


class Changed(NamedTuple):
    """A case, and how it changed in its first metric."""

    case: CaseName
    "The newer one."
    line: Line
    "What was compared, of the newer one."
    change: Change
    "Newer / older, by block."
    blocks: int
    "In how many both sides are believed."


def changed(
    summary: Summary, older: Callable[[CaseName], CaseName | None], least: float = 0.03
) -> Iterator[Changed]:
    """Yield the change of each case for which `older` names the one that it is compared with.

    Only the name counts of what it returns: its digest is the older code's. It is the first metric
    of the scenario, in blocks whose values of both are known and believed (method 1g i). Raises
    ValueError for a `least` that is negative.
    """
    cases = {_name(one.case): one for one in summary.cases}
    for one in summary.cases:
        partner = older(one.case)
        other = None if partner is None else cases.get(_name(partner))
        if other is None or not one.lines:
            continue
        line = one.lines[0]
        alike = [two for two in other.lines if (two.metric, two.of) == (line.metric, line.of)]
        new, old = _values(one, line), _values(other, alike[0]) if alike else {}
        both = sorted(new.keys() & old.keys())
        told = rerun(
            [new[block] for block in both],
            [old[block] for block in both],
            better=line.better,
            least=least,
        )
        yield Changed(one.case, line, told, len(both))


def _name(case: CaseName) -> tuple[str, str, str, str]:
    return case.scenario, case.server, case.driver, repr(sorted(case.vary.items()))


def _values(case: CaseSummary, line: Line) -> dict[int, float]:
    """Return the value of each block that is known and believed."""
    left_out = doubted(case, line)
    return {
        one.block: one.sample.value
        for one in line.samples
        if one.sample.value is not None and not one.sample.at_least and one.trial not in left_out
    }
