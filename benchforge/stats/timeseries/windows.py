"""Windows of loads: one cut of the warm-up for all cases that are compared."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from statistics import fmean, median
from typing import Literal, NamedTuple

from benchforge.model.trial.trial import Trial
from benchforge.model.trial.window import Bins, SteadyState, Window, bins_of
from benchforge.stats.timeseries.trend import growth, mann_kendall, partition
from benchforge.text.readable import change, exact, percent

# Where a warm-up ends: Welch's averaging over replications and MSER (White, 1997), then steps and a
# trend in what is kept. That a server settles must not be taken for granted (Barrett et al., 2017).
LEAST = 20
"Bins: with 10, a flat course is called unsteady in 18 to 25 % of all cases."
TOLERANCE = 0.03
"Share of the level that a step or a trend may change."

_LIMIT = 0.45  # of the bins: a warm-up that reaches so far may reach further
_SURE = 0.01  # the p of a trend
_MOST_RHO = 0.6
_FAR = 8.0  # standard deviations: what lies further counts as if it lay there
_WIDTH = 3.0  # standard deviations: what lies further is no part of how neighbours resemble
_PENALTY = 8.0
_FEWEST = 3  # bins of a level
_FINEST = 1e-3  # of the level: the smallest deviation, where a tool keeps a rate exactly
_NORMAL = 1.4826  # standard deviations of a normal distribution in a median absolute deviation


class WarmUpFit(NamedTuple):
    """The course of a load, by bins."""

    course: Literal["flat", "warm-up", "late", "step", "trend"]
    cut: int
    "Bins of its warm-up."
    change: float = 0.0
    "Relative size of a step, of a trend, or of the warm-up's distance from the level."


def ensemble(runs: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean course of runs, each in units of its own median; as long as the shortest.

    Raises ValueError for a run whose median is 0, and without runs.
    """
    size = min(map(len, runs))
    scaled = [_scaled(run[:size]) for run in runs]
    return [fmean(bins) for bins in zip(*scaled, strict=True)]


def examine(course: Sequence[float]) -> WarmUpFit:
    """Return the fit to a course of at least LEAST bins."""
    cut = mser(course)
    if cut >= _LIMIT * len(course):
        return WarmUpFit("late", cut)
    remainder = course[cut:]
    rho = _resemblance(remainder)
    inflation = (1 + rho) / (1 - rho)
    if step := _step(remainder, inflation, len(course)):
        return WarmUpFit("step", cut, step)
    rise = growth([*enumerate(remainder)], len(remainder) - 1) or 0.0
    if abs(rise) > TOLERANCE and mann_kendall(remainder, inflation) < _SURE:
        return WarmUpFit("trend", cut, rise)
    if not cut:
        return WarmUpFit("flat", 0)
    return WarmUpFit("warm-up", cut, fmean(course[:cut]) / fmean(remainder) - 1)


def mser(course: Sequence[float]) -> int:
    """Return how many bins to leave out: the fewest with the smallest standard error of the rest.

    At most half of them: argmin over d of sum (x_t - mean)^2 / (m - d)^2, t from d on.
    """
    size = len(course)
    errors = [_squares(course[cut:]) / (size - cut) ** 2 for cut in range(size // 2 + 1)]
    least = min(errors)
    return next(cut for cut, error in enumerate(errors) if error <= least * (1 + 1e-9) + 1e-18)


def _scaled(run: Sequence[float]) -> list[float]:
    level = median(run)
    if level <= 0:
        raise ValueError("in most bins nothing ended")
    return [count / level for count in run]


def _step(remainder: Sequence[float], inflation: float, size: int) -> float:
    """Return the share by which the level changed between the two furthest apart.

    0 where the higher is no more above the lower than is tolerated; -1 where the lower is 0,
    whichever came first.
    """
    level = median(remainder)
    rough = _deviation([later - earlier for earlier, later in pairwise(remainder)])
    # Where nothing ended in most of these bins, their level is 0: then what did end is the measure.
    scale = max(rough / math.sqrt(2), _FINEST * (level or fmean(remainder)))
    clipped = [max(-_FAR, min(_FAR, (value - level) / scale)) for value in remainder]
    penalty = _PENALTY * math.log(len(remainder)) * inflation
    changes = partition(clipped, penalty, max(_FEWEST, size // 10))
    edges = [0, *changes, len(remainder)]
    levels = [median(remainder[start:end]) for start, end in pairwise(edges)]
    lowest, highest = min(levels), max(levels)
    if lowest <= 0:
        return -1.0
    if highest / lowest - 1 <= TOLERANCE:
        return 0.0
    rises = levels.index(lowest) < levels.index(highest)
    return highest / lowest - 1 if rises else lowest / highest - 1


def _resemblance(values: Sequence[float]) -> float:
    """Return how much neighbours resemble one another: the autocorrelation at lag 1, 0 to 0.6."""
    level, reach = median(values), _WIDTH * _deviation(values)
    tamed = [max(level - reach, min(level + reach, value)) for value in values]
    spread = _squares(tamed)
    if spread <= 0:
        return 0.0
    middle = fmean(tamed)
    together = sum((value - middle) * (other - middle) for value, other in pairwise(tamed))
    return max(0.0, min(_MOST_RHO, together / spread))


def _deviation(values: Sequence[float]) -> float:
    middle = median(values)
    return _NORMAL * median(abs(value - middle) for value in values)


def _squares(values: Sequence[float]) -> float:
    middle = fmean(values)
    return math.fsum((value - middle) ** 2 for value in values)


FINE_S = 0.25
"Width of a bin in a load of up to SHORT_S."
COARSE_S = 1.0
"Width of a bin in a longer one; wider where there were more than MOST."
SHORT_S = 15.0
MOST = 600
"Bins: the search for steps takes the square of their number."
_DIGITS = 6  # of seconds
_SHORT_ENOUGH = SHORT_S + 0.05  # a load of 15 s takes a little more


def settled(trials: Sequence[Trial]) -> SteadyState:
    """Return whether a case settled, from the mean course of its trials."""
    unknown = partial(SteadyState, classification="unknown")
    longest = max((trial.reading.seconds for trial in trials if trial.reading), default=0.0)
    width = FINE_S if longest <= _SHORT_ENOUGH else max(COARSE_S, longest / MOST)
    trial_bins: list[Bins] = []
    for trial in trials:
        bins, reason = bins_of(trial)
        if bins is None:
            return unknown(trials=len(trials), message=reason)
        trial_bins.append(bins.joined(width))
    if not trial_bins:
        return unknown(message="no trial has a measurement")
    size = min(len(bins.counts) for bins in trial_bins)
    bin_s = round(trial_bins[0].seconds, _DIGITS)
    if any(round(bins.seconds, _DIGITS) != bin_s for bins in trial_bins):
        return unknown(trials=len(trials), message="the trials have bins of different length")
    state = partial(SteadyState, bin_s=bin_s, bins=size, trials=len(trial_bins))
    if size < LEAST:
        few = f"{size} bins of {exact(bin_s)} s are too few to see a warm-up"
        says = f"{few}: it takes {LEAST}, a load of {exact(LEAST * FINE_S)} s or more"
        return state(classification="unknown", message=says)
    try:
        course = ensemble([bins.counts for bins in trial_bins])
    except ValueError as error:
        says = f"too little was answered to see a warm-up: {error}"
        return state(classification="unknown", message=says)
    fit = examine(course)
    return state(
        classification=fit.course,
        warm_up_s=round(fit.cut * bin_s, _DIGITS) if fit.course in {"flat", "warm-up"} else None,
        change=fit.change or None,
        message=_describe(fit, bin_s),
    )


def together(cases: Sequence[SteadyState]) -> Window:
    """Return the one cut of cases that are compared: the longest warm-up among them.

    A case that never settled has no say in it; with one of which nothing is known, none is cut.
    """
    unknown = next((case.message for case in cases if case.steady is None), None)
    if unknown is not None:
        return Window(why=f"nothing is cut, since warm-up is unknown: {unknown}")
    cut_s = max((case.warm_up_s for case in cases if case.warm_up_s is not None), default=None)
    if cut_s is None:
        return Window(why="nothing is cut, since nothing settled")
    if not cut_s:
        return Window(why="steady from the start")
    halves = [(case.bin_s or 0) * case.bins / 2 for case in cases if case.steady]
    if cut_s > min(halves):
        longest = f"the longest warm-up, {exact(cut_s)} s"
        half = "half of the shortest load that it is compared with"
        return Window(why=f"nothing is cut: {longest}, is more than {half}")
    reason = f"the longest warm-up among those compared took {exact(cut_s)} s"
    return Window(cut_s=cut_s, why=reason)


def window_of(case: SteadyState, group: Window) -> Window:
    """Return the window of a case: that of its group, or all of a load that never settled."""
    if case.steady is False:
        return Window(why=f"all of the load: {case.message}")
    return group


def _describe(fit: WarmUpFit, bin_s: float) -> str:
    cut_s, moved = exact(fit.cut * bin_s), "rose" if fit.change > 0 else "fell"
    step = f"its level changed by {change(fit.change)} while it was measured: lengthen the load or "
    step += "the warm-up, and look for what changes"
    if fit.change == -1:
        step = "for a part of what was measured nothing was answered: look for what stands still, "
        step += "or lengthen the load or the warm-up"
    return {
        "flat": "steady from the start",
        "warm-up": f"steady after {cut_s} s",
        "late": f"not settled after {cut_s} s, half of the load: lengthen the warm-up",
        "step": step,
        "trend": f"its level {moved} by {percent(abs(fit.change))} over the load: "
        "lengthen the warm-up, and look for what grows",
    }[fit.course]
