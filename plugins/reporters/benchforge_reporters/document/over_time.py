"""A load whose rate changes by plan, over its time and by stage."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from benchforge.plugin import CaseSummary, Histogram, StageReading, Trial, readable
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


@dataclass(frozen=True)
class LoadOverTime:
    """A case over the time of its load."""

    label: str
    server: str
    borders_s: tuple[float, ...]
    "End of each stage."
    moments: tuple[Moment, ...]
    bin_s: float
    "Length of the bins of `rates`; 0 without any."
    rates: tuple[tuple[float, ...], ...]
    "Responses per second in each bin, for each trial."


def loads_over_time(cases: Sequence[CaseSummary], trials: Sequence[Trial]) -> list[LoadOverTime]:
    """Return the cases whose loads had stages, each over all of its measured trials."""
    named_cases = zip(names(cases), cases, strict=True)
    pairs = [(name, case, [t for t in trials if t.case == case.case]) for name, case in named_cases]
    return [
        load
        for name, case, trials_of_case in pairs
        if (load := _over_time(name, case.case.server, trials_of_case)) is not None
    ]


def _over_time(name: str, server: str, trials: Sequence[Trial]) -> LoadOverTime | None:
    readings = [t.reading for t in trials if t.reading is not None and t.reading.stages]
    if not readings:
        return None
    bin_s, rates = 0.0, []
    for reading in readings[:_LINES]:
        if reading.series is not None:
            each = max(1, -(-len(reading.series.completed) // _POINTS))
            bin_s = each * reading.series.bin_s
            # The last bin may be shorter, so it has no rate.
            counts = reading.series.completed[: int(reading.seconds / reading.series.bin_s)]
            starts = range(0, len(counts) // each * each, each)
            rates.append(tuple(sum(counts[start : start + each]) / bin_s for start in starts))
    moments = tuple(_moments([reading.stages for reading in readings]))
    borders_s = tuple(accumulate(stage.seconds for stage in readings[0].stages))
    return LoadOverTime(name, server, borders_s, moments, bin_s, tuple(rates))


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
