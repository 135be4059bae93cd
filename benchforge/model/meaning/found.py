"""What a summary must be to the checks of the trials that it sums up."""

from collections.abc import Iterator, Sequence

from benchforge.model.check import Check, passed
from benchforge.model.meaning.said import Said
from benchforge.model.summary import CaseSummary, DoubtedTrial
from benchforge.model.trial import Trial


def found(case: CaseSummary, trials: Sequence[Trial]) -> Iterator[Said]:
    """Say what of a case's findings, doubts and load its trials do not have, all attempts.

    Files of an older benchforge have no checks, or no findings: nothing is asked of them.
    """
    checks = [check for trial in trials for check in trial.checks]
    if not checks or case.believed is None:
        return
    yield from _findings(case, trials, checks)
    yield from _counts(case, trials, checks)
    known = {one.number: one for one in trials}
    for name in ("doubted", "latency_doubted"):
        for number, doubted in enumerate(getattr(case, name)):
            said = _doubt(doubted, known.get(doubted.trial), latency=name != "doubted")
            if said:
                yield said, (name, number)


def _findings(
    case: CaseSummary, trials: Sequence[Trial], checks: Sequence[Check]
) -> Iterator[Said]:
    for number, one in enumerate(case.findings):
        if one.check not in checks:
            yield "no trial has such a check", ("findings", number, "check")
        alike = sum(_alike(check, one.check) for check in checks)
        # Where a search for a rate failed, what the server did is no finding.
        if case.capacity is None and one.trials != min(alike, len(trials)):
            yield f"{one.trials}, but {alike} checks say so", ("findings", number, "trials")
        if one.of != len(trials):
            yield f"{one.of}, but there are {len(trials)} trials", ("findings", number, "of")


def _counts(case: CaseSummary, trials: Sequence[Trial], checks: Sequence[Check]) -> Iterator[Said]:
    believed = {one.block for one in trials if one.measured and one.believed}
    if case.believed != len(believed):
        yield f"{case.believed}, but {len(believed)} are to be believed", ("believed",)
    if case.capacity is None and case.passed != (right := passed(checks)):
        yield f"{case.passed}, but {right} checks passed in all trials", ("passed",)
    if case.load is not None and case.load not in [one.load for one in trials]:
        yield "no trial had such a load", ("load",)


def _alike(check: Check, other: Check) -> bool:
    return (check.status, check.id, check.of) == (other.status, other.id, other.of)


def _doubt(told: DoubtedTrial, trial: Trial | None, *, latency: bool) -> str:
    if trial is None:
        return f"trial {told.trial} is none of this case"
    if (told.block, told.attempt) != (trial.block, trial.attempt):
        return f"trial {trial.number} has another block or attempt"
    doubts = trial.latency_doubts if latency else trial.doubts
    return "" if told.checks == doubts else f"trial {trial.number} has other doubts"
