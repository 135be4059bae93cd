"""What a result says of one case: its numbers, what failed, and what the checks found."""

from collections.abc import Iterator, Mapping, Sequence

from benchforge.model.check import Check
from benchforge.model.summary import CaseSummary, DoubtedTrial, FailedTrial, Finding
from benchforge.model.trial import CaseName, Failure, Load, Trial
from benchforge.model.window import Settled, Window
from benchforge.parts.part import Metric
from benchforge.stats.line import lines

_NO_REASON = Failure(
    stage="read",
    message="the trial has neither a reading nor a reason",
    hint="see what its processes printed, beside trial.json",
    about="apparatus",
)


_WORST = ("fail", "warn", "unknown")


def of_case(
    case: CaseName,
    trials: Sequence[Trial],
    planned: int,
    metrics: Mapping[str, Metric],
    course: Settled,
    window: Window,
) -> CaseSummary:
    """Return the summary of a case from all of its trials, of so many that were planned.

    `course` says whether it settled, `window` what of each load counts.
    """
    used = used_of(trials)
    findings = tuple(_findings(trials))
    return CaseSummary(
        case=case,
        trials=len(used),
        planned=planned,
        failed=tuple(_failed(trial) for trial in trials if not trial.measured),
        lines=lines(used, metrics, window),
        notes=(*_unsteady(course), *map(_note, findings)),
        findings=findings,
        passed=_passed(trials),
        doubted=tuple(
            _doubted(trial, trial.doubts, used)
            for trial in trials
            if trial.measured and not trial.believed
        ),
        latency_doubted=tuple(
            _doubted(trial, trial.latency_doubts, used)
            for trial in used
            if trial.believed and trial.latency_doubts
        ),
        load=_load(used),
        believed=sum(trial.believed for trial in used),
        steady=course.steady,
    )


def used_of(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trial of a case whose numbers count in each block, from all of its attempts.

    That is the believed one; where none is, the last that has numbers.
    """
    used: dict[int, Trial] = {}
    for trial in sorted(trials, key=lambda trial: trial.attempt):
        before = used.get(trial.block)
        if trial.measured and (before is None or not before.believed):
            used[trial.block] = trial
    return list(used.values())


def _load(used: Sequence[Trial]) -> Load | None:
    loads = [trial.load for trial in used]
    return loads[0] if loads and all(load == loads[0] for load in loads) else None


def _doubted(trial: Trial, checks: tuple[Check, ...], used: Sequence[Trial]) -> DoubtedTrial:
    return DoubtedTrial(
        trial=trial.number,
        block=trial.block,
        attempt=trial.attempt,
        checks=checks,
        used=any(trial.number == one.number for one in used),
    )


def _failed(trial: Trial) -> FailedTrial:
    return FailedTrial(
        trial=trial.number,
        block=trial.block,
        attempt=trial.attempt,
        failure=trial.failure or _NO_REASON,
    )


def _unsteady(course: Settled) -> Iterator[str]:
    if course.steady is False:
        yield f"not steady: {course.says}; its numbers are of the whole load"


def _note(finding: Finding) -> str:
    check = finding.check
    return f"{check.status}: {check.says} ({finding.trials} of {finding.of} trials)"


def _findings(trials: Sequence[Trial]) -> Iterator[Finding]:
    """Yield what the checks found, failures first: of answers that are alike the worst."""
    found: dict[tuple[str, str, str], list[Check]] = {}
    for check in (check for trial in trials for check in trial.checks):
        if check.status != "pass":
            found.setdefault((check.status, check.id, check.of), []).append(check)
    for _, alike in sorted(found.items(), key=lambda one: (_WORST.index(one[0][0]), -len(one[1]))):
        worst = max(alike, key=lambda check: check.value or 0.0)
        yield Finding(check=worst, trials=min(len(alike), len(trials)), of=len(trials))


def _passed(trials: Sequence[Trial]) -> int:
    asked: dict[tuple[str, str], set[str]] = {}
    for check in (check for trial in trials for check in trial.checks):
        asked.setdefault((check.id, check.of), set()).add(check.status)
    return sum(statuses == {"pass"} for statuses in asked.values())
