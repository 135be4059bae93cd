"""How much of a load counts: one cut for all cases that are compared, so that none is favoured."""

from collections.abc import Sequence

from benchforge.model.trial.bins import Bins, bins_of
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.window import SteadyState, Window
from benchforge.stats.timeseries.warm_up import LEAST, WarmUpFit, ensemble, examine
from benchforge.text.readable import change, exact, percent

FINE_S = 0.25
"Width of a bin in a load of up to SHORT_S."
COARSE_S = 1.0
"Width of a bin in a longer one; wider where there were more than MOST."
SHORT_S = 15.0
MOST = 600
"Bins: what is looked for takes the square of their number."

_DIGITS = 6  # of seconds
_SHORT_ENOUGH = SHORT_S + 0.05  # a load of 15 s takes a little more


def settled(trials: Sequence[Trial]) -> SteadyState:
    """Return whether a case settled, from the mean course of its trials."""
    longest = max((trial.reading.seconds for trial in trials if trial.reading), default=0.0)
    width = FINE_S if longest <= _SHORT_ENOUGH else max(COARSE_S, longest / MOST)
    trial_bins: list[Bins] = []
    for trial in trials:
        bins, why = bins_of(trial)
        if bins is None:
            return SteadyState(classification="unknown", trials=len(trials), message=why)
        trial_bins.append(bins.joined(width))
    if not trial_bins:
        return SteadyState(classification="unknown", message="no trial has a measurement")
    size, bin_s = (
        min(len(bins.counts) for bins in trial_bins),
        round(trial_bins[0].seconds, _DIGITS),
    )
    if any(round(bins.seconds, _DIGITS) != bin_s for bins in trial_bins):
        says = "the trials have bins of different length"
        return SteadyState(classification="unknown", trials=len(trial_bins), message=says)
    if size < LEAST:
        says = (
            f"{size} bins of {exact(bin_s)} s are too few to see a warm-up: it takes {LEAST}, "
            f"a load of {exact(LEAST * FINE_S)} s or more"
        )
        return SteadyState(
            classification="unknown", bin_s=bin_s, bins=size, trials=len(trial_bins), message=says
        )
    try:
        course = ensemble([bins.counts for bins in trial_bins])
    except ValueError as error:
        says = f"too little was answered to see a warm-up: {error}"
        return SteadyState(
            classification="unknown", bin_s=bin_s, bins=size, trials=len(trial_bins), message=says
        )
    fit = examine(course)
    return SteadyState(
        classification=fit.course,
        warm_up_s=round(fit.cut * bin_s, _DIGITS) if fit.course in {"flat", "warm-up"} else None,
        change=fit.change or None,
        bin_s=bin_s,
        bins=size,
        trials=len(trial_bins),
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
        why = (
            f"nothing is cut: the longest warm-up, {exact(cut_s)} s, is more than "
            "half of the shortest load that it is compared with"
        )
        return Window(why=why)
    why = f"the longest warm-up among those compared took {exact(cut_s)} s"
    return Window(cut_s=cut_s, why=why)


def window_of(case: SteadyState, group: Window) -> Window:
    """Return what counts of a case: what the group says, or all of it where it never settled."""
    if case.steady is False:
        return Window(why=f"all of the load: {case.message}")
    return group


def _describe(fit: WarmUpFit, bin_s: float) -> str:
    cut_s = fit.cut * bin_s
    match fit.course:
        case "flat":
            return "steady from the start"
        case "warm-up":
            return f"steady after {exact(cut_s)} s"
        case "late":
            return f"not settled after {exact(cut_s)} s, half of the load: lengthen the warm-up"
        case "step" if fit.change == -1:
            return (
                "for a part of what was measured nothing was answered: look for what stands still, "
                "or lengthen the load or the warm-up"
            )
        case "step":
            return (
                f"its level changed by {change(fit.change)} while it was measured: "
                "lengthen the load or the warm-up, and look for what changes"
            )
        case "trend":
            moved = "rose" if fit.change > 0 else "fell"
            return (
                f"its level {moved} by {percent(abs(fit.change))} over the load: "
                "lengthen the warm-up, and look for what grows"
            )
