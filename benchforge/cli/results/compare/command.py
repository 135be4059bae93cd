"""`benchforge compare`: changes between results."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchforge.cli.console.options import (
    AS_JSON,
    DETAILS,
    HTML_PAGE,
    argument,
    click_command,
    option,
)
from benchforge.errors import Unusable

if TYPE_CHECKING:
    from benchforge.results.conclude import Summed
    from benchforge.results.over_time.compared import MetricChange
    from benchforge.results.over_time.older_results import Older

WORSE, NO_ANSWER = 1, 4


def share(text: str) -> float:
    """Return a share from 0 to below 1, written as 0.03 or 3%. Raises Unusable for others."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise Unusable(f"--least {text}: not a share", 'write it like "3%" or 0.03')
    return value


@dataclass(frozen=True)
class CompareOptions:
    """Options of `compare`: results, a reference, metrics and the form of the output."""

    results: tuple[Path, ...] = argument(metavar="OLD NEW", required=True)
    against: tuple[Path, ...] = option(
        "--against",
        metavar="RESULT",
        help="Older result, or folder of results, to compare with; repeatable. "
        "The first positional RESULT is then NEW.",
    )
    reference: str | None = option(
        "--reference", metavar="LABEL", help="A server that all results have; compare ratios to it."
    )
    metrics: tuple[str, ...] = option(
        "--metric", metavar="LABEL", help="Compare this metric only; repeatable."
    )
    least: float = option(
        "--least",
        metavar="SHARE",
        type=share,
        default="3%",
        help="Ignore changes smaller than SHARE.",
    )
    anyway: bool = option(
        "--anyway", help="Compare even if machine, tools or suite differ; the output marks it."
    )
    details: bool = DETAILS
    as_json: bool = AS_JSON
    page: Path | None = HTML_PAGE


@click_command("compare", CompareOptions)
def command(options: CompareOptions) -> int:
    """Compare result NEW with OLD, or with several: NEW --against RESULT...

    A RESULT is a result folder, a summary.json, or a folder of results. Two results cannot show
    how much runs vary by themselves, so only the numbers are printed, without a verdict. With five
    or more older results and a --reference, a verdict compares NEW with what they predict. The
    surest comparison is `benchforge gate --base`, which measures both in the same blocks.

    Exit codes: 0 no metric is shown to be worse; 1 a metric is worse; 2 the results cannot be
    compared; 4 a case of NEW has no believable value, or no metric has one in both results.
    """
    from benchforge.cli.console.say import say, show
    from benchforge.cli.results.compare.screen import first_screen
    from benchforge.cli.results.compare.text import ComparedResults, document, page, text
    from benchforge.parts.registry import Registry
    from benchforge.results.conclude import summed
    from benchforge.results.over_time.compared import PAST, compared
    from benchforge.results.over_time.older_results import check_labels, older

    named = _named(options.results, options.against)
    registry = Registry()
    new = summed(named[0], registry)
    reference, metrics = options.reference, options.metrics
    check_labels([new], reference, metrics)
    older_results = older(
        new, named[1:], registry, reference, anyway=options.anyway, earlier=bool(options.against)
    )
    past = [result.summary for result in older_results.results]
    rows = list(compared(new.summary, past, reference, options.least, metrics))
    comparison = ComparedResults(new, older_results, rows, reference, registry)
    if options.as_json:
        show(json.dumps(document(comparison), indent=1, allow_nan=False))
    else:
        show("\n".join(text(comparison) if options.details else first_screen(comparison)))
    if options.page is not None:
        from benchforge.cli.console.named_file import write_page

        write_page(options.page, page(comparison))
    for omission in older_results.left_out:
        say(f"left out: {omission}")
    return _code(new, older_results, rows, can_judge=reference is not None and len(past) >= PAST)


def _code(new: "Summed", older: "Older", rows: "list[MetricChange]", *, can_judge: bool) -> int:
    """Return the exit code; `can_judge` is whether there could be a model, and so a verdict."""
    unanswered = not all(case.answered(smoke=new.summary.smoke) for case in new.summary.cases)
    answers = {row.answer for row in rows}
    nothing = not (new.summary.smoke or any(row.believed for row in rows))
    if unanswered or nothing or "broken" in answers or (can_judge and "not believed" in answers):
        return NO_ANSWER
    # What cannot be compared and was anyway is no verdict.
    return WORSE if "worse" in answers and not older.doubts else 0


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
