"""What a summary sums up: not what a later session measured, if that one was killed."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchforge.model.files.ceiling import Ceiling
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial


@dataclass(frozen=True)
class SummedUp:
    """Sessions, trials and ceilings of a result, up to its last session that ended."""

    sessions: tuple[Session, ...]
    trials: tuple[Trial, ...]
    ceilings: tuple[Ceiling, ...]
    later: tuple[Trial, ...]
    "Trials of a session that was killed: it wrote no summary."


def summed_up(
    count: int, sessions: Sequence[Session], trials: Sequence[Trial], ceilings: Sequence[Ceiling]
) -> SummedUp:
    """Return what was there when a summary was written that names the first `count` sessions.

    `trials` are in the order of their numbers, and `sessions` as well.
    """
    if count >= len(sessions):
        return SummedUp(tuple(sessions), tuple(trials), tuple(ceilings), ())
    following = sessions[count]
    return SummedUp(
        tuple(sessions[:count]),
        tuple(trial for trial in trials if trial.number < following.first_trial),
        tuple(ceiling for ceiling in ceilings if ceiling.trial.started < following.started),
        tuple(trial for trial in trials if trial.number >= following.first_trial),
    )
