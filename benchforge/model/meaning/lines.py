"""What the lines of a summary must be to their own samples."""

import math
import statistics
from collections.abc import Iterator, Sequence

from benchforge.model.file import Fault, Parsed
from benchforge.model.meaning.said import Said, beneath
from benchforge.model.summary import Line, Summary


def summed(summary: Parsed[Summary]) -> Iterator[Fault]:
    """Say what in a summary its own samples do not give."""
    for case_number, case in enumerate(summary.model.cases):
        for number, line in enumerate(case.lines):
            path = ("cases", case_number, "lines", number)
            try:
                said = [*_samples(line), *_statistics(line)]
            except OverflowError:
                said = [("a number is larger than anything that can be measured", ())]
            for message, inner in beneath(path, said):
                yield summary.fault(message, *inner)


def _samples(line: Line) -> Iterator[Said]:
    for number, one in enumerate(line.samples):
        path = ("samples", number, "sample")
        if one.sample.metric != line.metric:
            yield f"expected {line.metric!r}, as of the line", (*path, "metric")
        if one.sample.of != line.of:
            yield f"expected {line.of!r}, as of the line", (*path, "of")
        if line.median is not None and one.sample.unit != line.unit:
            yield f"expected {line.unit!r}, as of the line", (*path, "unit")


def _statistics(line: Line) -> Iterator[Said]:
    values = [one.sample.value for one in line.samples]
    known = [value for value in values if value is not None]
    if line.median is None:
        if not line.why:
            yield "a line without a median says why", ("why",)
        return
    if not known or len(known) < len(values):
        yield "a median, but not every sample has a value", ("median",)
        return
    bounds = any(one.sample.at_least for one in line.samples)
    expected = {
        "median": statistics.median(known),
        "lowest": min(known),
        "highest": max(known),
        "mean": statistics.mean(known),
        "sd": None if bounds else _deviation(known),
    }
    for name in expected.keys() & line.model_fields_set:
        if not _same(getattr(line, name), expected[name]):
            value = expected[name]
            yield f"its samples give {'none' if value is None else f'{value:g}'}", (name,)
    if line.at_least and not bounds:
        yield "no sample is a lower bound", ("at_least",)


def _deviation(values: Sequence[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None


def _same(told: float | None, expected: float | None) -> bool:
    if told is None or expected is None:
        return told is expected
    return math.isclose(told, expected, rel_tol=1e-9, abs_tol=1e-300)
