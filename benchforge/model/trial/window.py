"""The part of a load that counts, and the warm-up that is cut from its start."""

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import NonNegativeFloat, NonNegativeInt

from benchforge.model.trial.reading import Reading
from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import exact

if (
    TYPE_CHECKING
):  # metrics import this when a suite is read, and need no trial before one is measured
    from benchforge.model.trial.observation import NetworkFlow
    from benchforge.model.trial.trial import Trial

Classification = Literal["flat", "warm-up", "late", "step", "trend", "unknown"]

_NEARLY = 1e-6  # of a bin: clocks tell a load of 10 s as 9.9999999


class Window(Frozen):
    """The part of each load that counts: all of it, or the part after a warm-up."""

    cut_s: NonNegativeFloat = 0.0
    "Time from the load's start that does not count; 0 if the whole load counts."
    why: str = ""
    "Reason for the length of the cut, or for no cut."

    @property
    def whole(self) -> str:
        """Note for a number that covers the whole load; empty if nothing is cut."""
        return f"of the whole load, its first {exact(self.cut_s)} s too" if self.cut_s else ""


WHOLE = Window()
"All of each load."


class SteadyState(Frozen):
    """Steady state of a case, by the mean of its trials over time."""

    classification: Classification
    """Course of the throughput. flat: constant from the start; warm-up: constant after a cut; late:
    not constant after half of the load; step, trend: changes of the level; unknown."""
    warm_up_s: NonNegativeFloat | None = None
    "Length of the warm-up; None if unknown, or without a steady state."
    change: float | None = None
    "Relative size of a step, of a trend, or of the warm-up's distance from the level."
    bin_s: NonNegativeFloat | None = None
    "Length of each bin of the course."
    bins: NonNegativeInt = 0
    "Number of bins."
    trials: NonNegativeInt = 0
    "Number of trials whose mean is the course."
    message: str
    "Course in one sentence, with figures."

    @property
    def felt(self) -> float:
        """Share of the level by which the warm-up moves the mean of the whole load."""
        if not self.warm_up_s or not self.bin_s or self.change is None:
            return 0.0
        return abs(self.change) * self.warm_up_s / (self.bin_s * self.bins)

    @property
    def steady(self) -> bool | None:
        """True for a steady state; None if unknown."""
        if self.classification == "unknown":
            return None
        return self.classification in {"flat", "warm-up"}


class Bins(NamedTuple):
    """The bins that are completely inside the load, in their order."""

    seconds: float
    "Length of each bin."
    counts: tuple[int, ...]
    "Number of complete responses in each bin, or of what represents them."
    beside: int = 0
    "Count of the same load outside of these bins, at its start and end."
    counter: str = ""
    "Counter that represents responses, such as TcpOutSegs; empty for responses."

    def joined(self, width_s: float) -> "Bins":
        """Return wider bins, each of the same number of these; a rest is left over."""
        each = max(1, math.ceil(width_s / self.seconds - _NEARLY))
        end = len(self.counts) // each * each
        counts = (sum(self.counts[start : start + each]) for start in range(0, end, each))
        rest = sum(self.counts[end:])
        return Bins(self.seconds * each, tuple(counts), self.beside + rest, self.counter)


class LoadAfterCut(NamedTuple):
    """The part of a load after a cut."""

    share: float
    "Share of the load's responses after the cut, from 0 to 1."
    seconds: float
    "Time after the cut."
    unanswered: int | None
    "Requests that ended after the cut without a complete response; None if unknown."
    note: str
    "Description of the cut and of the source of the share; empty without a cut."


def bins_of(trial: "Trial") -> tuple[Bins | None, str]:
    """Return the bins of a trial's load, or None and why there are none."""
    reading, observation = trial.reading, trial.observation
    if reading is None:
        return None, "the trial has no measurement"
    if trial.turns is not None:
        return None, "the load had pauses: the servers took turns"
    if reading.stages:
        return None, "the rate of the load changes by plan"
    if reading.series is not None:
        series = reading.series
        whole_bins = math.floor(reading.seconds / series.bin_s + _NEARLY)
        counts = series.completed
        return Bins(series.bin_s, counts[:whole_bins], sum(counts[whole_bins:])), ""
    if observation is None or observation.flow is None:
        return None, "the tool does not tell what ended when, and the network was not watched"
    return _of_flow(observation.flow, reading)


def after_cut(trial: "Trial", window: Window) -> LoadAfterCut | None:
    """Return the part of a trial's load after the cut; None without bins or a reading."""
    reading = trial.reading
    if reading is None:
        return None
    if not window.cut_s:
        return LoadAfterCut(1.0, reading.seconds, reading.unanswered, "")
    bins, _ = bins_of(trial)
    if bins is None:
        return None
    skipped = math.ceil(window.cut_s / bins.seconds - _NEARLY)
    remaining, total = bins.counts[skipped:], sum(bins.counts) + bins.beside
    if not remaining or not total:
        return None
    cut = f"without the first {exact(window.cut_s)} s"
    if bins.counter:
        note = f"{cut}: responses times the share of {bins.counter} that is left"
        return LoadAfterCut(sum(remaining) / total, len(remaining) * bins.seconds, None, note)
    share = (sum(remaining) + bins.beside) / total
    errors = None if reading.series is None else sum(reading.series.errors[skipped:])
    return LoadAfterCut(share, reading.seconds - skipped * bins.seconds, errors, cut)


def _of_flow(flow: "NetworkFlow", reading: Reading) -> tuple[Bins | None, str]:
    """Return the whole bins inside the load: it begins in the first bin with traffic."""
    first = next((index for index, sent in enumerate(flow.sent) if sent), None)
    if first is None:
        return None, f"the network's counter {flow.counter} never moved"
    full_bins = math.floor(reading.seconds / flow.bin_s + _NEARLY) - 1
    counts = flow.sent[first + 1 : first + 1 + max(0, full_bins)]
    return Bins(flow.bin_s, counts, sum(flow.sent) - sum(counts), flow.counter), ""
