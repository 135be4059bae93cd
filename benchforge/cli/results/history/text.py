"""Results over time as a first screen, as text, as a page, as JSON and as CSV."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from benchforge.cli.console.columns import columns, spread
from benchforge.errors import Unusable
from benchforge.model.summary.summary import Comparison, Summary
from benchforge.model.summary.verdict import Estimate
from benchforge.parts.registry import Registry
from benchforge.report.answer.headline import Headline, headline, short
from benchforge.report.answer.quote import Quoted, quote
from benchforge.report.answer.ratio import interval_text, pair_ratio
from benchforge.report.page.document import DrawnFigure, PageDocument, PageSection
from benchforge.results.conclude import Summed
from benchforge.results.over_time.compared import IS_REFERENCE
from benchforge.results.over_time.levels import by_key, identity
from benchforge.results.over_time.older_results import check_labels, hard, named_results
from benchforge.results.over_time.series import Course, Point, SeriesChange, courses, series
from benchforge.text import safe
from benchforge.text.readable import (
    Scale,
    amount,
    change,
    counted,
    cut,
    fitted,
    listed,
    scale,
    times,
)


@dataclass(frozen=True)
class Timeline:
    """The results of one suite, and each metric of each case over them."""

    suite: str
    results: tuple[Summed, ...]
    "Results in order of time."
    breaks: dict[int, tuple[str, ...]]
    "Differences of the environment from the previous result's, by the result's index."
    courses: tuple[Course, ...]


def timelines(
    named: Sequence[Path], registry: Registry, reference: str | None, metrics: Sequence[str]
) -> tuple[list[Timeline], list[str]]:
    """Return the results that are named or lie in a named folder; and those left out, with reasons.

    A smoke is left out, and so is the second of two equal results. Raises as `summed` does for
    a named result, and Unusable for a label that no result has.
    """
    by_suite: dict[str, list[Summed]] = {}
    left_out: list[str] = []
    for result in named_results(named, registry, left_out):
        if result.summary.smoke:
            left_out.append(f"{result.path}: a smoke: its numbers mean nothing")
        else:
            by_suite.setdefault(result.summary.name, []).append(result)
    if not by_suite:
        first = f": {left_out[0]}" if left_out else ""
        raise Unusable(f"no result{first}", "name results, or a folder that contains results")
    check_labels([item for results in by_suite.values() for item in results], reference, metrics)
    lines = []
    for suite, results in by_suite.items():
        results.sort(key=lambda result: result.summary.created)
        reasons = {
            index: (*hard(then, newer), *_reference(then, newer, reference))
            for index, (then, newer) in enumerate(pairwise(results), 1)
        }
        breaks = {index: reason for index, reason in reasons.items() if reason}
        summaries = [item.summary for item in results]
        in_time = tuple(courses(summaries, breaks, reference, metrics))
        lines.append(Timeline(suite, tuple(results), breaks, in_time))
    return lines, left_out


def _reference(then: Summed, newer: Summed, label: str | None) -> Iterator[str]:
    """Yield that the reference is another thing: a ratio to it is another number then."""
    old, new = by_key(then.summary), by_key(newer.summary)
    for key in old.keys() & new.keys():
        case = new[key].case
        if case.server == label and case.digest != old[key].case.digest:
            yield f"the reference {label} has changed: options, code or data"
            return


_MOST_LINES: Final = 20
_ROWS: Final = 9
_WIDE: Final = 78
_MARKS: Final = "▁▂▃▄▅▆▇█"
_DRAWN: Final = 16  # results of a trend
_APART: Final = "│"
_FLAT: Final = 0.02  # of the ratio: less is no trend


@dataclass(frozen=True)
class Trend:
    """A ratio, or a level, in each result that has it, in order of time."""

    name: str
    series: tuple[tuple[float, ...], ...]
    "Values of each series: between two of them the environment changed."
    latest: str

    @property
    def drawn(self) -> str:
        """The last results as bars, from the lowest to the highest of them, series apart."""
        pieces, skip = [], sum(map(len, self.series)) - _DRAWN
        for values in self.series:
            pieces.append(values[max(0, skip) :])
            skip -= len(values)
        drawn = [value for piece in pieces for value in piece]
        low, high = min(drawn), max(drawn)
        steps, flat = len(_MARKS) - 1, low <= 0 or high / low < 1 + _FLAT
        bars = (
            "".join(
                _MARKS[3 if flat else round((value - low) / (high - low) * steps)]
                for value in piece
            )
            for piece in pieces
        )
        return _APART.join(filter(None, bars))

    @property
    def moved(self) -> str:
        """The change from the first result of the latest series to the latest."""
        values = self.series[-1]
        moved = change(values[-1] / values[0] - 1) if values[0] and len(values) > 1 else ""
        return moved.replace("+0 %", "0 %")


def first_screen(line: Timeline) -> list[str]:
    """Return at most 20 lines for a suite: the changes, each latest ratio, and its trend."""
    firsts: dict[str, Course] = {}  # metric of each case
    for course in line.courses:
        firsts.setdefault(course.case.title, course)
    main = [*firsts.values()]
    changes = [(course, item) for course in main for item in course.changed]
    results = line.results
    days = [f"{result.summary.created:%Y-%m-%d}" for result in (results[0], results[-1])]
    span = " to ".join(dict.fromkeys(days))
    about = f"{safe.word(line.suite)}: {counted(len(results), 'result')}, {span}"
    trends = [*_to_reference(line, main)] or [*_ratios(line)] or [*_levels(line, main)]
    since = "in this series" if line.breaks else "since the first"
    heads = ["comparison", "latest, 95 % interval", f"last {_DRAWN} (▁ lowest)", since]
    rows = [[item.name, item.latest, item.drawn, item.moved] for item in trends[:_ROWS]]
    lines = [_answer(line, main, changes), about, *columns([heads, *rows], left_aligned=3)]
    if trends[_ROWS:]:
        lines.append(f"and {counted(len(trends) - _ROWS, 'more comparison')}: --details")
    latest = results[-1].summary
    answers = [Quoted(each.scenario, each, headline(each, latest)) for each in latest.comparisons]
    quotes = [quote(answers, latest)] * bool(answers) + ["The change: yes."] * bool(changes)
    lines.append(f"May I quote it?  {' '.join(quotes) or 'No.'}")
    notes = [
        f"not comparable across results {index} and {index + 1}: {safe.word(listed(reasons, 2))}"
        for index, reasons in line.breaks.items()
    ]
    notes += [f"changed: {_step(line, *item)}" for item in changes[1:]]
    blocks = [(rank, [cut(note, _WIDE)]) for rank, note in enumerate(notes, 1)]
    details = "Details: --details has each result, --html FILE a page"
    return fitted([(0, lines), *blocks, (0, [details])], _MOST_LINES)


def _answer(
    line: Timeline, courses: Sequence[Course], changes: Sequence[tuple[Course, SeriesChange]]
) -> str:
    if changes:
        more = f"; {counted(len(changes) - 1, 'more change')}" if changes[1:] else ""
        return f"{_step(line, *changes[0])}{more}"
    reasons = listed(dict.fromkeys(reason for course in courses for reason in course.why), 2)
    if any(not course.why for course in courses):
        return f"No level changed in {counted(len(line.results), 'result')}"
    return cut(safe.word(f"No change can be shown: {reasons}"), _WIDE)


def _step(line: Timeline, course: Course, step: SeriesChange) -> str:
    """Return by how much a level changed, and between which results and commits."""
    moved = "rose" if step.step.ratio > 1 else "fell"
    ends = sorted(step.step.ends, key=lambda end: abs(end - 1))
    size, near, far = (change(end - 1).strip("+- %") for end in (step.step.ratio, *ends))
    where = f"at result {step.after + 1} of {len(line.results)}"
    commits = [_commit(line, index, course.case.server) for index in (step.before, step.after)]
    span = f" ({commits[0]} to {commits[1]})" if all(commits) else ""
    name = safe.word(f"[{course.case.scenario}] {course.measure.title} of {course.case.server}")
    base = safe.word(_bases(line.courses).get(course.case.scenario, "the reference"))
    return f"{name} {moved} by {size} % (likely {near} to {far}) relative to {base} {where}{span}"


def _bases(courses: Sequence[Course]) -> dict[str, str]:
    """Return the reference of each scenario that has one."""
    return {item.case.scenario: item.case.server for item in courses if IS_REFERENCE in item.why}


def _commit(line: Timeline, index: int, server: str) -> str:
    codes = line.results[index].summary.code
    return next((code.commit[:7] for code in codes if code.server == server and code.commit), "")


def _to_reference(line: Timeline, courses: Sequence[Course]) -> Iterator[Trend]:
    """Yield the ratio of each case to the reference, where one is named."""
    bases = _bases(courses)
    for course in courses:
        digest = course.points[-1].digest
        points = [
            point
            for point in course.points
            if point.ratio is not None and point.ratio.value and point.digest == digest
        ]
        if points and course.case.scenario in bases and IS_REFERENCE not in course.why:
            name = f"[{course.case.scenario}] {short(course.case.server)}"
            name += f" / {short(bases[course.case.scenario])}"
            yield Trend(name, _pieces(line, points, "ratio"), _latest(points[-1].ratio))


def _pieces(line: Timeline, points: Sequence[Point], field: str) -> tuple[tuple[float, ...], ...]:
    pieces = series(points, (0, *line.breaks))
    return tuple(tuple(getattr(point, field).value for point in piece) for piece in pieces)


def _ratios(line: Timeline) -> Iterator[Trend]:
    """Yield the ratio of each comparison of the latest result, over the results of its series."""
    latest = line.results[-1].summary
    for comparison in latest.comparisons:
        head = headline(comparison, latest)
        if head.ratio is None or head.ratio.value is None:
            continue
        series = line.results[max(line.breaks, default=0) :]
        ratios = (_ratio(result.summary, comparison, head) for result in series)
        values = tuple(ratio for ratio in ratios if ratio is not None)
        name = f"[{comparison.scenario}] {short(head.first)} / {short(head.second)}"
        if values:
            yield Trend(name, (values,), _latest(head.ratio))


def _latest(ratio: Estimate | None) -> str:
    if ratio is None:
        return ""
    value, ends = interval_text(ratio)
    return f"{value} ({ends})" if ends else value


def _ratio(summary: Summary, comparison: Comparison, head: Headline) -> float | None:
    """Return the ratio of two servers in an older result; None where it has none."""
    for other in summary.comparisons:
        fields = other.scenario, other.driver, other.vary
        ranked = summary.standing(other)
        ranking = None if ranked is None else ranked.ranking
        if fields != (comparison.scenario, comparison.driver, comparison.vary) or ranking is None:
            continue
        if {head.first, head.second} <= {item.server for item in ranking.order}:
            return pair_ratio(ranking, head.first, head.second).value
    return None


def _levels(line: Timeline, courses: Sequence[Course]) -> Iterator[Trend]:
    """Yield the level of each case where nothing is compared."""
    for course in courses:
        points = [point for point in course.points if point.value.value is not None]
        if levels := _pieces(line, points, "value"):
            name = f"[{course.case.scenario}] {course.case.server}, {course.measure.title}"
            yield Trend(name, levels, amount(course.measure.unit, levels[-1][-1]))


_HEADS = (
    *("suite", "created", "result", "series", "case", "metric", "of", "unit", "value", "low"),
    *("high", "ratio", "ratio_low", "ratio_high", "changed", "why"),
)
_MOST_LABELS = 12
_LEGEND = (
    "A mark is a result, the line its 95 % interval within its session. A grey line begins a new "
    "series, a red one a new level."
)


def text(line: Timeline) -> Iterator[str]:
    """Yield the lines of one suite."""
    yield f"{safe.word(line.suite)}: {counted(len(line.results), 'result')}"
    for index, result in enumerate(line.results):
        for reason in line.breaks.get(index, ()):
            yield f"  a new series begins: {safe.word(reason)}"
        doubt = "" if result.summary.complete else "; not complete"
        when, where = f"{result.summary.created:%Y-%m-%d %H:%M}", safe.word(str(result.path))
        yield f"  {index + 1}  {when}  {where}{doubt}"
    for course in line.courses:
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


def page(suites: Sequence[Timeline]) -> PageDocument:
    """Return results over time with a drawing for each case and metric."""
    return PageDocument(
        title=f"{listed([line.suite for line in suites])} over time",
        eyebrow="",
        counts=(),
        sentences=[item for line in suites for item in _changes(line)],
        sections=[
            PageSection(
                f"suite-{number}",
                line.suite,
                counted(len(line.results), "result"),
                _LEGEND,
                figures=[figure for course in line.courses for figure in _figure(line, course)],
                others="name one with --metric",
                facts_title="The results",
                facts=[*_results(line)],
            )
            for number, line in enumerate(suites, start=1)
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


def _changes(line: Timeline) -> Iterator[str]:
    """Yield each change of a level; or that there is none, or the reason for no answer."""
    changed = [(course, item) for course in line.courses for item in course.changed]
    for course, step in changed:
        yield f"{course.case.title}, {course.measure.title}: {changed_text(step)}"
    if not changed:
        reasons = listed(dict.fromkeys(reason for course in line.courses for reason in course.why))
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


def document(line: Timeline) -> dict[str, JsonValue]:
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
        "courses": [_course_json(course) for course in line.courses],
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


def as_csv(suites: Sequence[Timeline]) -> str:
    """Return a line for each number, with its heads: RFC 4180; empty where there is no number."""
    into = io.StringIO()
    writer = csv.writer(into)
    writer.writerow(_HEADS)
    for line in suites:
        for course in line.courses:
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
