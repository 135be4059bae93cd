"""Lines: a metric of a case over its trials; and values as if others had left all CPUs to it."""

import math
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal

from benchforge.model.summary.doubts import disturbed, doubted
from benchforge.model.summary.ranking import Ranking
from benchforge.model.summary.summary import CaseSummary, MetricSummary, TrialSample
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.window import WHOLE, Window
from benchforge.parts.part import Metric
from benchforge.stats.turns import WHY_UNKNOWN
from benchforge.text.readable import listed, percent

WHY_NO_KIND = "the load tool does not say which request a response belongs to"
_TWO = 2  # values: one has no deviation

Place = tuple[int, bool]
"A block, and whether others disturbed the trial: values of one place may be compared."


def lines(
    trials: Sequence[Trial], metrics: Mapping[str, Metric], window: Window
) -> tuple[MetricSummary, ...]:
    """Return the lines of one case in the order of the metrics, from its measured trials."""
    if not trials:
        return ()
    return tuple(
        line
        for label, metric in metrics.items()
        for line in _of_metric(label, metric, trials, window)
    )


def of_kinds(
    trials: Sequence[Trial], metrics: Mapping[str, Metric], window: Window
) -> dict[str, tuple[MetricSummary, ...]]:
    """Return the lines of each kind of a mix; empty for a case with one request."""
    streams = [trial.stream for trial in trials if trial.stream]
    labels = dict.fromkeys(kind for stream in streams for kind in stream.kinds)
    apart = {label: metric for label, metric in metrics.items() if metric.of_kinds}
    return {key: lines([trial.of_kind(key) for trial in trials], apart, window) for key in labels}


def of_stages(
    trials: Sequence[Trial], metrics: Mapping[str, Metric]
) -> tuple[tuple[MetricSummary, ...], ...]:
    """Return the lines of each stage of a load; empty for a load with one rate."""
    counts = [len(trial.reading.stages) for trial in trials if trial.reading is not None]
    apart = {label: metric for label, metric in metrics.items() if metric.of_kinds}
    numbers = range(1, min(counts, default=0) + 1)
    return tuple(lines([trial.of_stage(n) for trial in trials], apart, WHOLE) for n in numbers)


def by_block(line: MetricSummary, believed: Collection[int]) -> dict[int, float]:
    """Return the value of a line in each block; `believed` has the trials that count."""
    return {
        sample.block: sample.sample.value
        for sample in line.samples
        if sample.trial in believed
        and sample.sample.value is not None
        and not sample.sample.lower_bound
    }


def by_place(
    line: MetricSummary, believed: Collection[int], disturbed: Collection[int]
) -> dict[Place, float]:
    """Return the values that are comparable within a place: believed, or disturbed alike."""
    values = {(block, False): value for block, value in by_block(line, believed).items()}
    return values | {(block, True): value for block, value in by_block(line, disturbed).items()}


def with_typical(
    summaries: Iterable[MetricSummary], case: CaseSummary
) -> tuple[MetricSummary, ...]:
    """Return lines with their typical values: of the trials that ratios are made of, if any."""
    return tuple(
        line.model_copy(update={"typical": None if line.median is None else _typical(line, case)})
        for line in summaries
    )


def _typical(line: MetricSummary, case: CaseSummary) -> float | None:
    believed = {sample.trial for sample in line.samples} - doubted(case, line)
    counted = [*by_place(line, believed, disturbed(case, line)).values()]
    if not counted or any(sample.sample.lower_bound for sample in line.samples):
        counted = [_value(sample.sample) for sample in line.samples]
    if min(counted) <= 0:
        return statistics.median(counted)
    return math.exp(statistics.fmean(map(math.log, counted)))


def _of_metric(
    label: str, metric: Metric, trials: Sequence[Trial], window: Window
) -> Iterator[MetricSummary]:
    groups: dict[str | None, list[TrialSample]] = {}
    equal: dict[tuple[object, ...], Sample] = {}  # most trials have no error of any class
    for trial in trials:
        for candidate in _samples(label, metric, trial, window):
            # -0.0 equals 0.0, and is another text
            sample = equal.setdefault((repr(candidate.value), candidate), candidate)
            valued = TrialSample(trial=trial.number, block=trial.block, sample=sample)
            groups.setdefault(sample.of, []).append(valued)
    # A metric without any sample still has its line: the reader sees the hole.
    for name, samples in groups.items() or [(None, [])]:
        yield _line(label, name, metric, samples, len(trials))


def _samples(label: str, metric: Metric, trial: Trial, window: Window) -> Iterator[Sample]:
    """Yield the samples of a metric and a trial; in turns only those that are valid there."""
    if trial.reading is not None and (trial.turns is None or metric.in_turns):
        yield from metric.of_trial(trial, label, window)
        return
    reason = WHY_NO_KIND if trial.reading is None else WHY_UNKNOWN
    for part in metric.parts() or (None,):
        yield Sample(metric=label, unit=metric.unit, value=None, of=part, why=reason)


def _line(
    label: str, part: str | None, metric: Metric, samples: Sequence[TrialSample], trials: int
) -> MetricSummary:
    first = samples[0].sample if samples else None
    reason = _why_unknown(samples, len(samples) if part in metric.once else trials)
    values = [] if reason else [sample.sample for sample in samples]
    median = _median(values)
    return MetricSummary(
        metric=label,
        use=metric.name,
        of=part,
        unit=first.unit if first else metric.unit,
        better=metric.better,
        estimator=first.estimator if first else None,
        samples=tuple(samples),
        median=median,
        lowest=min(map(_value, values), default=None),
        highest=max(map(_value, values), default=None),
        mean=statistics.mean(map(_value, values)) if values else None,
        sd=_deviation(values),
        lower_bound=median is not None and _median(values, beyond_bounds=True) != median,
        why=reason,
        measurand=metric.measurand,
        percentile=metric.percentile_of(part),
    )


def _why_unknown(samples: Sequence[TrialSample], trials: int) -> str:
    """Why there is no median; empty when there is one."""
    unknown: dict[str, list[int]] = {}
    for trial_sample in samples:
        if trial_sample.sample.value is None:
            unknown.setdefault(trial_sample.sample.why, []).append(trial_sample.trial)
    if [*map(len, unknown.values())] == [trials]:
        return next(iter(unknown))
    if unknown:
        return "; ".join(f"{reason} ({_named(numbers)})" for reason, numbers in unknown.items())
    with_value = len({trial_sample.trial for trial_sample in samples})
    if with_value < trials:
        verb = "has" if with_value == 1 else "have"
        counts = f"{with_value} of {trials} trials {verb} a value"
        return counts if with_value else "no trial has a value"
    units = sorted({trial_sample.sample.unit for trial_sample in samples})
    return f"the trials' units differ: {', '.join(units)}" if len(units) > 1 else ""


def _named(numbers: Sequence[int]) -> str:
    return f"{'trial' if len(numbers) == 1 else 'trials'} {listed(map(str, numbers), most=6)}"


def _median(samples: Sequence[Sample], *, beyond_bounds: bool = False) -> float | None:
    """Return the median; with `beyond_bounds`, lower bounds count as infinite.

    The median rests on lower bounds when it changes as they grow beyond everything.
    """
    if not samples:
        return None
    return statistics.median(
        math.inf if beyond_bounds and sample.lower_bound else _value(sample) for sample in samples
    )


def _deviation(samples: Sequence[Sample]) -> float | None:
    """Return the sample standard deviation; None where it cannot be known."""
    if len(samples) < _TWO or any(sample.lower_bound for sample in samples):
        return None
    return statistics.stdev(map(_value, samples))


def _value(sample: Sample) -> float:
    if sample.value is None:
        raise ValueError(sample.why)
    return sample.value


# Noise that does not end slows both sides of a block. Its differences from block to block make the
# interval of their ratio wider. A constant difference is in no interval: others may leave one side
# more of the CPUs in every block, such as a server of many threads. So an answer counts only where
# each value divided by what was left to it gives the same answer.
Better = Literal["higher", "lower"]


def left_to(case: CaseSummary) -> dict[int, float]:
    """Return the share of the CPUs that others left to a case, by block of disturbed trials."""
    return {each.block: each.left for each in case.doubted if each.disturbed and each.used}


def levelled(value: float, free: float, better: Better) -> float:
    """Return a value as if all CPUs had been left to it: a time is less then, a rate more."""
    return value / free if better == "higher" else value * free


def levelled_places(
    values: Mapping[Place, float], free: Mapping[int, float], better: Better
) -> dict[Place, float]:
    """Return values as `levelled` gives them, where others disturbed the trial."""
    return {
        (block, disturbed): levelled(value, free[block], better) if disturbed else value
        for (block, disturbed), value in values.items()
    }


def uneven(ranking: Ranking, level: Ranking, free: Mapping[str, Mapping[int, float]]) -> str:
    """Return why ranks do not count: levelled values do not tell the same pairs apart, that way."""
    also = {(pair.first, pair.second) for pair in level.pairs if pair.differ}
    for pair in ranking.pairs:
        names = pair.first, pair.second
        if pair.differ and names not in also:
            shares = [fmean(free[name].values()) for name in names if free[name]]
            if len(shares) > 1:
                return may_be_it(names, (shares[0], shares[1]))
    return ""


def may_be_it(names: tuple[str, str], shares: tuple[float, float]) -> str:
    """Return that the difference of two sides may be what others left to them."""
    (a, b), (to_a, to_b) = names, map(percent, shares)
    return f"others left {a} {to_a} of the CPUs and {b} {to_b}: that may be the difference"
