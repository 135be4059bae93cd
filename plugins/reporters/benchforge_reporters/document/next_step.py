"""What to measure next, where a result leaves a question open."""

from collections.abc import Sequence

from benchforge.plugin import Trial, readable
from benchforge_reporters.document.answers import ComparisonAnswer
from benchforge_reporters.document.claim_lines import ClaimLine

_HALF = 4  # times as many blocks make an interval half as wide


def next_step(
    answers: Sequence[ComparisonAnswer],
    claims: Sequence[ClaimLine],
    trials: Sequence[Trial],
    blocks: int,
) -> str:
    """Return the command that decides what is undecided, with its time; empty if nothing is."""
    needed = [line.text.verdict.blocks_needed for line in claims if line.state == "inconclusive"]
    enough = max((number for number in needed if number is not None), default=0)
    open_answers = any(answer.undecided for answer in answers)
    if not blocks or not (needed or open_answers):
        return ""
    goal = "To decide" if enough > blocks else "To make the intervals half as wide"
    more = enough if enough > blocks else _HALF * blocks
    lasts = readable.spoken(seconds_of(trials) * more / blocks)
    return f"{goal}: benchforge run SUITE --set repeat.blocks={more}, about {lasts}"


def seconds_of(trials: Sequence[Trial]) -> float:
    """Return how long a run took, in seconds, from its first trial to its last."""
    ends = [trial.started.timestamp() + trial.seconds for trial in trials]
    return max(ends) - min(trial.started.timestamp() for trial in trials) if trials else 0.0
