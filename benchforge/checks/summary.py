"""What the checks say of a result, beside its numbers."""

from collections.abc import Mapping, Sequence

from benchforge.checks import ask
from benchforge.checks.limits import Limits
from benchforge.checks.quiet import limits_of
from benchforge.checks.repetitions import of_placebo
from benchforge.model.ceiling import Ceiling
from benchforge.model.check import Check
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.standing import Standing
from benchforge.model.summary import Comparison, Line, Summary
from benchforge.model.times import speaks_of
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
    session = ask.of_session(header, trials, limits, ceilings)
    placebos = [(one.of.scenario, of_placebo(one, limits)) for one in summary.placebos]
    lines = {(line.metric, line.of): line for case in summary.cases for line in case.lines}
    found = []
    for one in summary.comparisons:
        one_load = one.scenario not in header.finds
        checked = _checked(one, by_case, limits, one_load=one_load)
        own = [check for scenario, check in placebos if scenario == one.scenario]
        found.append(withdrawn(checked, [*checked.checks, *own, *session], lines))
    checks = (*session, *(check for _, check in placebos))
    return summary.model_copy(update={"checks": checks, "comparisons": tuple(found)})


_BLOCKS = "S3"
"A standing counts the blocks of each pair by itself: who has too few is left out, not all others."


def withdrawn(
    one: Comparison, checks: Sequence[Check], lines: Mapping[tuple[str, str | None], Line]
) -> Comparison:
    """Return the comparison without the ranks that a check says are not to be believed.

    `lines` tell what the metrics and their parts are, of which there are standings.
    """
    failed = [
        check
        for check in checks
        if check.status == "fail" and check.about == "apparatus" and check.id != _BLOCKS
    ]
    standings = tuple(
        _without(standing, failed, lines.get((standing.metric, standing.of)))
        for standing in one.standings
    )
    return one.model_copy(update={"standings": standings})


def _without(standing: Standing, failed: Sequence[Check], line: Line | None) -> Standing:
    worst = next((check for check in failed if speaks_of(check, line)), None)
    if worst is None or standing.ranking is None:
        return standing
    why = f"{worst.id} {worst.name}: {worst.says}"
    return standing.model_copy(update={"ranking": None, "why": why})


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
