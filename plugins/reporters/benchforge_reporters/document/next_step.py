"""Advice on what to measure next: open questions of a result, and the best length of a launch.

Of launches in turns this is for planning only: in intervals and verdicts the launch is the unit.
"""

import math
import shlex
import statistics
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from benchforge.plugin import Summary, Trial, readable
from benchforge_reporters.document.answers import ComparisonAnswer
from benchforge_reporters.document.claims import ClaimLine

_LEAST = 8  # blocks: some of them then have noise that met the servers alike
_BRIDGE = "-alone"  # the label's end, after that of the scenario in turns
_MOST = 2  # scenarios in a command: those that need the least time
_HALF = 4  # times as many blocks make an interval half as wide
_Z = 1.6449  # normal quantile of 95 %
_LEAST_LAUNCHES = 5  # launches
_APART = 1.5  # times the load that was used
_MOST_TIMES = 4  # times it: the variances are estimates
_FEWEST = 4  # launches that `until` takes by default, however precise they are
_WORTH = 0.1  # of the time: less is not worth a change
_TWO = 2


def next_step(
    answers: Sequence[ComparisonAnswer],
    claims: Sequence[ClaimLine],
    summary: Summary,
    trials: Sequence[Trial],
) -> str:
    """Return what to do if noise met all trials, and the command that decides what is open."""
    blocks = blocks_by_scenario(summary)
    noisy = _noisy(trials, max(blocks.values(), default=0)) if answers else ""
    unclear = [line for line in claims if line.state == "inconclusive"]
    goal, wanted = "To decide", _decisive(unclear, blocks)
    if not wanted:
        goal = "To make the intervals half as wide"
        undecided = (answer.scenario for answer in answers if answer.undecided)
        scenarios = [name for name in (*_scenarios(unclear), *undecided) if name in blocks]
        wanted = {scenario: _HALF * blocks[scenario] for scenario in scenarios}
    if not wanted:
        return noisy
    of_scenario = {name: [t for t in trials if t.case.scenario == name] for name in wanted}
    lasts = {name: wanted[name] / blocks[name] * busy_s(of_scenario[name]) for name in wanted}
    if len({*wanted.values()}) > 1 or len(wanted) < len(blocks):
        quickest = sorted(wanted, key=lambda scenario: lasts[scenario])[:_MOST]
        wanted = {scenario: wanted[scenario] for scenario in wanted if scenario in quickest}
    command = again(summary, *settings_of_blocks(wanted, blocks, summary))
    seconds = sum(lasts[scenario] for scenario in wanted)
    return f"{noisy} {goal}: {command}, about {readable.spoken(seconds)}".strip()


def again(summary: Summary, *words: str) -> str:
    """Return the command with the run's profile, and `words` after it.

    The suite is called SUITE: at the end of a run, benchforge writes the file there.
    """
    profile = [f"--profile {shlex.quote(summary.profile)}"] if summary.profile else []
    return " ".join(["benchforge run SUITE", *profile, *words])


def blocks_by_scenario(summary: Summary) -> dict[str, int]:
    """Return how many blocks each scenario of the suite has: bridges are made for `bridge`."""
    in_turns = {case.case.scenario for case in summary.cases if case.in_turns}
    blocks: dict[str, set[int]] = {}
    for case in summary.cases:
        numbers = blocks.setdefault(case.case.scenario, set())
        numbers.update(sample.block for line in case.metrics for sample in line.samples)
    return {
        scenario: len(numbers)
        for scenario, numbers in blocks.items()
        if numbers and scenario.removesuffix(_BRIDGE) not in in_turns - {scenario}
    }


def _decisive(unclear: Sequence[ClaimLine], blocks: Mapping[str, int]) -> dict[str, int]:
    """Return each scenario of a claim that more blocks decide, with how many that takes."""
    needed: dict[str, int] = {}
    for line in unclear:
        needed_ = line.verdict.blocks_needed or 0
        for scenario in _scenarios([line]):
            had = blocks.get(scenario, 0)
            if had < needed_ <= readable.IN_REACH * had:
                needed[scenario] = max(needed_, needed.get(scenario, 0))
    return needed


def _scenarios(lines: Sequence[ClaimLine]) -> Iterator[str]:
    for line in lines:
        yield from (case.scenario for case in line.claim.cases)


def settings_of_blocks(
    wanted: Mapping[str, int], blocks: Mapping[str, int], summary: Summary
) -> Iterator[str]:
    """Yield the settings of each scenario; those of `repeat` for `until`, searches and alike."""
    numbers = {*wanted.values()}
    searched = any(scenario in summary.searches for scenario in wanted)
    all_alike = len(wanted) == len(blocks) > 1 and len(numbers) == 1
    if summary.stop_decision is not None or searched or all_alike:
        yield f"--set repeat.blocks={max(numbers)}"
        return
    for scenario, number in wanted.items():
        yield f"--set scenarios.{scenario}.blocks={number}"
    if len(wanted) < len(blocks) or len(blocks) == 1:
        yield from (f"--only {scenario}" for scenario in wanted)


def _noisy(trials: Sequence[Trial], blocks: int) -> str:
    """Return what to do where no trial is free of noise; empty if one is."""
    measured = [trial for trial in trials if trial.measured]
    if any(trial.believed for trial in measured) or not any(t.disturbed for t in measured):
        return ""
    quiet = "stop other programs, or take a quieter machine, and run the suite again."
    more = (
        f" Where that cannot be, run it with --set repeat.blocks={max(_LEAST, 2 * blocks)}: "
        "where noise meets the servers of a block alike, their ratio counts."
    )
    searched = any(trial.search_outcome is not None for trial in measured)
    return f"Noise met every trial: {quiet}{'' if searched else more}"


def seconds_of(trials: Sequence[Trial], summary: Summary) -> float:
    """Return the length of a run in seconds: of each session, from first to last trial."""
    firsts = [session.first_trial for session in summary.sessions]
    spans: dict[int, list[tuple[float, float]]] = {}
    for trial in trials:
        spans.setdefault(bisect(firsts, trial.number), []).append(_span(trial))
    return sum(max(e for _, e in value) - min(b for b, _ in value) for value in spans.values())


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
    rounds: int
    "Pairs of rounds of a launch: those whose scatter tells `within`."

    @property
    def shares(self) -> tuple[float, float, float]:
        """Share of the variance from launch to launch, and its interval at 90 %.

        By Paulson's approximation of F, with the degrees of freedom of one pair.
        """
        a, b = 2 / 9 / (self.launches - 1), 2 / 9 / self.launches / (self.rounds - 1)
        ratio = self.of_launches / self.within if self.within else math.inf
        centre = (1 - a) * (1 - b)
        half = _Z * math.sqrt(a * (1 - b) ** 2 + b * (1 - a) ** 2 - a * b * _Z**2)
        cubes = [(centre + side * half) / ((1 - b) ** 2 - b * _Z**2) for side in (1, -1)]
        low, high = (max(0.0, 1 - cube**3 / ratio) for cube in cubes)
        return self.between / self.of_launches, low, high

    @property
    def between(self) -> float:
        """Part of the variance that no longer load takes away."""
        return max(0.0, self.of_launches - self.within)

    @property
    def best_s(self) -> float:
        """Load of each server in a launch that needs the least time for an interval."""
        longest = min(_MOST_TIMES * self.load_s, self._longest_s)
        if not self.between:
            return longest
        best = math.sqrt(self.start_s * self.within * self.load_s / self.between)
        return min(longest, max(self.load_s / _MOST_TIMES, best))

    @property
    def _fewest(self) -> int:
        return min(self.launches, _FEWEST)

    @property
    def _longest_s(self) -> float:
        """Load at which the fewest launches give the same interval: a longer one only adds time."""
        remaining = self._variance(self.load_s) * self._fewest / self.launches - self.between
        return self.within * self.load_s / remaining if remaining > 0 else math.inf

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
    """Return what few launches cannot show, and how the scatter of ratios in turns is divided."""
    blocks = max(blocks_by_scenario(summary).values(), default=0)
    several = any(len(comparison.cases) > 1 for comparison in summary.comparisons)
    return " ".join(filter(None, (_unseen(blocks) if several else "", _divided(summary, trials))))


def _unseen(blocks: int) -> str:
    """Return what a run of so few blocks cannot show; empty for others."""
    if not 1 < blocks <= _LEAST:
        return ""
    share = readable.percent(round(1 - 0.05 ** (1 / blocks), 2))
    few = f"{readable.counted(blocks, 'block')} cannot show a mode, a skew, a drift or"
    still = f"if no launch was slow, up to {share} of launches may still be (95 %)."
    return f"{few} a resemblance of blocks: {still}"


def _divided(summary: Summary, trials: Sequence[Trial]) -> str:
    """Return how the scatter of ratios in turns is divided; empty where it is not known."""
    scatters = [
        (group[0][0].case.scenario, scatter)
        for group in _groups(trials)
        if (scatter := _scatter(group)) is not None and scatter.of_launches
    ]
    if not scatters:
        return ""
    shares, lows, highs = zip(*(scatter.shares for _, scatter in scatters), strict=True)
    parts = statistics.fmean(shares), min(lows), max(highs)
    share, low, high = (readable.percent(round(part, 2)) for part in parts)
    about = f"In turns, about {share} ({low} to {high}, 90 %) of the scatter of ratios"
    _, words = max(_advice(scenario, scatter, summary) for scenario, scatter in scatters)
    return f"{about} comes from the starts of the servers{words}"


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
    for turns in dict.fromkeys(value.turns.trials for value in by_number.values() if value.turns):
        if all(number in by_number for number in turns):
            launch = [by_number[number] for number in turns]
            launch.sort(key=lambda trial: trial.case.title)
            groups.setdefault(tuple(trial.case.title for trial in launch), []).append(tuple(launch))
    yield from groups.values()


def _scatter(group: Sequence[tuple[Trial, ...]]) -> LaunchScatter | None:
    """Return the variances of the launches of one set of cases, as means over its pairs."""
    if len(group) < _LEAST_LAUNCHES:
        return None
    rates = [[t.turns.log_rates if t.turns else () for t in launch] for launch in group]
    if any(len(of_trial) < _TWO for launch in rates for of_trial in launch):
        return None
    pairs = [*combinations(range(len(group[0])), 2)]
    differences = [
        [[a - b for a, b in zip(launch[i], launch[j], strict=True)] for launch in rates]
        for i, j in pairs
    ]
    errors = ([statistics.variance(logs) / len(logs) for logs in pair] for pair in differences)
    within = [*map(statistics.fmean, errors)]
    of_launches = [statistics.variance(map(statistics.fmean, pair)) for pair in differences]
    loads = [turns.seconds for launch in group for trial in launch if (turns := trial.turns)]
    load_s = statistics.fmean(loads)
    whole_s = statistics.fmean(launch[0].seconds / len(launch) for launch in group)
    means = statistics.fmean(of_launches), statistics.fmean(within)
    start_s, rounds = max(0.0, whole_s - load_s), min(len(logs) for logs in rates[0])
    return LaunchScatter(len(group), *means, load_s, start_s, rounds)
