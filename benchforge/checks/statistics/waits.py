"""Whether servers wait for what goes on while they are frozen, so that turns flatter them (I9)."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.stats.turns import SMALL, rise_of_rate, waiting_s
from benchforge.text.readable import amount, percent, times

_ALONE = 'measure it without turns: interleave = "off"'


def of_comparison(sides: Mapping[str, Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield for each server whether its rate depends on how long its slices are."""
    for name, trials in sides.items():
        value, says = _judged(name, trials, limits)
        yield limits.check("I9", "apparatus", value, says).about(name, scope="comparison")


def _judged(name: str, trials: Sequence[Trial], limits: Thresholds) -> tuple[float | None, str]:
    """Return by what share a rate rises in shorter slices, or None, and the finding."""
    waits = [pair for pair in map(_waiting, trials) if pair is not None]
    if not waits:
        return None, f"how many requests {name} has in service is not known: nor whether they wait"
    wait_s, share = (median(values) for values in zip(*waits, strict=True))
    says = f"a request to {name} waits {amount('s', wait_s)} beside its CPU time by Little's law"
    says += f", {percent(share)} of a slice"
    if share <= SMALL:
        return 0.0, says
    probed = (item.turns.probed for item in trials if item.turns and item.turns.probed)
    if (rise := rise_of_rate(next(probed, ()))) is None:
        return None, f"{says}: whether its rate is another in shorter slices was not measured"
    says += f"; in slices of a quarter its rate is {times(1 + rise.mean)}x that"
    falls_short = limits["I9"].status(rise.mean) == "pass"
    if falls_short or rise.least <= 0:
        noise = "" if falls_short else ", which noise may explain"
        return max(0.0, rise.mean) if falls_short else None, f"{says}{noise}"
    return rise.mean, f"{says}: its timers go on while it is frozen; {_ALONE}"


def _waiting(trial: Trial) -> tuple[float, float] | None:
    """Return how long a request waits, in seconds and as a share of a slice; None if unknown."""
    turns, load = trial.turns, trial.load
    if turns is None or load is None or load.concurrency is None or not turns.responses:
        return None
    busy_s = turns.cpu_wait_s + sum(item.cpu_s + item.loader_cpu_s for item in turns.slices)
    busy, rate = busy_s / turns.seconds, turns.responses / turns.seconds
    wait_s = waiting_s(load.concurrency, rate, busy)
    return wait_s, wait_s / turns.slice_s
