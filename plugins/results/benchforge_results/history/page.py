"""Results over time as a page: a chart for each case and metric."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchforge_reporters.charts.course import course_drawing
from markupsafe import Markup

from benchforge.model.summary.verdict import Estimate
from benchforge.text.readable import Scale, counted, exact, listed, scale
from benchforge_results.history.text import changed_text
from benchforge_results.history.timeline import Timeline
from benchforge_results.over_time.series import Course

_MOST = 120
"Charts of a suite."


@dataclass(frozen=True)
class DrawnCourse:
    """A metric of a case over time."""

    title: str
    unit: str
    drawing: Markup
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class SuiteHistory:
    """The results of a suite."""

    id: str
    name: str
    about: str
    changes: tuple[str, ...]
    courses: tuple[DrawnCourse, ...]
    more: str
    results: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class HistoryPage:
    """The values of the page."""

    title: str
    suites: tuple[SuiteHistory, ...]


def history_page(courses_by_timeline: Sequence[tuple[Timeline, Sequence[Course]]]) -> HistoryPage:
    """Return the values of the page of results over time."""
    suites = [
        _suite(number, line, courses)
        for number, (line, courses) in enumerate(courses_by_timeline, start=1)
    ]
    names = listed([one.name for one in suites])
    return HistoryPage(f"{names} over time", tuple(suites))


def _suite(number: int, line: Timeline, courses: Sequence[Course]) -> SuiteHistory:
    drawn = [chart for course in courses if (chart := _course(line, course)) is not None]
    more = len(drawn) - _MOST
    return SuiteHistory(
        id=f"suite-{number}",
        name=line.suite,
        about=counted(len(line.results), "result"),
        changes=tuple(_changes(line, courses)),
        courses=tuple(drawn[:_MOST]),
        more=f"{exact(more)} more are not drawn: name one with --metric" if more > 0 else "",
        results=tuple(_results(line)),
    )


def _course(line: Timeline, course: Course) -> DrawnCourse | None:
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
    return DrawnCourse(
        title=f"{course.case.title} · {course.measure.title}",
        unit="ratio to the reference" if with_ratio else size.unit.replace("1", "", 1),
        drawing=drawing,
        remarks=tuple(map(changed_text, course.changed)),
    )


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
