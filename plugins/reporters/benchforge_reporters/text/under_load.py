"""What answers at random moments of the loads prove, for each case."""

from collections.abc import Iterator, Sequence
from statistics import median

from benchforge.plugin import Trial, readable

_LEVEL = 0.95


def under_load(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a sentence if the loads of a case were monitored."""
    monitors = [one.monitor for one in trials if one.monitor is not None and one.monitor.moments]
    if not monitors:
        return
    moments, wrong = sum(one.moments for one in monitors), sum(one.wrong for one in monitors)
    says = f"at {readable.exact(wrong)} of {readable.exact(moments)} random moments an answer "
    says += "was wrong"
    if not wrong:  # the upper bound of Clopper and Pearson: (1 - bound) ** moments is 5 %
        bound = 1 - (1 - _LEVEL) ** (1 / moments)
        says += f": at most {readable.percent(bound)} of the answers were wrong (95 %)"
    medians = [one.median_s for one in monitors if one.median_s is not None]
    longest = [one.longest_s for one in monitors if one.longest_s is not None]
    if medians and longest:
        says += (
            f"; the first answer on a new connection took {readable.amount('s', median(medians))} "
            f"(median), at most {readable.amount('s', max(longest))}"
        )
    yield says
