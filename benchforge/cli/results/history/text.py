"""Results over time: for a person, as a page, as JSON, and as CSV."""

import csv
import io
from collections.abc import Iterator, Sequence

from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from benchforge.cli.console.columns import columns, spread
from benchforge.cli.results.history.timeline import Timeline
from benchforge.report.page.document import Document, Figure, Section
from benchforge.results.over_time.levels import identity
from benchforge.results.over_time.series import Course, Point, SeriesChange
from benchforge.text import safe
from benchforge.text.readable import Scale, change, counted, listed, scale, times

_HEADS = (
    *("suite", "created", "result", "series", "case", "metric", "of", "unit", "value", "low"),
    *("high", "ratio", "ratio_low", "ratio_high", "changed", "why"),
)
_LEGEND = (
    "A mark is a result, the line its 95 % interval within its session. A grey line begins a new "
    "series, a red one a new level."
)


def text(line: Timeline, courses: Sequence[Course]) -> Iterator[str]:
    """Yield the lines of one suite."""
    yield f"{safe.word(line.suite)}: {counted(len(line.results), 'result')}"
    for place, result in enumerate(line.results):
        for why in line.breaks.get(place, ()):
            yield f"  a new series begins: {safe.word(why)}"
        doubt = "" if result.summary.complete else "; not complete"
        when, where = f"{result.summary.created:%Y-%m-%d %H:%M}", safe.word(str(result.path))
        yield f"  {place + 1}  {when}  {where}{doubt}"
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
        marks += [changed_text(one) for one in course.changed if one.after == point.result]
        marks += [point.value.why] if point.value.value is None else []
        ratio = "" if point.ratio is None else spread(point.ratio, times)
        measured = f"{line.results[point.result].summary.created:%Y-%m-%d %H:%M}"
        row = ["--" if point.result in line.breaks else "", str(point.result + 1), measured]
        row += [spread(point.value, unit.text), *([ratio] if with_ratio else []), "; ".join(marks)]
        rows.append(row)
    yield from (f"  {row}".rstrip() for row in columns(rows, left=3))
    yield from (f"  no changes are shown: {safe.word(why)}" for why in course.why)


def changed_text(changed: SeriesChange) -> str:
    """Return by how much a level changed, and between which results."""
    moved = change(changed.step.ratio - 1)
    return f"CHANGED by {moved} between result {changed.before + 1} and {changed.after + 1}"


def page(courses_by_timeline: Sequence[tuple[Timeline, Sequence[Course]]]) -> Document:
    """Return results over time with a drawing for each case and metric."""
    names = listed([line.suite for line, _ in courses_by_timeline])
    return Document(
        title=f"{names} over time",
        eyebrow="",
        counts=(),
        sentences=[one for entry in courses_by_timeline for one in _changes(*entry)],
        sections=[
            Section(
                f"suite-{number}",
                line.suite,
                counted(len(line.results), "result"),
                _LEGEND,
                figures=[figure for course in some for figure in _figure(line, course)],
                others="name one with --metric",
                facts_title="The results",
                facts=[*_results(line)],
            )
            for number, (line, some) in enumerate(courses_by_timeline, start=1)
        ],
    )


def _figure(line: Timeline, course: Course) -> Iterator[Figure]:
    # The charts take about 50 ms, which the text does not need.
    from benchforge.report.charts.course import course_drawing  # noqa: PLC0415

    ratios = {point.result: point.ratio for point in course.points if point.ratio is not None}
    values = ratios or {point.result: point.value for point in course.points}
    size = Scale("1") if ratios else _scale(course)
    changes = [one.after for one in course.changed]
    drawing = course_drawing(values, len(line.results), line.breaks, changes, size)
    if drawing is not None:
        unit = "ratio to the reference" if ratios else size.unit.replace("1", "", 1)
        yield Figure(_title(course), unit, drawing, [*map(changed_text, course.changed)])


def _changes(line: Timeline, courses: Sequence[Course]) -> Iterator[str]:
    """Yield each change of a level; that there is none, or why none was looked for."""
    changed = [(course, one) for course in courses for one in course.changed]
    for course, step in changed:
        yield f"{course.case.title}, {course.measure.title}: {changed_text(step)}"
    if not changed:
        reasons = listed(dict.fromkeys(why for course in courses for why in course.why))
        nothing = f"no changes are shown: {reasons}" if reasons else "no level changed"
        yield f"{line.suite}: {nothing}"


def _results(line: Timeline) -> Iterator[tuple[str, str]]:
    for place, result in enumerate(line.results):
        begins = [f"a new series begins: {why}" for why in line.breaks.get(place, ())]
        when = f"{result.summary.created:%Y-%m-%d %H:%M}"
        yield f"{place + 1}", "; ".join([f"{when}, {result.path}", *begins])


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
                "path": str(one.path),
                "created": one.summary.created.isoformat(),
                "benchforge": one.summary.benchforge,
                "complete": one.summary.complete,
                "new_series": list(line.breaks.get(place, ())),
            }
            for place, one in enumerate(line.results)
        ],
        "courses": [_course_json(course) for course in courses],
    }


def _course_json(course: Course) -> dict[str, JsonValue]:
    return {
        **identity(course.case, course.measure),
        "points": to_jsonable_python(course.points),
        "changed": [
            {"before": one.before, "after": one.after, "ratio": one.step.ratio, "p": one.step.p}
            for one in course.changed
        ],
        "why_not_looked_for": list(course.why),
    }


def as_csv(courses_by_timeline: Sequence[tuple[Timeline, Sequence[Course]]]) -> str:
    """Return a line for each number, with its heads: RFC 4180; empty where there is no number."""
    into = io.StringIO()
    writer = csv.writer(into)
    writer.writerow(_HEADS)
    for line, some in courses_by_timeline:
        for course in some:
            for point in course.points:
                row = _row(line, course, point)
                writer.writerow(safe.csv(one) if isinstance(one, str) else one for one in row)
    return into.getvalue()


def _row(line: Timeline, course: Course, point: Point) -> list[str | float | int | None]:
    result = line.results[point.result]
    ratio = point.ratio
    series = 1 + sum(start <= point.result for start in line.breaks)
    changed = any(one.after == point.result for one in course.changed)
    return [
        *(line.suite, result.summary.created.isoformat(), str(result.path), series),
        *(course.case.title, course.measure.metric, course.measure.of, course.measure.unit),
        *(point.value.value, point.value.low, point.value.high),
        *((ratio.value, ratio.low, ratio.high) if ratio is not None else (None, None, None)),
        *("yes" if changed else "", point.value.why),
    ]
