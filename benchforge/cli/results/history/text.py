"""Results over time as text, as a page, as JSON and as CSV."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from benchforge.cli.console.columns import columns, spread
from benchforge.errors import Unusable
from benchforge.parts.registry import Registry
from benchforge.report.page.document import DrawnFigure, PageDocument, PageSection
from benchforge.results.conclude import Summed
from benchforge.results.over_time.levels import by_key, identity
from benchforge.results.over_time.older_results import check_labels, hard, named_results
from benchforge.results.over_time.series import Course, Point, SeriesChange, courses
from benchforge.text import safe
from benchforge.text.readable import Scale, change, counted, listed, scale, times


@dataclass(frozen=True)
class Timeline:
    """The results of one suite."""

    suite: str
    results: tuple[Summed, ...]
    "Results in order of time."
    breaks: dict[int, tuple[str, ...]]
    "Differences of the environment from the previous result's, by the result's index."


def timelines(
    named: Sequence[Path], registry: Registry, reference: str | None
) -> tuple[list[Timeline], list[str]]:
    """Return the results that are named or lie in a named folder; and those left out, with reasons.

    A smoke is left out, and so is the second of two equal results. Raises as `summed` does for
    a named result.
    """
    by_suite: dict[str, list[Summed]] = {}
    left_out: list[str] = []
    for result in named_results(named, registry, left_out):
        if result.summary.smoke:
            left_out.append(f"{result.path}: a smoke: its numbers mean nothing")
        else:
            by_suite.setdefault(result.summary.name, []).append(result)
    lines = [_timeline(name, results, reference) for name, results in by_suite.items()]
    if not lines:
        first = f": {left_out[0]}" if left_out else ""
        raise Unusable(f"no result{first}", "name results, or a folder that contains results")
    return lines, left_out


def with_courses(
    suite_timelines: Sequence[Timeline], reference: str | None, metrics: Sequence[str]
) -> list[tuple[Timeline, list[Course]]]:
    """Return each timeline with its courses. Raises Unusable for a label that no result has."""
    check_labels([item for line in suite_timelines for item in line.results], reference, metrics)
    return [
        (line, [*courses([item.summary for item in line.results], line.breaks, reference, metrics)])
        for line in suite_timelines
    ]


def _timeline(suite: str, results: list[Summed], reference: str | None) -> Timeline:
    results.sort(key=lambda result: result.summary.created)
    reasons = {
        index: (*hard(then, newer), *_reference(then, newer, reference))
        for index, (then, newer) in enumerate(pairwise(results), 1)
    }
    breaks = {index: reason for index, reason in reasons.items() if reason}
    return Timeline(suite, tuple(results), breaks)


def _reference(then: Summed, newer: Summed, label: str | None) -> Iterator[str]:
    """Yield that the reference is another thing: a ratio to it is another number then."""
    old, new = by_key(then.summary), by_key(newer.summary)
    for key in old.keys() & new.keys():
        case = new[key].case
        if case.server == label and case.digest != old[key].case.digest:
            yield f"the reference {label} has changed: options, code or data"
            return


_HEADS = (
    *("suite", "created", "result", "series", "case", "metric", "of", "unit", "value", "low"),
    *("high", "ratio", "ratio_low", "ratio_high", "changed", "why"),
)
_MOST_LABELS = 12
_LEGEND = (
    "A mark is a result, the line its 95 % interval within its session. A grey line begins a new "
    "series, a red one a new level."
)


def text(line: Timeline, courses: Sequence[Course]) -> Iterator[str]:
    """Yield the lines of one suite."""
    yield f"{safe.word(line.suite)}: {counted(len(line.results), 'result')}"
    for index, result in enumerate(line.results):
        for reason in line.breaks.get(index, ()):
            yield f"  a new series begins: {safe.word(reason)}"
        doubt = "" if result.summary.complete else "; not complete"
        when, where = f"{result.summary.created:%Y-%m-%d %H:%M}", safe.word(str(result.path))
        yield f"  {index + 1}  {when}  {where}{doubt}"
    for course in courses:
        yield ""
        yield from _course(line, course)


def _course(line: Timeline, course: Course) -> Iterator[str]:
    unit = _scale(course)
    yield safe.word(_title(course) + ("" if unit.unit == "1" else f" ({unit.unit})"))
    with_ratio = any(point.ratio is not None for point in course.points)
    rows = [["", "result", "measured", "value", *(["by reference"] if with_ratio else []), ""]]
    digest = course.points[0].digest
    for point in course.points:
        marks = [] if point.digest == digest else ["changed: options, code or data"]
        digest = point.digest
        marks += [changed_text(item) for item in course.changed if item.after == point.result]
        marks += [point.value.why] if point.value.value is None else []
        ratio = "" if point.ratio is None else spread(point.ratio, times)
        measured = f"{line.results[point.result].summary.created:%Y-%m-%d %H:%M}"
        row = ["--" if point.result in line.breaks else "", str(point.result + 1), measured]
        row += [spread(point.value, unit.text), *([ratio] if with_ratio else []), "; ".join(marks)]
        rows.append(row)
    yield from (f"  {row}".rstrip() for row in columns(rows, left_aligned=3))
    yield from (f"  no changes are shown: {safe.word(reason)}" for reason in course.why)


def changed_text(changed: SeriesChange) -> str:
    """Return by how much a level changed, and between which results."""
    moved = change(changed.step.ratio - 1)
    return f"CHANGED by {moved} between result {changed.before + 1} and {changed.after + 1}"


def page(courses_by_timeline: Sequence[tuple[Timeline, Sequence[Course]]]) -> PageDocument:
    """Return results over time with a drawing for each case and metric."""
    names = listed([line.suite for line, _ in courses_by_timeline])
    return PageDocument(
        title=f"{names} over time",
        eyebrow="",
        counts=(),
        sentences=[item for entry in courses_by_timeline for item in _changes(*entry)],
        sections=[
            PageSection(
                f"suite-{number}",
                line.suite,
                counted(len(line.results), "result"),
                _LEGEND,
                figures=[figure for course in courses_ for figure in _figure(line, course)],
                others="name one with --metric",
                facts_title="The results",
                facts=[*_results(line)],
            )
            for number, (line, courses_) in enumerate(courses_by_timeline, start=1)
        ],
    )


def _figure(line: Timeline, course: Course) -> Iterator[DrawnFigure]:
    # The charts take about 50 ms, which the text does not need.
    from benchforge.report.charts.course import course_drawing  # noqa: PLC0415

    ratios = {point.result: point.ratio for point in course.points if point.ratio is not None}
    values = ratios or {point.result: point.value for point in course.points}
    size = Scale("1") if ratios else _scale(course)
    each = -(-len(line.results) // _MOST_LABELS)
    numbers = range(1, len(line.results) + 1)
    labels = [(f"result {item}", str(item) if item % each == 1 % each else "") for item in numbers]
    uprights = dict.fromkeys(line.breaks, "grid zero")
    uprights |= {item.after: "cross" for item in course.changed}
    drawing = course_drawing(values, labels, size, lines=uprights)
    if drawing is not None:
        unit = "ratio to the reference" if ratios else size.unit.replace("1", "", 1)
        yield DrawnFigure(_title(course), unit, drawing, [*map(changed_text, course.changed)])


def _changes(line: Timeline, courses: Sequence[Course]) -> Iterator[str]:
    """Yield each change of a level; or that there is none, or the reason for no answer."""
    changed = [(course, item) for course in courses for item in course.changed]
    for course, step in changed:
        yield f"{course.case.title}, {course.measure.title}: {changed_text(step)}"
    if not changed:
        reasons = listed(dict.fromkeys(reason for course in courses for reason in course.why))
        nothing = f"no changes are shown: {reasons}" if reasons else "no level changed"
        yield f"{line.suite}: {nothing}"


def _results(line: Timeline) -> Iterator[tuple[str, str]]:
    for index, result in enumerate(line.results):
        begins = [f"a new series begins: {reason}" for reason in line.breaks.get(index, ())]
        when = f"{result.summary.created:%Y-%m-%d %H:%M}"
        yield f"{index + 1}", "; ".join([f"{when}, {result.path}", *begins])


def _title(course: Course) -> str:
    return f"{course.case.title} · {course.measure.title}"


def _scale(course: Course) -> Scale:
    return scale(course.measure.unit, [course.points[-1].value.value or 0.0])


def document(line: Timeline, courses: Sequence[Course]) -> dict[str, JsonValue]:
    """Return all of one suite; `result`, `before` and `after` are places in `results`, from 0."""
    return {
        "suite": line.suite,
        "results": [
            {
                "path": str(item.path),
                "created": item.summary.created.isoformat(),
                "benchforge": item.summary.benchforge,
                "complete": item.summary.complete,
                "new_series": list(line.breaks.get(index, ())),
            }
            for index, item in enumerate(line.results)
        ],
        "courses": [_course_json(course) for course in courses],
    }


def _course_json(course: Course) -> dict[str, JsonValue]:
    return {
        **identity(course.case, course.measure),
        "points": to_jsonable_python(course.points),
        "changed": [
            {"before": item.before, "after": item.after, "ratio": item.step.ratio, "p": item.step.p}
            for item in course.changed
        ],
        "why_not_looked_for": list(course.why),
    }


def as_csv(courses_by_timeline: Sequence[tuple[Timeline, Sequence[Course]]]) -> str:
    """Return a line for each number, with its heads: RFC 4180; empty where there is no number."""
    into = io.StringIO()
    writer = csv.writer(into)
    writer.writerow(_HEADS)
    for line, courses_ in courses_by_timeline:
        for course in courses_:
            for point in course.points:
                row = _row(line, course, point)
                writer.writerow(safe.csv(item) if isinstance(item, str) else item for item in row)
    return into.getvalue()


def _row(line: Timeline, course: Course, point: Point) -> list[str | float | int | None]:
    result = line.results[point.result]
    ratio = point.ratio
    series = 1 + sum(start <= point.result for start in line.breaks)
    changed = any(item.after == point.result for item in course.changed)
    return [
        *(line.suite, result.summary.created.isoformat(), str(result.path), series),
        *(course.case.title, course.measure.metric, course.measure.of, course.measure.unit),
        *(point.value.value, point.value.low, point.value.high),
        *((ratio.value, ratio.low, ratio.high) if ratio is not None else (None, None, None)),
        *("yes" if changed else "", point.value.why),
    ]
