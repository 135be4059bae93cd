"""How much of the scatter in turns is between launches, and which load of a launch saves time.

This is for planning only: in intervals and verdicts the launch is the unit.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from benchforge.plugin import Summary, Trial, readable
from benchforge_reporters.document.next_step import again

_LEAST = 5  # launches
_APART = 1.5  # times the load that was used
_MOST = 4  # times it: the variances are estimates
_FEWEST = 8  # launches that `until` takes by default, however precise they are
_WORTH = 0.1  # of the time: less is not worth a change
_TWO = 2


class LaunchScatter(NamedTuple):
    """Variances of a pair's log-ratio in turns, and what a launch takes; times for each server."""

    launches: int
    of_launches: float
    "Variance from launch to launch."
    within: float
    "Part of it that a launch's own slices explain."
    load_s: float
    start_s: float
    "Time of a launch without its load."

    @property
    def between(self) -> float:
        """Part of the variance that no longer load takes away."""
        return max(0.0, self.of_launches - self.within)

    @property
    def best_s(self) -> float:
        """Load of each server in a launch that needs the least time for an interval."""
        longest = min(_MOST * self.load_s, self._longest_s)
        if not self.between:
            return longest
        best = math.sqrt(self.start_s * self.within * self.load_s / self.between)
        return min(longest, max(self.load_s / _MOST, best))

    @property
    def _fewest(self) -> int:
        return min(self.launches, _FEWEST)

    @property
    def _longest_s(self) -> float:
        """Load at which the fewest launches give the same interval: a longer one only adds time."""
        left = self._variance(self.load_s) * self._fewest / self.launches - self.between
        return self.within * self.load_s / left if left > 0 else math.inf

    def _variance(self, load_s: float) -> float:
        return self.between + self.within * self.load_s / load_s

    def saved(self, load_s: float) -> float:
        """Return the share of time that another load saves for the same interval."""
        then = self.launches * (self.start_s + self.load_s)
        if not then or not self._variance(self.load_s):
            return 0.0
        needed = self.launches * self._variance(load_s) / self._variance(self.load_s)
        return 1 - max(self._fewest, needed) * (self.start_s + load_s) / then


def launches(summary: Summary, trials: Sequence[Trial]) -> str:
    """Return how the scatter of ratios in turns is divided; empty where it is not known."""
    scatters = [
        (group[0][0].case.scenario, of)
        for group in _groups(trials)
        if (of := _scatter(group)) is not None and of.of_launches
    ]
    if not scatters:
        return ""
    shares = [of.between / of.of_launches for _, of in scatters]
    share = readable.percent(round(statistics.fmean(shares), 2))
    text = f"In turns, about {share} of the scatter of ratios comes from the starts of the servers"
    _, advice = max(_advice(scenario, of, summary) for scenario, of in scatters)
    return f"{text}{advice}"


def _advice(scenario: str, scatter: LaunchScatter, summary: Summary) -> tuple[float, str]:
    """Return the time that another load of a scenario saves, and the setting; 0 where little."""
    best_s = float(f"{scatter.best_s:.1g}" if scatter.best_s < 1 else f"{scatter.best_s:.2g}")
    saved = scatter.saved(best_s)
    if max(best_s / scatter.load_s, scatter.load_s / best_s) <= _APART or saved < _WORTH:
        return 0.0, ""
    each = f"{best_s:g}s" if best_s >= 1 else f"{1000 * best_s:.0f}ms"
    run = again(summary, f"--set scenarios.{scenario}.each={each}", f"--only {scenario}")
    less = readable.percent(round(saved, 2))
    return saved, f": for the same intervals, {run} needs about {less} less time"


def _groups(trials: Sequence[Trial]) -> Iterator[list[tuple[Trial, ...]]]:
    """Yield the launches of each set of cases that took turns, each by the titles of its cases."""
    by_number = {trial.number: trial for trial in trials if trial.measured}
    groups: dict[tuple[str, ...], list[tuple[Trial, ...]]] = {}
    for turns in dict.fromkeys(one.turns.trials for one in by_number.values() if one.turns):
        if all(number in by_number for number in turns):
            launch = sorted((by_number[number] for number in turns), key=lambda of: of.case.title)
            groups.setdefault(tuple(of.case.title for of in launch), []).append(tuple(launch))
    yield from groups.values()


def _scatter(group: Sequence[tuple[Trial, ...]]) -> LaunchScatter | None:
    """Return the variances of the launches of one set of cases, as means over its pairs."""
    if len(group) < _LEAST:
        return None
    rates = [[_log_rates(trial) for trial in launch] for launch in group]
    if any(len(of_trial) < _TWO for launch in rates for of_trial in launch):
        return None
    pairs = [*combinations(range(len(group[0])), 2)]
    differences = [
        [[a - b for a, b in zip(launch[i], launch[j], strict=True)] for launch in rates]
        for i, j in pairs
    ]
    within = [
        statistics.fmean(statistics.variance(of) / len(of) for of in pair) for pair in differences
    ]
    of_launches = [statistics.variance(map(statistics.fmean, pair)) for pair in differences]
    loads = [turns.seconds for launch in group for one in launch if (turns := one.turns)]
    load_s = statistics.fmean(loads)
    whole_s = statistics.fmean(launch[0].seconds / len(launch) for launch in group)
    means = statistics.fmean(of_launches), statistics.fmean(within)
    return LaunchScatter(len(group), *means, load_s, max(0.0, whole_s - load_s))


def _log_rates(trial: Trial) -> list[float]:
    """Return the log of the rate in each round and its mirror; less where one has no response."""
    slices = () if trial.turns is None else trial.turns.slices
    twice = zip(slices[::2], slices[1::2], strict=False)
    sums = [(one.responses + two.responses, one.seconds + two.seconds) for one, two in twice]
    if not all(count and seconds for count, seconds in sums):
        return []
    return [math.log(count / seconds) for count, seconds in sums]
