"""First screen of results over time: the latest ratios, their trend, and the changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchforge.cli.console.columns import columns
from benchforge.cli.results.history.text import Timeline
from benchforge.model.summary.summary import Comparison, Summary
from benchforge.model.summary.verdict import Estimate
from benchforge.report.answer.headline import Headline, headline, short
from benchforge.report.answer.ratio import interval_text, pair_ratio
from benchforge.results.over_time.compared import IS_REFERENCE
from benchforge.results.over_time.series import Course, SeriesChange
from benchforge.text import safe
from benchforge.text.readable import amount, change, counted, cut, fitted, listed

_MOST_LINES: Final = 20
_ROWS: Final = 9
_WIDE: Final = 78
_MARKS: Final = "▁▂▃▄▅▆▇█"
_DRAWN: Final = 16  # results of a trend
_FLAT: Final = 0.02  # of the ratio: less is no trend


@dataclass(frozen=True)
class Trend:
    """A ratio, or a level, in each result that has it, in order of time."""

    name: str
    values: tuple[float, ...]
    latest: str

    @property
    def drawn(self) -> str:
        """The last results as bars, from the lowest to the highest of them."""
        values = self.values[-_DRAWN:]
        low, high = min(values), max(values)
        if low <= 0 or high / low < 1 + _FLAT:
            return _MARKS[3] * len(values)
        steps = (round((value - low) / (high - low) * (len(_MARKS) - 1)) for value in values)
        return "".join(_MARKS[step] for step in steps)

    @property
    def moved(self) -> str:
        """The change from the first result to the latest."""
        first, last = self.values[0], self.values[-1]
        return change(last / first - 1) if first and len(self.values) > 1 else ""


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
    trends = [*_to_reference(main)] or [*_ratios(line)] or [*_levels(main)]
    heads = ["compared", "latest, 95 % interval", f"last {_DRAWN}", "since the first"]
    rows = [[item.name, item.latest, item.drawn, item.moved] for item in trends[:_ROWS]]
    lines = [_answer(line, main, changes), about, *columns([heads, *rows], left_aligned=3)]
    if trends[_ROWS:]:
        lines.append(f"and {counted(len(trends) - _ROWS, 'more comparison')}: --details")
    notes = [
        f"a new series begins with result {index + 1}: {safe.word(listed(reasons, 2))}"
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
    size = change(step.step.ratio - 1)
    where = f"between result {step.before + 1} and {step.after + 1}"
    commits = [_commit(line, index, course.case.server) for index in (step.before, step.after)]
    span = f" ({commits[0]} to {commits[1]})" if all(commits) else ""
    name = safe.word(f"[{course.case.scenario}] {course.case.server}")
    return f"{name} changed by {size} {where}{span}"


def _commit(line: Timeline, index: int, server: str) -> str:
    codes = line.results[index].summary.code
    return next((code.commit[:7] for code in codes if code.server == server and code.commit), "")


def _to_reference(courses: Sequence[Course]) -> Iterator[Trend]:
    """Yield the ratio of each case to the reference, where one is named."""
    bases = {item.case.scenario: item.case.server for item in courses if IS_REFERENCE in item.why}
    for course in courses:
        digest = course.points[-1].digest
        ratios = [
            point.ratio
            for point in course.points
            if point.ratio is not None and point.ratio.value and point.digest == digest
        ]
        if ratios and course.case.scenario in bases and IS_REFERENCE not in course.why:
            name = f"[{course.case.scenario}] {short(course.case.server)}"
            name += f" / {short(bases[course.case.scenario])}"
            values = tuple(ratio.value for ratio in ratios if ratio.value is not None)
            yield Trend(name, values, _latest(ratios[-1]))


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
            yield Trend(name, values, _latest(head.ratio))


def _latest(ratio: Estimate) -> str:
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


def _levels(courses: Sequence[Course]) -> Iterator[Trend]:
    """Yield the level of each case where nothing is compared."""
    for course in courses:
        levels = (point.value.value for point in course.points)
        values = tuple(level for level in levels if level is not None)
        if values:
            name = f"[{course.case.scenario}] {course.case.server}, {course.measure.title}"
            yield Trend(name, values, amount(course.measure.unit, values[-1]))
