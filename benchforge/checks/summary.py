"""What the checks say of a result, beside its numbers."""

from collections.abc import Mapping, Sequence

from benchforge.checks import ask
from benchforge.checks.limits import Limits
from benchforge.checks.repetitions import of_placebo
from benchforge.model.ceiling import Ceiling
from benchforge.model.result import Header
from benchforge.model.summary import Comparison, Summary
from benchforge.model.trial import Trial
from benchforge.stats.case import used_of
from benchforge.stats.summarize import Identity, identity


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
    found = tuple(
        _checked(one, by_case, limits, one_load=one.scenario not in header.finds)
        for one in summary.comparisons
    )
    placebos = (of_placebo(one, limits) for one in summary.placebos)
    checks = (*ask.of_session(header, trials, limits, ceilings), *placebos)
    return summary.model_copy(update={"checks": checks, "comparisons": found})


def _checked(
    one: Comparison,
    by_case: Mapping[Identity, Sequence[Trial]],
    limits: Limits,
    *,
    one_load: bool,
) -> Comparison:
    of_cases = [
        [trial for trial in used_of(by_case.get(identity(case), ())) if _counts(trial)]
        for case in one.cases
    ]
    checks = ask.of_comparison(of_cases, limits, one_load=one_load)
    return one.model_copy(update={"checks": checks})


def _counts(trial: Trial) -> bool:
    """Whether a trial is to be believed, and of a search one that the server kept up with."""
    return trial.believed and (trial.sought is None or trial.sought.passed is True)
