"""What a result says of one case: its numbers, what failed, and what the checks found."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchforge.model.summary import CaseSummary, DoubtedTrial, FailedTrial
from benchforge.model.trial import CaseName, Failure, Trial
from benchforge.model.window import Settled, Window
from benchforge.parts.part import Metric
from benchforge.stats.line import lines

_NO_REASON = Failure(
    stage="read",
    message="the trial has neither a reading nor a reason",
    hint="see what its processes printed, beside trial.json",
    about="apparatus",
)


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
    return CaseSummary(
        case=case,
        trials=len(used),
        planned=planned,
        failed=tuple(_failed(trial) for trial in trials if not trial.measured),
        lines=lines(used, metrics, window),
        notes=(*_unsteady(course), *_notes(trials)),
        doubted=tuple(
            _doubted(trial, used) for trial in trials if trial.measured and not trial.believed
        ),
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


def _doubted(trial: Trial, used: Sequence[Trial]) -> DoubtedTrial:
    return DoubtedTrial(
        trial=trial.number,
        block=trial.block,
        attempt=trial.attempt,
        checks=trial.doubts,
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


def _notes(trials: Sequence[Trial]) -> tuple[str, ...]:
    """What the checks found, failures first, each with the number of trials that it is about."""
    found = Counter(
        said
        for trial in trials
        for said in {(check.status, check.says) for check in trial.checks}
        if said[0] != "pass"
    )
    worst = ("fail", "warn", "unknown")
    worst_first = sorted(found, key=lambda said: (worst.index(said[0]), -found[said], said[1]))
    return tuple(
        f"{status}: {says} ({found[status, says]} of {len(trials)} trials)"
        for status, says in worst_first
    )
