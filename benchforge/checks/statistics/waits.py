"""Waits of servers that go on while they are frozen, so that turns flatter them (I9)."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.stats.turns import SMALL, excesses, waiting_s
from benchforge.text.readable import amount, percent

_ALONE = 'measure it without turns: interleave = "off"'
_LENGTHS = 2
"Lengths of slices beside the usual one that together hide no timer: shorter, and longer."


def of_comparison(sides: Mapping[str, Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield for each server whether its rate depends on how long its slices are."""
    for name, trials in sides.items():
        value, says = _judged(name, trials, limits)
        yield limits.check("I9", "apparatus", value, says).about(name, "comparison")


def _judged(name: str, trials: Sequence[Trial], limits: Thresholds) -> tuple[float | None, str]:
    """Return which share of its responses turns add, or None, and the finding."""
    waits = [pair for pair in map(_waiting, trials) if pair is not None]
    if not waits:
        return None, f"how many requests {name} has in service is not known: nor whether they wait"
    wait_s, share = (median(values) for values in zip(*waits, strict=True))
    says = f"a request to {name} waits {amount('s', wait_s)} beside its CPU time by Little's law"
    says += f", {percent(share)} of a slice"
    if share <= SMALL:
        return 0.0, says
    probed = next((trial.turns for trial in trials if trial.turns and trial.turns.probed), None)
    if not (results := excesses(probed.slice_s, probed.probed) if probed else []):
        return None, f"{says}: whether its rate is another in other slices was not measured"
    limit, most = limits["I9"], max(result.most for result in results)
    worst = max(results, key=lambda result: result.mean * (result.least > 0))
    says += "; by slices of other lengths, turns add"
    if limit.status(worst.mean) != "pass" and worst.least > 0:
        says += f" {percent(worst.mean)} of its responses: its timers go on while it is frozen"
        return worst.mean, f"{says}; {_ALONE}"
    says += f" at most {percent(max(0.0, most))} of its responses (99 %)"
    if len(results) < _LENGTHS or most > limit.number("bound"):
        return None, f"{says}, but may add less: {_ALONE}"
    return max(0.0, worst.mean), says


def _waiting(trial: Trial) -> tuple[float, float] | None:
    """Return how long a request waits, in seconds and as a share of a slice; None if unknown."""
    turns, load = trial.turns, trial.load
    if turns is None or load is None or load.concurrency is None or not turns.responses:
        return None
    busy_s = turns.cpu_wait_s + sum(slice_.cpu_s + slice_.loader_cpu_s for slice_ in turns.slices)
    busy, rate = busy_s / turns.seconds, turns.responses / turns.seconds
    wait_s = waiting_s(load.concurrency, rate, busy)
    return wait_s, wait_s / turns.slice_s
