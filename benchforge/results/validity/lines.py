"""Rules for the lines of a summary, given their own samples."""

import math
from collections.abc import Iterator

from benchforge.model.files.file import FileFault, Parsed
from benchforge.model.summary.summary import MetricSummary, Summary
from benchforge.results.validity.contradiction import Contradiction, beneath
from benchforge.results.validity.identities import statistics_of
from benchforge.text.readable import exact


def summed(summary: Parsed[Summary]) -> Iterator[FileFault]:
    """Say what in a summary its own samples do not give."""
    for case_number, case in enumerate(summary.model.cases):
        for number, line in enumerate(case.metrics):
            path = ("cases", case_number, "metrics", number)
            try:
                messages = [*_samples(line), *_statistics(line)]
            except OverflowError:
                messages = [("a number is larger than anything that can be measured", ())]
            for message, inner in beneath(path, messages):
                yield summary.fault(message, *inner)


def _samples(line: MetricSummary) -> Iterator[Contradiction]:
    for number, taken in enumerate(line.samples):
        path = ("samples", number, "sample")
        if taken.sample.metric != line.metric:
            yield f"expected {line.metric!r}, as of the line", (*path, "metric")
        if taken.sample.of != line.of:
            yield f"expected {line.of!r}, as of the line", (*path, "of")
        if line.median is not None and taken.sample.unit != line.unit:
            yield f"expected {line.unit!r}, as of the line", (*path, "unit")


def _statistics(line: MetricSummary) -> Iterator[Contradiction]:
    values = [taken.sample.value for taken in line.samples]
    measured = [value for value in values if value is not None]
    if line.median is None:
        if not line.why:
            yield "a line without a median says why", ("why",)
        return
    if not measured or len(measured) < len(values):
        yield "a median, but not every sample has a value", ("median",)
        return
    bounds = any(taken.sample.lower_bound for taken in line.samples)
    expected = statistics_of(measured) | ({"sd": None} if bounds else {})
    for name in expected.keys() & line.model_fields_set:
        if not _same(getattr(line, name), expected[name]):
            value = expected[name]
            yield f"its samples give {'none' if value is None else exact(value)}", (name,)
    if line.lower_bound and not bounds:
        yield "no sample is a lower bound", ("lower_bound",)


def _same(stated: float | None, expected: float | None) -> bool:
    if stated is None or expected is None:
        return stated is expected
    return math.isclose(stated, expected, rel_tol=1e-9, abs_tol=1e-300)
