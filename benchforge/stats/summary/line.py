"""One metric of one case over its trials: all samples, median, lowest and highest."""

import math
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence

from benchforge.model.sample import Sample
from benchforge.model.summary import Line, TrialSample
from benchforge.model.trial import Trial
from benchforge.model.window import Window
from benchforge.parts.part import Metric

_TWO = 2  # values: one has no deviation


def lines(
    trials: Sequence[Trial], metrics: Mapping[str, Metric], window: Window
) -> tuple[Line, ...]:
    """Return the lines of one case in the order of the metrics, from its measured trials."""
    if not trials:
        return ()
    return tuple(
        line
        for label, metric in metrics.items()
        for line in _of_metric(label, metric, trials, window)
    )


def by_block(line: Line, believed: Collection[int]) -> dict[int, float]:
    """Return what is known of a line in each block; `believed` has the trials that count."""
    return {
        one.block: one.sample.value
        for one in line.samples
        if one.trial in believed and one.sample.value is not None and not one.sample.at_least
    }


def paired(
    ours: Mapping[int, float], theirs: Mapping[int, float]
) -> tuple[list[float], list[float]]:
    """Return the values of the blocks that have both, in the order of the blocks."""
    blocks = sorted(ours.keys() & theirs.keys())
    return [ours[block] for block in blocks], [theirs[block] for block in blocks]


def _of_metric(
    label: str, metric: Metric, trials: Sequence[Trial], window: Window
) -> Iterator[Line]:
    groups: dict[str | None, list[TrialSample]] = {}
    for trial in trials:
        for sample in metric.of_trial(trial, label, window):
            one = TrialSample(trial=trial.number, block=trial.block, sample=sample)
            groups.setdefault(sample.of, []).append(one)
    # A metric that says nothing at all still has its line: a hole is seen.
    for of, samples in groups.items() or [(None, [])]:
        yield _line(label, of, metric, samples, len(trials))


def _line(
    label: str, of: str | None, metric: Metric, samples: Sequence[TrialSample], trials: int
) -> Line:
    first = samples[0].sample if samples else None
    why = _why_unknown(samples, trials)
    values = [] if why else [one.sample for one in samples]
    median = _median(values)
    return Line(
        metric=label,
        use=metric.name,
        of=of,
        unit=first.unit if first else metric.unit,
        better=metric.better,
        estimator=first.estimator if first else None,
        samples=tuple(samples),
        median=median,
        lowest=min(map(_value, values), default=None),
        highest=max(map(_value, values), default=None),
        mean=statistics.mean(map(_value, values)) if values else None,
        sd=_deviation(values),
        at_least=median is not None and _median(values, beyond_bounds=True) != median,
        why=why,
    )


def _why_unknown(samples: Sequence[TrialSample], trials: int) -> str:
    """Why there is no median; empty when there is one."""
    unknown: dict[str, list[int]] = {}
    for one in samples:
        if one.sample.value is None:
            unknown.setdefault(one.sample.why, []).append(one.trial)
    if unknown:
        return "; ".join(f"{why} ({_named(numbers)})" for why, numbers in unknown.items())
    told = len({one.trial for one in samples})
    if told < trials:
        verb = "has" if told == 1 else "have"
        return f"{told} of {trials} trials {verb} a value" if told else "no trial has a value"
    units = sorted({one.sample.unit for one in samples})
    return f"the trials' units differ: {', '.join(units)}" if len(units) > 1 else ""


def _named(numbers: Sequence[int]) -> str:
    return f"{'trial' if len(numbers) == 1 else 'trials'} {', '.join(map(str, numbers))}"


def _median(samples: Sequence[Sample], *, beyond_bounds: bool = False) -> float | None:
    """Return the median; with `beyond_bounds`, as if what is a lower bound were infinite.

    The median rests on lower bounds when it changes as they grow beyond everything.
    """
    if not samples:
        return None
    return statistics.median(
        math.inf if beyond_bounds and sample.at_least else _value(sample) for sample in samples
    )


def _deviation(samples: Sequence[Sample]) -> float | None:
    """Return the sample standard deviation; None where it cannot be known."""
    if len(samples) < _TWO or any(sample.at_least for sample in samples):
        return None
    return statistics.stdev(map(_value, samples))


def _value(sample: Sample) -> float:
    if sample.value is None:
        raise ValueError(sample.why)
    return sample.value
