"""Results over time as a page: a chart for each case and metric."""

from collections.abc import Iterator, Sequence
from typing import Any

from benchforge.cli.results.history.text import changed_text
from benchforge.cli.results.history.timeline import Timeline
from benchforge.model.summary.verdict import Estimate
from benchforge.report.charts.course import course_drawing
from benchforge.results.over_time.series import Course
from benchforge.text.readable import Scale, counted, exact, listed, scale

_MOST = 120
"Charts of a suite."


def history_page(
    courses_by_timeline: Sequence[tuple[Timeline, Sequence[Course]]],
) -> dict[str, Any]:
    """Return the values of the page of results over time."""
    names = listed([line.suite for line, _ in courses_by_timeline])
    suites = [_suite(number, *entry) for number, entry in enumerate(courses_by_timeline, start=1)]
    return {"title": f"{names} over time", "suites": suites}


def _suite(number: int, line: Timeline, courses: Sequence[Course]) -> dict[str, Any]:
    drawn = [chart for course in courses if (chart := _course(line, course)) is not None]
    more = len(drawn) - _MOST
    return {
        "id": f"suite-{number}",
        "name": line.suite,
        "about": counted(len(line.results), "result"),
        "changes": list(_changes(line, courses)),
        "courses": drawn[:_MOST],
        "more": f"{exact(more)} more are not drawn: name one with --metric" if more > 0 else "",
        "results": list(_results(line)),
    }


def _course(line: Timeline, course: Course) -> dict[str, Any] | None:
    with_ratio = any(point.ratio is not None for point in course.points)
    values: dict[int, Estimate] = {}
    for point in course.points:
        shown = point.ratio if with_ratio else point.value
        if shown is not None:
            values[point.result] = shown
    last = course.points[-1].value.value or 0.0
    size = Scale("1") if with_ratio else scale(course.measure.unit, [last])
    changes = [one.after for one in course.changed]
    drawing = course_drawing(values, len(line.results), line.breaks, changes, size)
    if drawing is None:
        return None
    return {
        "title": f"{course.case.title} · {course.measure.title}",
        "unit": "ratio to the reference" if with_ratio else size.unit.replace("1", "", 1),
        "drawing": drawing,
        "remarks": list(map(changed_text, course.changed)),
    }


def _changes(line: Timeline, courses: Sequence[Course]) -> Iterator[str]:
    """Yield each change of a level; that there is none, or why none was looked for."""
    changed = [(course, one) for course in courses for one in course.changed]
    for course, change in changed:
        yield f"{course.case.title}, {course.measure.title}: {changed_text(change)}"
    if not changed:
        reasons = listed(dict.fromkeys(why for course in courses for why in course.why))
        nothing = f"no changes are shown: {reasons}" if reasons else "no level changed"
        yield f"{line.suite}: {nothing}"


def _results(line: Timeline) -> Iterator[tuple[str, str]]:
    for place, result in enumerate(line.results):
        begins = "; ".join(line.breaks.get(place, ()))
        text = f"{result.summary.created:%Y-%m-%d %H:%M}, {result.path}"
        yield f"{place + 1}", f"{text}; a new series begins: {begins}" if begins else text
