"""A comparison of results for a person: what is compared, every number, and what it says."""

from collections.abc import Iterator, Sequence

from benchforge.cli.columns import columns, scale, spread, times, times_spread
from benchforge.cli.progress import plain
from benchforge.cli.say import counted
from benchforge.registry import Registry
from benchforge.run.differs import another, soft
from benchforge.run.older import Older
from benchforge.run.summed import Summed
from benchforge.stats.change import PAST
from benchforge.stats.compared import IS_REFERENCE, NO_REFERENCE, Compared
from benchforge.stats.interval import LEAST
from benchforge.stats.levels import by_key, lines

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
    yield from _what(new, older.results)
    yield from (f"COMPARED ANYWAY: {plain(one)}" for one in older.doubts)
    yield from (f"differs: {plain(one)}" for one in soft(older.results[-1], new))
    yield from _cases(new, older.results, registry)
    yield from _blocks((*older.results, new))
    yield ""
    seen = [one for one in rows if not one.silent]
    yield from _table(seen)
    yield from _silent(rows)
    yield ""
    yield from _told(seen, older, reference)


def _what(new: Summed, older: Sequence[Summed]) -> Iterator[str]:
    for name, one in (*(("old", one) for one in older), ("new", new)):
        doubt = "" if one.summary.complete else "; NOT COMPLETE: some measurements have no trial"
        version = f"benchforge {one.summary.benchforge}"
        when = f"{one.summary.created:%Y-%m-%d %H:%M %Z}".rstrip()
        yield f"{name}: {plain(str(one.path))}, measured {when}, {version}{doubt}"


def _cases(new: Summed, older: Sequence[Summed], registry: Registry) -> Iterator[str]:
    """Yield which cases have no partner, and which are another thing than they were."""
    ours = by_key(new.summary)
    for case in ours.values():
        if not case.answered(smoke=new.summary.smoke):
            yield f"NOT BELIEVED: {plain(case.case.title)}: the new result has no such number"
    for one in older:
        theirs = by_key(one.summary)
        for key in theirs.keys() - ours.keys():
            yield f"only in {plain(str(one.path))}: {plain(theirs[key].case.title)}"
        for key in ours:
            if key not in theirs:
                yield f"not in {plain(str(one.path))}: {plain(ours[key].case.title)}"
            elif what := another(one, new, theirs[key].case, ours[key].case, registry):
                title = plain(ours[key].case.title)
                yield f"another thing than in {plain(str(one.path))}: {title}: {plain(what)}"
        yield from _metrics(one, new)


def _metrics(old: Summed, new: Summed) -> Iterator[str]:
    """Yield which metrics have no partner: of another unit, they are other ones."""
    theirs, ours = by_key(old.summary), by_key(new.summary)
    both = theirs.keys() & ours.keys()
    then = {one: None for key in both for one in lines(theirs[key])}
    now = {one: None for key in both for one in lines(ours[key])}
    for path, alone in ((old.path, then.keys() - now.keys()), (new.path, now.keys() - then.keys())):
        for one in sorted(alone, key=lambda one: one.title):
            unit = f" in {one.unit}" if one.unit not in {"", "1"} else ""
            yield f"only in {plain(str(path))}: metric {plain(one.title + unit)}"


def _blocks(results: Sequence[Summed]) -> Iterator[str]:
    for one in results:
        blocks = max((case.trials for case in one.summary.cases), default=0)
        if blocks < LEAST:
            told = f"{counted(blocks, 'block')} a case, so no interval: that takes {LEAST}"
            yield f"{plain(str(one.path))}: {told}"


def _table(rows: Sequence[Compared]) -> Iterator[str]:
    if not rows:
        yield "nothing to compare: no metric of a common case has numbers in both"
        return
    heads = ["case", "metric", "unit", "old", "new", "new/old", "by reference", "answer"]
    yield from columns([heads, *map(_row, rows)], left=3)


def _row(one: Compared) -> list[str]:
    unit, factor = scale(one.measure.unit, one.new.value)
    answer = "reference" if one.change.change.why == IS_REFERENCE else one.answer
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
    reasons = dict.fromkeys(
        one.change.change.why
        for one in rows
        if one.change.state == "no model" and one.change.change.why != IS_REFERENCE
    )
    if not decided:
        yield f"NO MODEL: {'; '.join(map(plain, reasons)) or 'nothing but the reference'}"
        yield f"{_ALONE}; what decides: {PAST} older results or more, and a --reference"
        yield from _reference(rows, reference)
        return
    if rest := [why for why in reasons if why != NO_REFERENCE]:
        some = counted(len(rows) - len(decided), "line")
        yield f"no model for {some}: {'; '.join(map(plain, rest))}"
    for state in ("worse", "better"):
        found = [one for one in decided if one.change.state == state]
        for one in found:
            yield f"{state.upper()}: {_sentence(one)}"
    alarms = 0.05 * len(decided)
    asked = counted(len(decided), "question")
    yield f"{asked}, each at 95 %: where nothing changed, about {alarms:.1f} are called by chance"
    yield "not shown is no proof that nothing changed"
    if older.doubts:
        yield "COMPARED ANYWAY: these are no verdicts"


def _sentence(one: Compared) -> str:
    change = one.change.change
    title = f"{plain(one.case.title)}: {plain(one.measure.title)}"
    return f"{title}: {times_spread(change)} times what {change.n} older results predict"


def _reference(rows: Sequence[Compared], reference: str | None) -> Iterator[str]:
    """Yield by how much the reference itself moved: that is no change of anybody's code."""
    for one in rows:
        if one.change.change.why == IS_REFERENCE and one.ratio is not None:
            moved = f"{100 * (one.ratio - 1):+.1f} %"
            title = f"{plain(one.case.title)}: {plain(one.measure.title)}"
            yield f"the reference {reference} itself moved by {moved} in {title}"
