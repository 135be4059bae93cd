"""A load whose rate changes by plan, over its time and by stage."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from benchforge.plugin import CaseSummary, Histogram, Reading, StageReading, Trial, readable
from benchforge_reporters.text.words import names

_TAIL_RESPONSES = 1000
"Responses behind a p99: ten are then beyond it."
_POINTS = 150
"Points of a line at most: bins are joined."
_LINES = 10
"Trials of a case that are drawn, the first ones."


@dataclass(frozen=True)
class Moment:
    """A part of a stage, over all trials of a case."""

    start_s: float
    end_s: float
    due: float
    "Requests per second that were due."
    p50_us: float | None
    p99_us: float | None
    "99th percentile, in µs; None where fewer than 1,000 responses are behind it, or if unknown."


class LoadOverTime:
    """A case over the time of its load."""

    def __init__(self, label: str, server: str, readings: Sequence[Reading]) -> None:
        self.label, self.server = label, server
        self.borders_s = [*accumulate(stage.seconds for stage in readings[0].stages)]
        "End of each stage."
        self.moments = [*_moments([reading.stages for reading in readings])]
        self.bin_s = 0.0
        "Length of the bins of `rates`; 0 without any."
        self.rates: list[list[float]] = []
        "Responses per second in each bin, for each trial."
        for reading in readings[:_LINES]:
            if reading.series is not None:
                each = max(1, -(-len(reading.series.completed) // _POINTS))
                self.bin_s = each * reading.series.bin_s
                # The last bin may be shorter, so it has no rate.
                counts = reading.series.completed[: int(reading.seconds / reading.series.bin_s)]
                bins = range(0, len(counts) // each * each, each)
                self.rates.append(
                    [sum(counts[start : start + each]) / self.bin_s for start in bins]
                )


def loads_over_time(cases: Sequence[CaseSummary], trials: Sequence[Trial]) -> list[LoadOverTime]:
    """Return the cases whose loads had stages, each over all of its measured trials."""
    loads = []
    for name, case in zip(names(cases), cases, strict=True):
        readings = [trial.reading for trial in trials if trial.case == case.case]
        if staged := [reading for reading in readings if reading and reading.stages]:
            loads.append(LoadOverTime(name, case.case.server, staged))
    return loads


def _moments(trials: Sequence[Sequence[StageReading]]) -> Iterator[Moment]:
    start_s = 0.0
    for stages in zip(*trials, strict=False):
        for parts in zip(*(stage.parts or (stage,) for stage in stages), strict=False):
            seconds = sum(part.seconds for part in parts)
            end_s = start_s + parts[0].seconds
            if seconds:
                yield _moment(parts, seconds, (start_s, end_s))
            start_s = end_s


def _moment(parts: Sequence[StageReading], seconds: float, span: tuple[float, float]) -> Moment:
    latency = Histogram.added(part.latency for part in parts)
    lost = sum(part.errors + part.unfinished for part in parts)
    has_tail = latency.count >= _TAIL_RESPONSES
    return Moment(
        *span,
        due=(latency.count + lost) / seconds,
        p50_us=latency.quantile(0.5, censored=lost) if latency.count else None,
        p99_us=latency.quantile(0.99, censored=lost) if has_tail else None,
    )


def stages_of(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a sentence for each stage of the loads of a case."""
    readings = [trial.reading.stages for trial in trials if trial.reading is not None]
    for number, stages in enumerate(zip(*readings, strict=False), 1):
        yield f"stage {number}, {stages[0].stage}: {_measured(stages)}"


def _measured(stages: Sequence[StageReading]) -> str:
    latency = Histogram.added(stage.latency for stage in stages)
    errors = sum(stage.errors for stage in stages)
    unfinished = sum(stage.unfinished for stage in stages)
    seconds = sum(stage.seconds for stage in stages)
    if not seconds:
        return "not reached"
    says = [f"{readable.figure(latency.count / seconds)} responses/s"]
    for share, wanted in ((0.5, 1), (0.99, _TAIL_RESPONSES)):
        value = latency.quantile(share, censored=errors + unfinished)
        if latency.count >= wanted:
            time_text = "unknown" if value is None else readable.amount("s", value / 1e6)
            says.append(f"p{share * 100:g} {time_text}")
    if errors:
        says.append(readable.counted(errors, "error"))
    if unfinished:
        says.append(f"{readable.exact(unfinished)} without an answer at the end")
    return ", ".join(says)
