"""Comparisons of results as a first screen, as text, as JSON and as a page."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Final, NamedTuple

from pydantic import JsonValue

from benchforge.cli.console.columns import NOTHING, columns, spread
from benchforge.parts.registry import Registry
from benchforge.report.page.document import DrawnRow, PageDocument, PageSection
from benchforge.results.conclude import Summed
from benchforge.results.over_time.compared import PAST, MetricChange
from benchforge.results.over_time.levels import by_key, identity, lines
from benchforge.results.over_time.older_results import Older, another, soft
from benchforge.stats.inference.interval import LEAST
from benchforge.text import safe
from benchforge.text.readable import (
    amount,
    amounts,
    change,
    counted,
    cut,
    exact,
    figure,
    fitted,
    listed,
    scale,
    times,
)

_MOST_LINES: Final = 15
_ROWS: Final = 7
_WIDE: Final = 78
_TITLE: Final = 22  # characters
_MANY: Final = 5
_WORST: Final = ("broken", "worse", "not believed", "better")
_EACH = 6  # older results, that each is named
_HEADS = ("case", "metric", "unit", "old", "new", "new/old", "by reference", "answer")
_NOTHING = "nothing to compare: no metric of a common case has numbers in both"
_KINDS = {
    "worse": "fails",
    "broken": "invalid",
    "not believed": "invalid",
    "better": "holds",
    "not shown": "inconclusive",
    "no model": "inconclusive",
    "reference": "inconclusive",
}
"Each answer, the worst first, with the name of its colour."
_ALONE = (
    "sessions on one machine vary by themselves: if they vary by 3 %, two of three alarms from "
    "their own intervals are false"
)


class ComparedResults(NamedTuple):
    """A new result, the older ones, and each change."""

    new: Summed
    older: Older
    rows: Sequence[MetricChange]
    reference: str | None
    registry: Registry

    @property
    def visible(self) -> list[MetricChange]:
        """The rows that are printed."""
        return [row for row in self.rows if not row.silent]


def first_screen(comparison: ComparedResults) -> list[str]:
    """Return at most 15 lines: the answer, the main metric of each case, and remarks."""
    rows, older, new = comparison.visible, comparison.older, comparison.new
    answer, sure = _answer(comparison)
    against = f"{new.path} against {counted(len(older.results), 'older result')}"
    lines = [answer, safe.word(f"{sure}{against}")]
    shown = sorted(rows, key=lambda row: (*_WORST, answer_of(row)).index(answer_of(row)))
    main = [row for row in shown if answer_of(row) in _WORST or _is_main(row, rows)][:_ROWS]
    if main:
        old = "old mean" if len(older.results) > 1 else "old"
        heads = ("case", "metric", old, "new", "change", "")
        lines += columns([heads, *map(_main_row, main)], left_aligned=2)
    remarks = (*older.doubts, *_alerts(rows), *_unjudged(rows, comparison))
    blocks = [
        (rank, wrap(safe.word(remark), _WIDE, initial_indent="· ", subsequent_indent="  "))
        for rank, remark in enumerate(remarks, 1)
    ]
    lines.append(f"May I quote it?  {_quote(comparison)}")
    rest = len(rows) - len(main)
    details = "Details: --details" + (f" has {counted(rest, 'more line')}" if rest else "")
    return fitted([(0, lines), *blocks, (0, [details])], _MOST_LINES)


def _answer(comparison: ComparedResults) -> tuple[str, str]:
    """Return the changes, the worst first, or why there is no answer; and how sure it is."""
    by_answer: dict[str, list[MetricChange]] = {}
    for row in comparison.visible:
        by_answer.setdefault(answer_of(row), []).append(row)
    for state in _WORST:
        if rows := by_answer.get(state):
            first = rows[0]
            name = safe.word(f"[{first.case.title}] {first.measure.title}")
            ratio = first.change.change
            by = f", relative to {comparison.reference}"
            size = "" if ratio.value is None else f": {change(ratio.value - 1)}{by}"
            ends = " to ".join(change(end - 1) for end in ratio.interval or ())
            sure = f"likely {ends} (95 % interval) · " if ends else ""
            more = f"; {len(rows) - 1} more" if rows[1:] else ""
            return f"{state.upper()}: {name}{size}{more}", sure
    questions = len(by_answer.get("not shown", ()))
    if questions:
        return f"NOT WORSE, as far as shown: no change in {counted(questions, 'line')}", ""
    needs = "no --reference is named, so the machine's days count"
    if len(comparison.older.results) < PAST:
        needs = f"it takes {PAST} older results and a --reference"
    return f"NO VERDICT: {needs}; here are the numbers", ""


def _quote(comparison: ComparedResults) -> str:
    if comparison.older.doubts:
        return "No: the results are not alike."
    shown = any(answer_of(row) in {"worse", "better"} for row in comparison.visible)
    return "Yes: the change, with its interval and its reference." if shown else "No."


def _is_main(row: MetricChange, rows: list[MetricChange]) -> bool:
    """Whether a row is of the first metric of its case."""
    return next(other for other in rows if other.case == row.case) is row


def _main_row(row: MetricChange) -> list[str]:
    unit, old, new, ratio = row.measure.unit, row.old.value, row.new.value, _ratio(row)
    values = [NOTHING if value is None else amount(unit, value) for value in (old, new)]
    if old is not None and new is not None:
        values = amounts(unit, old, new)
    moved = NOTHING if ratio is None else f"{times(ratio)}×"
    state = "not judged" if row.change.state == "no model" else _state(row)
    state = "reference" if row.is_reference else state
    return [cut(row.case.title, _TITLE), row.measure.title, *values, moved, state]


def _unjudged(rows: Sequence[MetricChange], comparison: ComparedResults) -> Iterator[str]:
    """Yield why lines have no verdict, and how many of the verdicts chance alone may give."""
    open_ = [row for row in rows if row.change.state == "no model" and not row.is_reference]
    judged = len(rows) - len(open_) - sum(row.is_reference for row in rows)
    if open_ and comparison.reference:
        reasons = listed(dict.fromkeys(row.change.change.why for row in open_), 2)
        yield f"{counted(len(open_), 'line')} not judged. Of their values: {reasons}"
    if judged >= _MANY:
        alarms = figure(0.05 * judged)
        yield f"{judged} lines are judged, each at 95 %: about {alarms} change by chance alone"


def text(comparison: ComparedResults) -> Iterator[str]:
    """Yield the lines."""
    yield from what(comparison)
    yield ""
    rows = [_row(row) for row in comparison.visible]
    yield from columns([_HEADS, *rows], left_aligned=3) if rows else [_NOTHING]
    yield from silent(comparison.rows)
    yield ""
    yield from verdicts(comparison.visible, comparison)


def document(comparison: ComparedResults) -> dict[str, JsonValue]:
    """Return all that is compared; a number that is not known is null, and its `why` says why."""
    return {
        "new": str(comparison.new.path),
        "old": [str(result.path) for result in comparison.older.results],
        "left_out": list(comparison.older.left_out),
        "compared_anyway": list(comparison.older.doubts),
        "remarks": list(what(comparison)),
        "reference": comparison.reference,
        "rows": [
            {
                **identity(row.case, row.measure),
                "old": row.old.model_dump(mode="json"),
                "new": row.new.model_dump(mode="json"),
                "ratio": row.ratio,
                "by_reference": row.change.change.model_dump(mode="json"),
                "least": row.change.least,
                "answer": answer_of(row),
            }
            for row in comparison.rows
        ],
    }


def page(comparison: ComparedResults) -> PageDocument:
    """Return a comparison with its drawings, the worst answers first."""
    # The charts take about 50 ms, which the text does not need.
    from benchforge.report.charts.course import change_drawing  # noqa: PLC0415
    from benchforge.report.charts.drawing import ChartAxis, ratio_ticks  # noqa: PLC0415

    changes = sorted(comparison.visible, key=lambda row: [*_KINDS].index(answer_of(row)))
    answers, rows = [answer_of(row) for row in changes], []
    ends = [end for row in changes for end in _ends(row)]
    axis = ChartAxis.of_ratios(ends)
    for row, answer in zip(changes, answers, strict=True):
        case, metric, unit, old, new, *_ = _row(row)
        kind, value, drawing = _KINDS[answer], NOTHING, None
        if (ratio := next(_ends(row), None)) is not None:
            value, interval = f"{times(ratio)}x", row.change.change.interval
            drawing = change_drawing(axis, ratio, interval, kind, f"{case}, {metric}: {value}")
        detail = f"{old} → {new} {unit}".rstrip()
        rows.append(DrawnRow(kind, answer, metric, case, drawing, value, detail))
    summary, reference = comparison.new.summary, comparison.reference
    relative = f"; ratios are relative to {reference}, with 95 % intervals" if reference else ""
    about = f"new by old, on a logarithmic axis{relative}"
    return PageDocument(
        title=f"{summary.title or summary.name}: what changed",
        eyebrow=f"{summary.name} · {counted(len(comparison.older.results), 'older result')}",
        counts=[(_KINDS[item], answers.count(item), item) for item in dict.fromkeys(answers)],
        sentences=[*verdicts(changes, comparison), *silent(comparison.rows)],
        sections=[
            PageSection(
                "changes",
                "Changes",
                about,
                empty=f"{_NOTHING}.",
                rows=rows,
                axis=ratio_ticks(axis) if ends else None,
                others="benchforge compare prints them",
            ),
            PageSection("results", "Results", items=[*what(comparison)]),
        ],
        banners=[f"Compared anyway: {doubt}" for doubt in comparison.older.doubts],
    )


def _ends(row: MetricChange) -> Iterator[float]:
    """Yield the positive ratio, and the ends of its interval."""
    ratio = _ratio(row)
    if ratio is not None and ratio > 0:
        yield from (ratio, *(row.change.change.interval or ()))


def _ratio(row: MetricChange) -> float | None:
    """Return the ratio, by the reference if it is known."""
    predicted = row.change.change.value
    return row.ratio if predicted is None else predicted


def _row(row: MetricChange) -> list[str]:
    ratio, by_reference = row.ratio, row.change.change
    unit = scale(row.measure.unit, [row.new.value or 0.0])
    return [
        row.case.title,
        row.measure.title,
        "" if unit.unit == "1" else unit.unit,
        spread(row.old, unit.text),
        spread(row.new, unit.text),
        NOTHING if ratio is None else times(ratio),
        NOTHING if by_reference.value is None else spread(by_reference, times),
        _state(row),
    ]


def _state(row: MetricChange) -> str:
    answer = answer_of(row)
    return answer.upper() if answer in {"worse", "not believed", "broken"} else answer


def answer_of(row: MetricChange) -> str:
    """Return the answer to a metric; the reference itself has none."""
    return "reference" if row.is_reference else row.answer


def silent(rows: Sequence[MetricChange]) -> Iterator[str]:
    """Yield the metrics without a line: 0 in all results, or known in none, with the reason."""
    titles_by_reason: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.silent:
            titles_by_reason.setdefault(row.silent, {})[row.measure.title] = None
    for reason, titles in titles_by_reason.items():
        heading = "0 in all" if reason == "0" else f"not known: {reason}"
        yield safe.word(f"{heading}: {', '.join(titles)}")


def verdicts(rows: Sequence[MetricChange], comparison: ComparedResults) -> Iterator[str]:
    """Yield the answers of the rows, and how sure they are."""
    decided = [item for item in rows if item.change.state != "no model"]
    open_ = [item for item in rows if item.change.state == "no model" and not item.is_reference]
    reasons = dict.fromkeys(safe.word(item.change.change.why) for item in open_)
    yield from _alerts(rows)
    if not decided:
        yield f"NO MODEL: {'; '.join(reasons) or 'only the reference'}"
        yield f"{_ALONE}; for a verdict, use {PAST} or more older results and a --reference"
        yield from (  # no change of the code
            f"the reference {comparison.reference} itself moved by {change(row.ratio - 1)} "
            f"in {_title(row)}"
            for row in rows
            if row.is_reference and row.ratio is not None
        )
        return
    if open_:
        yield f"no model for {counted(len(open_), 'line')}: {'; '.join(reasons)}"
    for state in ("worse", "better"):
        yield from (
            f"{state.upper()}: {_title(row)}: {spread(row.change.change, times)} times what "
            f"{row.change.change.n} older results predict"
            for row in decided
            if row.change.state == state
        )
    alarms = 0.05 * len(decided)
    tests = counted(len(decided), "question")
    expected = f"about {figure(alarms)} false alarms are expected"
    yield f"{tests}, each at 95 %: without a change, {expected}"
    yield "`not shown` does not prove that nothing changed"
    if comparison.older.doubts:
        yield "COMPARED ANYWAY: these are not verdicts"


def _alerts(rows: Sequence[MetricChange]) -> Iterator[str]:
    """Yield what is broken, what has no ratio since it was 0, and that no line is believed."""
    wrong = dict.fromkeys(row.new.why for row in rows if row.answer == "broken")
    yield from (f"BROKEN: {safe.word(reason.partition(': ')[2])}" for reason in wrong)
    for row in rows:
        # What was 0, such as errors, has no ratio, and so no verdict.
        if row.measure.better == "lower" and row.old.value == 0 and row.new.value:
            new = spread(row.new, exact)
            yield f"LOOK AT {_title(row)}: it was 0 and is {new}; there is no ratio, so no verdict"
    if rows and not any(item.believed for item in rows):
        yield "NOT BELIEVED: no line has believed numbers in both: nothing was compared"


def _title(row: MetricChange) -> str:
    return f"{safe.word(row.case.title)}: {safe.word(row.measure.title)}"


def what(comparison: ComparedResults) -> Iterator[str]:
    """Yield the lines above the table."""
    new, older = comparison.new, comparison.older.results
    if len(older) <= _EACH:
        yield from (f"old: {_of(item)}" for item in older)
    else:
        yield f"old: {counted(len(older), 'result')}, the first and the last of them:"
        yield from (f"  {_of(item)}" for item in (older[0], older[-1]))
    yield f"new: {_of(new)}"
    yield from (f"COMPARED ANYWAY: {safe.word(item)}" for item in comparison.older.doubts)
    yield from (f"differs: {safe.word(item)}" for item in soft(older[-1], new))
    yield from _cases(new, older, comparison.registry)
    for result in (*older, new):
        blocks = max((case.trials for case in result.summary.cases), default=0)
        if blocks < LEAST:
            shortage = f"{counted(blocks, 'block')} a case, so no interval: it needs {LEAST}"
            yield f"{safe.word(str(result.path))}: {shortage}"


def _of(result: Summed) -> str:
    doubt = "" if result.summary.complete else "; NOT COMPLETE: some measurements have no trial"
    version = f"benchforge {result.summary.benchforge}"
    when = f"{result.summary.created:%Y-%m-%d %H:%M %Z}".rstrip()
    return f"{safe.word(str(result.path))}, measured {when}, {version}{doubt}"


def _cases(new: Summed, older: Sequence[Summed], registry: Registry) -> Iterator[str]:
    """Yield the cases and metrics that have no partner or were changed, each once."""
    for case in new.summary.cases:
        if not case.answered(smoke=new.summary.smoke):
            yield f"NOT BELIEVED: {safe.word(case.case.title)}: the new result has no such number"
    results_by_difference: dict[tuple[str, str], list[Summed]] = {}
    for old in older:
        for difference in (*_partners(new, old, registry), *_metrics(new, old)):
            results_by_difference.setdefault(difference, []).append(old)
    for (where, difference_), results_ in results_by_difference.items():
        first = safe.word(str(results_[0].path))
        paths = first if len(results_) == 1 else f"{len(results_)} older results ({first} is one)"
        yield f"{where} {paths}: {safe.word(difference_)}"


def _partners(new: Summed, old: Summed, registry: Registry) -> Iterator[tuple[str, str]]:
    theirs, new_by_key = by_key(old.summary), by_key(new.summary)
    for key in theirs:
        if key not in new_by_key:
            yield "only in", theirs[key].case.title
    for key in new_by_key:
        if key not in theirs:
            yield "not in", new_by_key[key].case.title
        elif change_ := another(old, new, theirs[key].case, new_by_key[key].case, registry):
            yield "changed since", f"{new_by_key[key].case.title}: {change_}"


def _metrics(new: Summed, old: Summed) -> Iterator[tuple[str, str]]:
    """Yield the metrics without a partner; with another unit, a metric is another one."""
    theirs, new_lines = by_key(old.summary), by_key(new.summary)
    shared_keys = [key for key in theirs if key in new_lines]
    then = dict.fromkeys(item for key in shared_keys for item in lines(theirs[key]))
    new_items = dict.fromkeys(item for key in shared_keys for item in lines(new_lines[key]))
    for where, items, others in (("only in", then, new_items), ("not in", new_items, then)):
        for measure in (item for item in items if item not in others):
            unit = f" in {measure.unit}" if measure.unit not in {"", "1"} else ""
            yield where, f"metric {measure.title}{unit}"
