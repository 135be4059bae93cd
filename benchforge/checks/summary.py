"""Checks, verdicts and causes of a result, beside its numbers."""

from collections.abc import Mapping, Sequence
from functools import partial

from benchforge.checks import ask
from benchforge.checks.answers import under_load
from benchforge.checks.causes import audience, with_causes
from benchforge.checks.limits import Thresholds
from benchforge.checks.machine.calibrated import limits_of
from benchforge.checks.seen import by_name
from benchforge.checks.server import after
from benchforge.checks.sizes import sizes
from benchforge.checks.statistics.repetitions import of_bridge, of_placebo
from benchforge.checks.statistics.turns import of_comparison as of_launches
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.result import Header
from benchforge.model.summary.doubts import speaks_of
from benchforge.model.summary.ranking import MetricRanking
from benchforge.model.summary.summary import Comparison, MetricSummary, Summary
from benchforge.model.trial.check import Check
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import Identity, identity
from benchforge.parts.part import Metric
from benchforge.stats.inference.stopping import Stop
from benchforge.stats.summary.case import used_of
from benchforge.stats.summary.summarize import summarize
from benchforge.stats.verdict.comparison import ComparisonEvidence, Moves, evidence_of, verdict_on
from benchforge.stats.verdict.judge import judged

_ByCase = Mapping[Identity, Sequence[Trial]]


def concluded(
    header: Header,
    trials: Sequence[Trial],
    metrics: Mapping[str, Metric],
    sessions: Sequence[Session] = (),
    ceilings: Sequence[Ceiling] = (),
    stop: Stop | None = None,
) -> Summary:
    """Return all that a result says: its numbers, verdicts and findings, and their causes.

    `stop` may end the run; default: the header's. Raises InvalidFile as `summarize` does.
    """
    stop = stop or Stop.of(header.until)
    summary = summarize(header, trials, metrics, sessions, stop)
    limits = limits_of(header)
    # Trials that only tell response times at a rate speak of these alone.
    compared = [trial for trial in trials if trial.case.scenario not in header.latencies]
    checked = with_checks(summary, header, compared, limits, ceilings)
    verdicts = with_comparison_verdicts(checked, limits, compared)
    return with_causes(judged(verdicts, stop, partial(_is_grave, limits=limits)), compared, limits)


def with_comparison_verdicts(
    summary: Summary, limits: Thresholds, trials: Sequence[Trial] = ()
) -> Summary:
    """Return a checked summary with verdicts on comparisons; findings get sizes from `trials`."""
    comparisons = []
    for comparison in summary.comparisons:
        moves = sizes(comparison, trials, summary.checks)
        verdict = verdict_on(evidence_in(comparison, summary, limits, moves))
        comparisons.append(comparison.model_copy(update={"verdict": verdict}))
    return summary.model_copy(update={"comparisons": tuple(comparisons)})


def evidence_in(
    comparison: Comparison,
    summary: Summary,
    limits: Thresholds,
    moves: Moves = Moves(),  # noqa: B008 - it never changes
) -> ComparisonEvidence:
    """Return what decides about a comparison of a summary that has its checks."""
    return evidence_of(comparison, summary, partial(_is_grave, limits=limits), moves)


def _is_grave(check: Check, limits: Thresholds) -> bool:
    return audience(check, limits) == "invalid"


def with_checks(
    summary: Summary,
    header: Header,
    trials: Sequence[Trial],
    limits: Thresholds,
    ceilings: Sequence[Ceiling] = (),
) -> Summary:
    """Return the summary with what was asked of each comparison and of the whole result."""
    by_case: dict[Identity, list[Trial]] = {}
    for trial in trials:
        by_case.setdefault(identity(trial.case), []).append(trial)
    session = ask.of_session(header, trials, limits, ceilings)
    placebos = [(row.case.scenario, of_placebo(row, limits)) for row in summary.placebos]
    lines = {(line.metric, line.of): line for case in summary.cases for line in case.metrics}
    comparisons = []
    for comparison in summary.comparisons:
        one_load = comparison.scenario not in header.searches
        checked = _checked(comparison, by_case, limits, one_load=one_load)
        if comparison.scenario in header.turns:
            checked = _in_turns(checked, header, by_case, limits)
        placebo_checks = [check for scenario, check in placebos if scenario == comparison.scenario]
        comparisons.append(withdrawn(checked, [*checked.checks, *placebo_checks, *session], lines))
    checks = (*session, *(check for _, check in placebos))
    return summary.model_copy(update={"checks": checks, "comparisons": tuple(comparisons)})


_BLOCKS = "S3"
"A standing counts the blocks of each pair by itself: who has too few is left out, not all others."


def withdrawn(
    comparison: Comparison,
    checks: Sequence[Check],
    lines: Mapping[tuple[str, str | None], MetricSummary],
) -> Comparison:
    """Return the comparison without the ranks that a failed check of the apparatus invalidates."""
    faults = (check for check in checks if (check.status, check.subject) == ("fail", "apparatus"))
    failed = [fault for fault in faults if fault.id != _BLOCKS]
    standings: list[MetricRanking] = []
    for standing in comparison.rankings:
        line = lines.get((standing.metric, standing.of))
        worst = next((check for check in failed if speaks_of(check, line)), None)
        if worst is None or standing.ranking is None:
            standings.append(standing)
            continue
        reason = f"{worst.id} {worst.name}: {worst.message}"
        standings.append(standing.model_copy(update={"ranking": None, "why": reason}))
    return comparison.model_copy(update={"rankings": tuple(standings)})


def _checked(
    comparison: Comparison, by_case: _ByCase, limits: Thresholds, *, one_load: bool
) -> Comparison:
    used = [used_of(by_case.get(identity(case), ())) for case in comparison.cases]
    of_cases = [[trial for trial in trials_of_case if _counts(trial)] for trials_of_case in used]
    if not all(of_cases):  # then ratios are of what others disturbed alike, and nothing else
        of_cases = _comparable(used)
    checks = ask.of_comparison(of_cases, limits, one_load=one_load)
    of_each = [by_case.get(identity(case), ()) for case in comparison.cases]
    proved = under_load.of_cases(of_each, limits)
    later = after.of_cases(of_each, limits)
    return comparison.model_copy(update={"checks": (*checks, *proved, *later)})


def _in_turns(
    comparison: Comparison, header: Header, by_case: _ByCase, limits: Thresholds
) -> Comparison:
    """Return a comparison with the checks of all that took turns with it, and of their bridge."""
    turns, first = header.turns[comparison.scenario], comparison.cases[0]

    def together(scenario: str) -> list[list[Trial]]:
        key = turns.group(first.model_copy(update={"scenario": scenario}))
        mine = (case for case in header.cases if not case.placebo and turns.group(case) == key)
        return _comparable([used_of(by_case.get(identity(case), ())) for case in mine])

    joint = together(comparison.scenario)
    checks = [*of_launches(joint, limits), *comparison.checks]
    for alone, scenario in header.bridges.items():
        if scenario == comparison.scenario:
            checks += of_bridge(joint, together(alone), scenario, limits)
    names = {name for name, trials in by_name(joint).items() if trials[0].case in comparison.cases}
    own_checks = (check for check in checks if not (pair := _pair(check)) or pair & names)
    return comparison.model_copy(update={"checks": tuple(own_checks)})


def _pair(check: Check) -> set[str]:
    """Return the names of the two that a check compares; empty where it compares no pair."""
    names = check.component.split(" / ")
    return set(names) if len(names) > 1 else set()


def _comparable(cases: Sequence[Sequence[Trial]]) -> list[list[Trial]]:
    return [[trial for trial in case if _counts(trial) or trial.disturbed] for case in cases]


def _counts(trial: Trial) -> bool:
    """Return True if a trial can be believed; in a search also that the server kept up."""
    return trial.believed and (trial.search_outcome is None or trial.search_outcome.passed is True)
