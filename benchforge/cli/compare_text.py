"""A comparison of results for a person: every number, and what it says."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from benchforge.cli.columns import columns, scale, spread, times, times_spread
from benchforge.cli.compare_what import what
from benchforge.cli.identity import identity
from benchforge.cli.progress import plain
from benchforge.cli.say import counted
from benchforge.registry import Registry
from benchforge.run.older import Older
from benchforge.run.summed import Summed
from benchforge.stats.change import PAST
from benchforge.stats.compared import Compared

_ALONE = (
    "sessions of one machine differ by themselves: where that is by 3 %, two of three alarms that "
    "rest on their own intervals are false"
)


def text(
    new: Summed,
    older: Older,
    rows: Sequence[Compared],
    reference: str | None,
    registry: Registry,
) -> Iterator[str]:
    """Yield the lines."""
    yield from what(new, older, registry)
    yield ""
    seen = [one for one in rows if not one.silent]
    yield from _table(seen)
    yield from _silent(rows)
    yield ""
    yield from _told(seen, older, reference)


def as_json(
    new: Summed,
    older: Older,
    rows: Sequence[Compared],
    reference: str | None,
    registry: Registry,
) -> dict[str, JsonValue]:
    """Return all that is compared; a number that is not known is null, and its `why` says why."""
    return {
        "new": str(new.path),
        "old": [str(one.path) for one in older.results],
        "left_out": list(older.left_out),
        "compared_anyway": list(older.doubts),
        "remarks": list(what(new, older, registry)),
        "reference": reference,
        "rows": [_row_json(one) for one in rows],
    }


def _row_json(one: Compared) -> dict[str, JsonValue]:
    return {
        **identity(one.case, one.measure),
        "old": one.old.model_dump(mode="json"),
        "new": one.new.model_dump(mode="json"),
        "ratio": one.ratio,
        "by_reference": one.change.change.model_dump(mode="json"),
        "least": one.change.least,
        "answer": _answer(one),
    }


def _table(rows: Sequence[Compared]) -> Iterator[str]:
    if not rows:
        yield "nothing to compare: no metric of a common case has numbers in both"
        return
    heads = ["case", "metric", "unit", "old", "new", "new/old", "by reference", "answer"]
    yield from columns([heads, *map(_row, rows)], left=3)


def _row(one: Compared) -> list[str]:
    unit, factor = scale(one.measure.unit, one.new.value)
    answer = _answer(one)
    return [
        one.case.title,
        one.measure.title,
        unit,
        spread(one.old, factor),
        spread(one.new, factor),
        times(one.ratio),
        times_spread(one.change.change),
        answer.upper() if answer in {"worse", "not believed"} else answer,
    ]


def _answer(one: Compared) -> str:
    return "reference" if one.is_reference else one.answer


def _silent(rows: Sequence[Compared]) -> Iterator[str]:
    """Yield what has no line: what is 0 in all results, and what is known in none, with the why."""
    found: dict[str, dict[str, None]] = {}
    for one in rows:
        if one.silent:
            found.setdefault(one.silent, {})[one.measure.title] = None
    for why, titles in found.items():
        told = "0 in all" if why == "0" else f"not known: {why}"
        yield plain(f"{told}: {', '.join(titles)}")


def _told(rows: Sequence[Compared], older: Older, reference: str | None) -> Iterator[str]:
    decided = [one for one in rows if one.change.state != "no model"]
    open_ = [one for one in rows if one.change.state == "no model" and not one.is_reference]
    reasons = dict.fromkeys(plain(one.change.change.why) for one in open_)
    yield from map(_new, filter(_is_new, rows))
    if not decided:
        yield f"NO MODEL: {'; '.join(reasons) or 'nothing but the reference'}"
        yield f"{_ALONE}; what decides: {PAST} older results or more, and a --reference"
        yield from _reference(rows, reference)
        return
    if open_:
        yield f"no model for {counted(len(open_), 'line')}: {'; '.join(reasons)}"
    for state in ("worse", "better"):
        for one in decided:
            if one.change.state == state:
                yield f"{state.upper()}: {_sentence(one)}"
    alarms = 0.05 * len(decided)
    asked = counted(len(decided), "question")
    yield f"{asked}, each at 95 %: where nothing changed, about {alarms:.1f} are called by chance"
    yield "not shown is no proof that nothing changed"
    if older.doubts:
        yield "COMPARED ANYWAY: these are no verdicts"


def _is_new(one: Compared) -> bool:
    """Whether what was 0, such as errors, is there now: that has no ratio, and so no verdict."""
    return one.measure.better == "lower" and one.old.value == 0 and bool(one.new.value)


def _new(one: Compared) -> str:
    title = f"{plain(one.case.title)}: {plain(one.measure.title)}"
    return f"LOOK AT {title}: it was 0 and is {spread(one.new)}; no ratio, and so no verdict"


def _sentence(one: Compared) -> str:
    change = one.change.change
    title = f"{plain(one.case.title)}: {plain(one.measure.title)}"
    return f"{title}: {times_spread(change)} times what {change.n} older results predict"


def _reference(rows: Sequence[Compared], reference: str | None) -> Iterator[str]:
    """Yield by how much the reference itself moved: that is no change of anybody's code."""
    for one in rows:
        if one.is_reference and one.ratio is not None:
            moved = f"{100 * (one.ratio - 1):+.1f} %"
            title = f"{plain(one.case.title)}: {plain(one.measure.title)}"
            yield f"the reference {reference} itself moved by {moved} in {title}"
