"""What is compared with what: the results, what they differ in, and what has no partner."""

from collections.abc import Iterator, Sequence

from benchforge.parts.registry import Registry
from benchforge.results.conclude import Summed
from benchforge.results.over_time.differences import another, soft
from benchforge.results.over_time.levels import by_key, lines
from benchforge.results.over_time.older_results import Older
from benchforge.stats.inference.interval import LEAST
from benchforge.text import safe
from benchforge.text.readable import counted

_EACH = 6  # older results, that each is named


def what(new: Summed, older: Older, registry: Registry) -> Iterator[str]:
    """Yield the lines above the table."""
    yield from _results(new, older.results)
    yield from (f"COMPARED ANYWAY: {safe.word(one)}" for one in older.doubts)
    yield from (f"differs: {safe.word(one)}" for one in soft(older.results[-1], new))
    yield from _cases(new, older.results, registry)
    yield from _blocks((*older.results, new))


def _results(new: Summed, older: Sequence[Summed]) -> Iterator[str]:
    if len(older) <= _EACH:
        yield from (f"old: {_of(one)}" for one in older)
    else:
        first, last = older[0], older[-1]
        yield f"old: {counted(len(older), 'result')}, the first and the last of them:"
        yield from (f"  {_of(one)}" for one in (first, last))
    yield f"new: {_of(new)}"


def _of(result: Summed) -> str:
    doubt = "" if result.summary.complete else "; NOT COMPLETE: some measurements have no trial"
    version = f"benchforge {result.summary.benchforge}"
    when = f"{result.summary.created:%Y-%m-%d %H:%M %Z}".rstrip()
    return f"{safe.word(str(result.path))}, measured {when}, {version}{doubt}"


def _cases(new: Summed, older: Sequence[Summed], registry: Registry) -> Iterator[str]:
    """Yield what has no partner, and which cases are another thing than they were: each once."""
    for case in new.summary.cases:
        if not case.answered(smoke=new.summary.smoke):
            yield f"NOT BELIEVED: {safe.word(case.case.title)}: the new result has no such number"
    results_by_difference: dict[tuple[str, str], list[Summed]] = {}
    for old in older:
        for difference in (*_partners(new, old, registry), *_metrics(new, old)):
            results_by_difference.setdefault(difference, []).append(old)
    for (where, what), some in results_by_difference.items():
        first = safe.word(str(some[0].path))
        place = first if len(some) == 1 else f"{len(some)} older results ({first} is one)"
        yield f"{where} {place}: {safe.word(what)}"


def _partners(new: Summed, old: Summed, registry: Registry) -> Iterator[tuple[str, str]]:
    theirs, ours = by_key(old.summary), by_key(new.summary)
    for key in theirs:
        if key not in ours:
            yield "only in", theirs[key].case.title
    for key in ours:
        if key not in theirs:
            yield "not in", ours[key].case.title
        elif what := another(old, new, theirs[key].case, ours[key].case, registry):
            yield "changed since", f"{ours[key].case.title}: {what}"


def _metrics(new: Summed, old: Summed) -> Iterator[tuple[str, str]]:
    """Yield which metrics have no partner: of another unit, they are other ones."""
    theirs, ours = by_key(old.summary), by_key(new.summary)
    both = [key for key in theirs if key in ours]
    then = dict.fromkeys(one for key in both for one in lines(theirs[key]))
    now = dict.fromkeys(one for key in both for one in lines(ours[key]))
    for where, alone in (
        ("only in", [one for one in then if one not in now]),
        ("not in", [one for one in now if one not in then]),
    ):
        for measure in alone:
            unit = f" in {measure.unit}" if measure.unit not in {"", "1"} else ""
            yield where, f"metric {measure.title}{unit}"


def _blocks(results: Sequence[Summed]) -> Iterator[str]:
    for result in results:
        blocks = max((case.trials for case in result.summary.cases), default=0)
        if blocks < LEAST:
            shortage = f"{counted(blocks, 'block')} a case, so no interval: it needs {LEAST}"
            yield f"{safe.word(str(result.path))}: {shortage}"
