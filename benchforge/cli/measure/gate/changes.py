"""What a change does beside speed: other answers, and other work. It decides nothing."""

from collections.abc import Iterator

from benchforge.checks.machine.calibrated import limits_of
from benchforge.checks.summary import evidence_in
from benchforge.model.files.folder import ANSWER
from benchforge.model.summary.summary import CaseSummary, Comparison
from benchforge.model.trial.answers.answer import excerpts
from benchforge.model.trial.trial import Trial
from benchforge.parts.content import LARGEST_FILE
from benchforge.results.conclude import Summed
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.stats.verdict.comparison import ComparisonEvidence
from benchforge.text import door


def evidence_on(comparison: Comparison, result: Summed) -> ComparisonEvidence:
    """Return what decides about a comparison of a measured result."""
    assert result.header is not None  # noqa: S101 - a gate has measured it
    return evidence_in(comparison, result.summary, limits_of(result.header))


def changes(
    head: CaseSummary, base: CaseSummary, evidence: ComparisonEvidence, result: Summed
) -> tuple[str, ...]:
    """Return in what the working tree differs from its base, a sentence each."""
    answers = [*_bodies(head, base, result)]
    others = (*evidence.grave, *evidence.unlike)
    return (*answers, *(text for text in others if not (answers and text.endswith("(E3)"))))


def _bodies(head: CaseSummary, base: CaseSummary, result: Summed) -> Iterator[str]:
    sides = [_stable(case, result) for case in (base, head)]
    if None in sides:
        return
    old, new = (_body(trial, result) for trial in sides if trial is not None)
    if old is not None and new is not None and old != new:
        before, after = excerpts(old, new)
        yield f"the answer changed: the base sent {before}, the working tree {after}"


def _stable(case: CaseSummary, result: Summed) -> Trial | None:
    """Return the first trial of a case that has the same answer to each single request."""
    for trial in result.trials:
        if trial.case == case.case and trial.probes is not None:
            return trial if trial.probes.distinct == 1 else None
    return None


def _body(trial: Trial, result: Summed) -> bytes | None:
    try:
        place = ResultWriter(result.path).place(trial.number).relative_to(result.path)
        return door.read(result.path, str(place / ANSWER), LARGEST_FILE)
    except OSError:
        return None
