"""A load over time: what ended in each bin, or what the network sent where no tool tells that."""

import math
from dataclasses import dataclass

from benchforge.model.trial.observation import NetworkFlow
from benchforge.model.trial.reading import Reading, Series
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.window import Window
from benchforge.text.readable import exact

_NEARLY = 1e-6  # of a bin: clocks tell a load of 10 s as 9.9999999


@dataclass(frozen=True)
class Bins:
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
        whole = len(self.counts) // each * each
        counts = (sum(self.counts[start : start + each]) for start in range(0, whole, each))
        rest = sum(self.counts[whole:])
        return Bins(self.seconds * each, tuple(counts), self.beside + rest, self.counter)


@dataclass(frozen=True)
class LoadAfterCut:
    """The part of a load after a cut."""

    share: float
    "Share of the load's responses after the cut, from 0 to 1."
    seconds: float
    "Time after the cut."
    unanswered: int | None
    "Requests that ended after the cut without a complete response; None if unknown."
    note: str
    "Description of the cut and of the source of the share; empty without a cut."


def bins_of(trial: Trial) -> tuple[Bins | None, str]:
    """Return the bins of a trial's load, or None and why there are none."""
    reading, observation = trial.reading, trial.observation
    if reading is None:
        return None, "the trial has no measurement"
    if trial.turns is not None:
        return None, "the load had pauses: the servers took turns"
    if reading.stages:
        return None, "the rate of the load changes by plan"
    if reading.series is not None:
        return _of_series(reading.series, reading), ""
    if observation is None or observation.flow is None:
        return None, "the tool does not tell what ended when, and the network was not watched"
    return _of_flow(observation.flow, reading)


def after_cut(trial: Trial, window: Window) -> LoadAfterCut | None:
    """Return the part of a trial's load after the cut; None without bins or a reading.

    A flow's cut is counted from its first whole bin: the load began somewhere in the bin before it.
    """
    reading = trial.reading
    if reading is None:
        return None
    if not window.cut_s:
        return LoadAfterCut(1.0, reading.seconds, reading.unanswered, "")
    bins, _ = bins_of(trial)
    if bins is None:
        return None
    skipped = math.ceil(window.cut_s / bins.seconds - _NEARLY)
    left, total = bins.counts[skipped:], sum(bins.counts) + bins.beside
    if not left or not total:
        return None
    cut = f"without the first {exact(window.cut_s)} s"
    if bins.counter:
        note = f"{cut}: responses times the share of {bins.counter} that is left"
        return LoadAfterCut(sum(left) / total, len(left) * bins.seconds, None, note)
    share = (sum(left) + bins.beside) / total
    errors = None if reading.series is None else sum(reading.series.errors[skipped:])
    return LoadAfterCut(share, reading.seconds - skipped * bins.seconds, errors, cut)


def _of_series(series: Series, reading: Reading) -> Bins:
    whole = min(len(series.completed), math.floor(reading.seconds / series.bin_s + _NEARLY))
    return Bins(series.bin_s, series.completed[:whole], sum(series.completed[whole:]))


def _of_flow(flow: NetworkFlow, reading: Reading) -> tuple[Bins | None, str]:
    """Return the bins from the second one that has traffic on, as far as the load surely reached.

    Before its load a tool starts, and afterwards it reports; in the first bin with traffic the
    load began.
    """
    first = next((place for place, sent in enumerate(flow.sent) if sent), None)
    if first is None:
        return None, f"the network's counter {flow.counter} never moved"
    whole = math.floor(reading.seconds / flow.bin_s + _NEARLY) - 1
    counts = flow.sent[first + 1 : first + 1 + max(0, whole)]
    return Bins(flow.bin_s, counts, sum(flow.sent) - sum(counts), flow.counter), ""
