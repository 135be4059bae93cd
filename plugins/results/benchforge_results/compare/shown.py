"""`benchforge compare`: what changed, as far as results can tell."""

import json
from pathlib import Path

from benchforge.cli.screen.say import say, show
from benchforge.errors import Unusable
from benchforge.registry import Registry
from benchforge_results.compare.text import ComparedResults, document, text
from benchforge_results.conclude import Summed, summed
from benchforge_results.over_time.change import PAST
from benchforge_results.over_time.compared import MetricChange, compared
from benchforge_results.over_time.levels import by_key
from benchforge_results.over_time.older_results import Older, older

WORSE, NO_ANSWER = 1, 4


def main(
    results: tuple[Path, ...],
    against: tuple[Path, ...],
    reference: str | None,
    metrics: tuple[str, ...],
    least: float,
    anyway: bool,
    as_json: bool,
    page: Path | None,
) -> int:
    """Compare result NEW with OLD, or with several: NEW --against RESULT..."""
    named = _named(results, against)
    registry = Registry()
    new = summed(named[0], registry)
    _check(new, reference, metrics)
    before = older(new, named[1:], registry, reference, anyway=anyway, earlier=bool(against))
    past = [one.summary for one in before.results]
    rows = list(compared(new.summary, past, reference, least, metrics))
    comparison = ComparedResults(new, before, rows, reference, registry)
    if as_json:
        show(json.dumps(document(comparison), indent=1, allow_nan=False))
    else:
        show("\n".join(text(comparison)))
    if page is not None:
        # jinja2 and the charts take about 50 ms, which the text does not need.
        from benchforge_results.compare.page import compare_page  # noqa: PLC0415
        from benchforge_results.over_time.page_file import write_page  # noqa: PLC0415

        write_page(page, "compare.html.j2", compare_page(comparison))
    for omission in before.left_out:
        say(f"left out: {omission}")
    return _code(new, before, rows, can_judge=reference is not None and len(past) >= PAST)


def _code(new: Summed, before: Older, rows: list[MetricChange], *, can_judge: bool) -> int:
    """Return the exit code; `can_judge` is whether there could be a model, and so a verdict."""
    unanswered = not all(one.answered(smoke=new.summary.smoke) for one in new.summary.cases)
    answers = {one.answer for one in rows}
    nothing = not (new.summary.smoke or any(one.believed for one in rows))
    if unanswered or nothing or "broken" in answers or (can_judge and "not believed" in answers):
        return NO_ANSWER
    # What cannot be compared and was anyway is no verdict.
    return WORSE if "worse" in answers and not before.doubts else 0


def _named(results: tuple[Path, ...], against: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the new result, then the older ones."""
    first, *rest = results
    if against:
        return first, *against, *rest
    if not rest:
        message = f"{first}: nothing to compare it with"
        raise Unusable(message, "compare OLD NEW, or NEW --against RESULT...")
    second, *more = rest
    if more:
        hint = "name the new result first: compare NEW --against OLDER..."
        raise Unusable(f"{len(results)} results: it is unclear which is the new one", hint)
    return second, first


def _check(new: Summed, reference: str | None, metrics: tuple[str, ...]) -> None:
    """Raise Unusable for a label that the new result does not have."""
    cases = by_key(new.summary).values()
    servers = sorted({one.case.server for one in cases})
    if reference is not None and reference not in servers:
        message = f"--reference {reference}: {new.path} has no such server"
        raise Unusable(message, f"available servers: {', '.join(servers)}")
    labels = sorted({line.metric for case in cases for line in case.metrics})
    for label in metrics:
        if label not in labels:
            message = f"--metric {label}: {new.path} has no such metric"
            raise Unusable(message, f"available metrics: {', '.join(labels)}")
