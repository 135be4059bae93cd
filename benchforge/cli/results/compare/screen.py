"""First screen of a comparison of results: the changes, and the main numbers."""

from typing import Final

from benchforge.cli.console.columns import NOTHING, columns
from benchforge.cli.results.compare.text import ComparedResults, answer_of, verdicts
from benchforge.results.over_time.compared import PAST, MetricChange
from benchforge.text import safe
from benchforge.text.readable import amount, amounts, change, counted, cut, fitted, times

_MOST_LINES: Final = 15
_ROWS: Final = 7
_WIDE: Final = 78
_TITLE: Final = 22  # characters
_WORST: Final = ("broken", "worse", "not believed", "better")


def first_screen(comparison: ComparedResults) -> list[str]:
    """Return at most 15 lines: the answer, the main metric of each case, and remarks."""
    rows, older, new = comparison.visible, comparison.older, comparison.new
    against = f"{new.path} against {counted(len(older.results), 'older result')}"
    lines = [_answer(comparison), safe.word(against)]
    shown = sorted(rows, key=_importance)
    main = [row for row in shown if answer_of(row) in _WORST or _is_main(row, rows)][:_ROWS]
    if main:
        heads = ("case", "metric", "old", "new", "change", "")
        lines += columns([heads, *map(_row, main)], left_aligned=2)
    if len(rows) > len(main):
        lines.append(f"and {counted(len(rows) - len(main), 'more line')}: --details")
    remarks = (*older.doubts, *verdicts(rows, older, comparison.reference))
    blocks = [(rank, [f"· {cut(safe.word(it), _WIDE)}"]) for rank, it in enumerate(remarks, 1)]
    return fitted([(0, lines), *blocks], _MOST_LINES)


def _answer(comparison: ComparedResults) -> str:
    """Return the changes, the worst first; or why there is no answer."""
    by_answer: dict[str, list[MetricChange]] = {}
    for row in comparison.visible:
        by_answer.setdefault(answer_of(row), []).append(row)
    for state in _WORST:
        if rows := by_answer.get(state):
            first = rows[0]
            name = safe.word(f"[{first.case.title}] {first.measure.title}")
            ratio = first.change.change.value
            by = f", relative to {comparison.reference}"
            size = "" if ratio is None else f": {change(ratio - 1)}{by}"
            more = f"; {len(rows) - 1} more" if rows[1:] else ""
            return f"{state.upper()}: {name}{size}{more}"
    questions = len(by_answer.get("not shown", ()))
    if questions:
        return f"NOT WORSE, as far as shown: no change in {counted(questions, 'question')}"
    if len(comparison.older.results) < PAST:
        return f"NO VERDICT: it takes {PAST} older results and a --reference; here are the numbers"
    return "NO VERDICT: no --reference is named, so the machine's days count; here are the numbers"


def _importance(row: MetricChange) -> int:
    answer = answer_of(row)
    return _WORST.index(answer) if answer in _WORST else len(_WORST)


def _is_main(row: MetricChange, rows: list[MetricChange]) -> bool:
    """Whether a row is of the first metric of its case."""
    return next(other for other in rows if other.case == row.case) is row


def _row(row: MetricChange) -> list[str]:
    unit, by = row.measure.unit, row.change.change
    old, new = row.old.value, row.new.value
    values = [NOTHING if value is None else amount(unit, value) for value in (old, new)]
    if old is not None and new is not None:
        values = amounts(unit, old, new)
    ratio = row.ratio if by.value is None else by.value
    moved = NOTHING if ratio is None else f"{times(ratio)}×"
    answer = answer_of(row)
    state = answer.upper() if answer in {"worse", "broken", "not believed"} else answer
    return [cut(row.case.title, _TITLE), row.measure.title, *values, moved, state]
