"""What the checks say of a result, beside its numbers."""

from collections.abc import Mapping, Sequence

from benchforge.checks import ask
from benchforge.checks.limits import Limits
from benchforge.checks.quiet import limits_of
from benchforge.checks.repetitions import of_placebo
from benchforge.model.ceiling import Ceiling
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.summary import Comparison, Summary
from benchforge.model.trial import Trial
from benchforge.parts.part import Metric
from benchforge.stats.case import used_of
from benchforge.stats.judge import judged
from benchforge.stats.summarize import Identity, identity, summarize


def concluded(
    header: Header,
    trials: Sequence[Trial],
    metrics: Mapping[str, Metric],
    sittings: Sequence[Sitting] = (),
    ceilings: Sequence[Ceiling] = (),
) -> Summary:
    """Return all that a result says: what was measured, what the checks found, and the verdicts.

    Raises InvalidFile as `summarize` does.
    """
    summary = summarize(header, trials, metrics, sittings)
    return judged(with_checks(summary, header, trials, limits_of(header), ceilings))


def with_checks(
    summary: Summary,
    header: Header,
    trials: Sequence[Trial],
    limits: Limits,
    ceilings: Sequence[Ceiling] = (),
) -> Summary:
    """Return the summary with what was asked of each comparison and of the whole result."""
    by_case: dict[Identity, list[Trial]] = {}
    for trial in trials:
        by_case.setdefault(identity(trial.case), []).append(trial)
    found = tuple(_checked(one, by_case, limits) for one in summary.comparisons)
    placebos = (of_placebo(one, limits) for one in summary.placebos)
    checks = (*ask.of_session(header, trials, limits, ceilings), *placebos)
    return summary.model_copy(update={"checks": checks, "comparisons": found})


def _checked(
    one: Comparison, by_case: Mapping[Identity, Sequence[Trial]], limits: Limits
) -> Comparison:
    of_cases = [
        [trial for trial in used_of(by_case.get(identity(case), ())) if trial.believed]
        for case in one.cases
    ]
    return one.model_copy(update={"checks": ask.of_comparison(of_cases, limits)})
