"""What to measure next, where a result leaves a question open."""

from collections.abc import Sequence

from benchforge.plugin import Trial, readable
from benchforge_reporters.document.answers import ComparisonAnswer
from benchforge_reporters.document.claim_lines import ClaimLine

_LEAST = 8  # blocks: some of them then have noise that met the servers alike
_HALF = 4  # times as many blocks make an interval half as wide


def next_step(
    answers: Sequence[ComparisonAnswer],
    claims: Sequence[ClaimLine],
    trials: Sequence[Trial],
    blocks: int,
) -> str:
    """Return what to do where noise met all trials, and the command that decides what is open.

    Empty if there is nothing to do.
    """
    needed = [line.text.verdict.blocks_needed for line in claims if line.state == "inconclusive"]
    in_reach = (number for number in needed if number and number <= readable.IN_REACH * blocks)
    enough = max(in_reach, default=0)
    open_answers = any(answer.undecided for answer in answers)
    noisy = _noisy(trials, blocks) if answers else ""
    if not blocks or not (needed or open_answers):
        return noisy
    goal = "To decide" if enough > blocks else "To make the intervals half as wide"
    more = enough if enough > blocks else _HALF * blocks
    lasts = readable.spoken(seconds_of(trials) * more / blocks)
    more_blocks = f"{goal}: benchforge run SUITE --set repeat.blocks={more}, about {lasts}"
    return f"{noisy} {more_blocks}".strip()


def _noisy(trials: Sequence[Trial], blocks: int) -> str:
    """Return what to do where no trial is free of noise; empty if one is."""
    measured = [trial for trial in trials if trial.measured]
    if any(trial.believed for trial in measured) or not any(t.disturbed for t in measured):
        return ""
    what = (
        "Noise met every trial: stop other programs, or take a quieter machine, and run the suite "
        "again."
    )
    if any(trial.search_outcome is not None for trial in measured):
        return what
    return (
        f"{what} Where that cannot be, run it with --set repeat.blocks={max(_LEAST, 2 * blocks)}: "
        "where noise meets the servers of a block alike, their ratio counts."
    )


def seconds_of(trials: Sequence[Trial]) -> float:
    """Return how long a run took, in seconds, from its first trial to its last."""
    ends = [trial.started.timestamp() + trial.seconds for trial in trials]
    return max(ends) - min(trial.started.timestamp() for trial in trials) if trials else 0.0
