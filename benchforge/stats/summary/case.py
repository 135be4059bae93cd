"""Summaries of cases: numbers, failures, and findings of the checks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchforge.model.suite.search import RateSearch
from benchforge.model.summary.capacity import Capacity
from benchforge.model.summary.summary import CaseFinding, CaseSummary, DoubtedTrial, FailedTrial
from benchforge.model.trial.check import Check, passed
from benchforge.model.trial.reading import Load
from benchforge.model.trial.trial import Failure, Trial
from benchforge.model.trial.window import WHOLE, SteadyState, Window
from benchforge.model.values.case_name import CaseName
from benchforge.parts.part import Metric
from benchforge.stats.search.search import capacity_of
from benchforge.stats.summary.line import lines, of_kinds, of_stages, with_typical
from benchforge.stats.timeseries.windows import settled as settled_by
from benchforge.stats.turns import rounds_by_block

_NO_REASON = Failure(
    stage="read",
    message="the trial has neither a reading nor a reason",
    hint="see what its processes printed, beside trial.json",
    subject="apparatus",
)
_NEAR = 0.9  # of the rate
_WORST = ("fail", "warn", "unknown")


def of_case(
    case: CaseName,
    trials: Sequence[Trial],
    planned: int,
    metrics: Mapping[str, Metric],
    settled: SteadyState,
    window: Window,
) -> CaseSummary:
    """Return the summary of a case from all of its trials, of `planned` ones.

    `settled` is its steady state, `window` the part of each load that counts.
    """
    used = used_of(trials)
    late = [trial for trial in used if trial.latency_doubts and (trial.believed or trial.disturbed)]
    update = {
        "latency_doubted": tuple(_doubted(it, it.latency_doubts, used=True) for it in late),
        "load": _load(used),
        "steady": settled.steady,
        "in_turns": any(trial.turns is not None for trial in used),
        "rounds": rounds_by_block(used),
    }
    unsteady = f"not steady: {settled.message}; its numbers are of the whole load"
    notes = [unsteady] if settled.steady is False else []
    plain = _case_summary(case, trials, trials, planned, notes).model_copy(update=update)
    kinds = of_kinds(used, metrics, window)
    measured = {
        "metrics": with_typical(lines(used, metrics, window), plain),
        "kinds": {kind: with_typical(summary, plain) for kind, summary in kinds.items()},
        "stages": tuple(with_typical(summary, plain) for summary in of_stages(used, metrics)),
    }
    return plain.model_copy(update=measured)


def of_search(
    case: CaseName,
    trials: Sequence[Trial],
    planned: int,
    metrics: Mapping[str, Metric],
    find: RateSearch,
) -> CaseSummary:
    """Return the summary of a case that searched for a rate, of `planned` trials at most.

    Its kinds are those of the trials that passed near the rate. Raises InvalidFile for trials at
    other rates than the search asked for.
    """
    checked = []
    for trial in trials:
        overloaded = trial.search_outcome is not None and trial.search_outcome.passed is False
        # What an overloaded server does is why a trial failed: no news, unlike the apparatus.
        checks = tuple(check for check in trial.checks if check.subject == "apparatus")
        checked.append(trial.model_copy(update={"checks": checks}) if overloaded else trial)
    capacity = capacity_of(find, case, trials)
    kinds = of_kinds(_near(capacity, trials), metrics, WHOLE)
    update = {"capacity": capacity, "kinds": kinds}
    return _case_summary(case, trials, checked, planned).model_copy(update=update)


def _near(capacity: Capacity, trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials that passed near the rate, or else that of the highest rate."""
    passed = {attempt.trial: attempt.rate for attempt in capacity.attempts if attempt.passed}
    highest = max(passed.values(), default=0.0)
    least = min(highest, _NEAR * (capacity.rate.value or highest))
    near = {number for number, rate in passed.items() if rate >= least}
    return [trial for trial in trials if trial.number in near]


def _case_summary(
    case: CaseName,
    trials: Sequence[Trial],
    checked: Sequence[Trial],
    planned: int,
    notes: Iterable[str] = (),
) -> CaseSummary:
    """Return the common part of summaries; `checked` are the trials whose checks count."""
    used = used_of(trials)
    findings = tuple(_findings(checked))
    numbers = {trial.number for trial in used}
    return CaseSummary(
        case=case,
        trials=len(used),
        planned=planned,
        failed=tuple(
            FailedTrial(**_numbers(trial), failure=trial.failure or _NO_REASON)
            for trial in trials
            if not trial.measured
        ),
        metrics=(),
        notes=(*notes, *map(_note, findings)),
        findings=findings,
        checks_passed=passed(check for trial in checked for check in trial.checks),
        doubted=tuple(
            _doubted(trial, trial.doubts, used=trial.number in numbers)
            for trial in trials
            if trial.measured and not trial.believed
        ),
        believed=sum(trial.believed for trial in used),
    )


def used_of(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trial that counts in each block: the believed one, else the last with numbers."""
    used: dict[int, Trial] = {}
    for trial in sorted(trials, key=lambda trial: trial.attempt):
        earlier = used.get(trial.block)
        if trial.measured and (earlier is None or not earlier.believed):
            used[trial.block] = trial
    return list(used.values())


def course(trials: Sequence[Trial]) -> SteadyState:
    """Return whether a case settled, by its believed trials; without any, by all used ones."""
    used = used_of(trials)
    return settled_by([trial for trial in used if trial.believed] or used)


def _load(used: Sequence[Trial]) -> Load | None:
    loads = [trial.load for trial in used]
    return loads[0] if loads and all(load == loads[0] for load in loads) else None


def _doubted(trial: Trial, checks: tuple[Check, ...], *, used: bool) -> DoubtedTrial:
    numbers = _numbers(trial)
    return DoubtedTrial(**numbers, checks=checks, used=used, disturbed=trial.disturbed)


def _numbers(trial: Trial) -> dict[str, int]:
    return {"trial": trial.number, "block": trial.block, "attempt": trial.attempt}


def _note(finding: CaseFinding) -> str:
    check = finding.check
    return f"{check.status}: {check.message} ({finding.trials} of {finding.attempts} trials)"


def _findings(trials: Sequence[Trial]) -> Iterator[CaseFinding]:
    """Yield the findings of the checks, failures first: of equal ones the worst."""
    by_kind: dict[tuple[str, str, str], list[Check]] = {}
    for check in (check for trial in trials for check in trial.checks):
        if check.status != "pass":
            by_kind.setdefault((check.status, check.id, check.component), []).append(check)
    for _, alike in sorted(
        by_kind.items(), key=lambda entry: (_WORST.index(entry[0][0]), -len(entry[1]))
    ):
        worst = max(alike, key=lambda check: check.value or 0.0)
        yield CaseFinding(check=worst, trials=min(len(alike), len(trials)), attempts=len(trials))
