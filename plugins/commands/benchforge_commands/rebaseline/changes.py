"""What changed between two labels of one result, measured in the same blocks."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from benchforge_results.over_time.change import change_of

from benchforge.model.summary.verdict import Change
from benchforge.model.values.case_name import CaseName
from benchforge.plugin import CaseSummary, MetricSummary, Summary, doubted
from benchforge.stats.inference.ratio import ratio


class CaseChange(NamedTuple):
    """A case, and how it changed in its first metric."""

    case: CaseName
    "The newer one."
    line: MetricSummary
    "Metric that was compared, of the newer result."
    change: Change
    "Newer / older, by block."
    blocks: int
    "Number of blocks in which both sides are believed."


def changed(
    summary: Summary, older: Callable[[CaseName], CaseName | None], least: float = 0.03
) -> Iterator[CaseChange]:
    """Yield the change of each case for which `older` names the one that it is compared with.

    Only the name counts of what it returns: its digest is the older code's. It is the first metric
    of the scenario, in blocks whose values of both are known and believed (method 1g i). Raises
    ValueError for a `least` that is negative.
    """
    cases = {_name(case.case): case for case in summary.cases}
    for case in summary.cases:
        partner = older(case.case)
        other = None if partner is None else cases.get(_name(partner))
        if other is None or not case.metrics:
            continue
        line = case.metrics[0]
        alike = [two for two in other.metrics if (two.metric, two.of) == (line.metric, line.of)]
        new, old = _values(case, line), _values(other, alike[0]) if alike else {}
        both = sorted(new.keys() & old.keys())
        change = rerun(
            [new[block] for block in both],
            [old[block] for block in both],
            better=line.better,
            least=least,
        )
        yield CaseChange(case.case, line, change, len(both))


def rerun(
    new: Sequence[float],
    old: Sequence[float],
    *,
    better: Literal["higher", "lower"] = "higher",
    least: float = 0,
) -> Change:
    """Return the change where both versions were measured in the same blocks: the preferred form.

    Raises ValueError for a `least` that is negative, and as `ratio` does.
    """
    return change_of(ratio(new, old), better, least)


def _name(case: CaseName) -> tuple[str, str, str, str]:
    return case.scenario, case.server, case.driver, repr(sorted(case.vary.items()))


def _values(case: CaseSummary, line: MetricSummary) -> dict[int, float]:
    """Return the value of each block that is known and believed."""
    left_out = doubted(case, line)
    return {
        one.block: one.sample.value
        for one in line.samples
        if one.sample.value is not None and not one.sample.lower_bound and one.trial not in left_out
    }
