"""How long a run took, or a part of it."""

from bisect import bisect
from collections.abc import Sequence

from benchforge.plugin import Summary, Trial


def seconds_of(trials: Sequence[Trial], summary: Summary) -> float:
    """Return how long a run took, in seconds: each session from its first trial to its last.

    The time between two sessions does not count.
    """
    firsts = [one.first_trial for one in summary.sessions]
    spans: dict[int, list[tuple[float, float]]] = {}
    for trial in trials:
        spans.setdefault(bisect(firsts, trial.number), []).append(_span(trial))
    return sum(max(e for _, e in of) - min(b for b, _ in of) for of in spans.values())


def busy_s(trials: Sequence[Trial]) -> float:
    """Return for how many seconds at least one of these trials was measured."""
    seconds, until = 0.0, 0.0
    for begin, end in sorted(map(_span, trials)):
        seconds += max(0.0, end - max(begin, until))
        until = max(until, end)
    return seconds


def _span(trial: Trial) -> tuple[float, float]:
    begin = trial.started.timestamp()
    return begin, begin + trial.seconds
