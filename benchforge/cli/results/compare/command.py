"""`benchforge compare`: changes between results."""

import json
from pathlib import Path

from benchforge.cli.console import options as cli
from benchforge.errors import Unusable

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


class _Options:
    results: tuple[Path, ...] = cli.argument(metavar="OLD NEW", required=True)
    against: tuple[Path, ...] = cli.option(
        metavar="RESULT",
        help="Older result, or folder of results, to compare with; repeatable. "
        "The first positional RESULT is then NEW.",
    )
    reference: str | None = cli.option(
        metavar="LABEL", help="A server that all results have; compare ratios to it."
    )
    metrics: tuple[str, ...] = cli.option(
        "--metric", metavar="LABEL", help="Compare this metric only; repeatable."
    )
    least: float = cli.option(
        metavar="SHARE", type=share, default="3%", help="Ignore changes smaller than SHARE."
    )
    anyway: bool = cli.option(
        help="Compare even if machine, tools or suite differ; the output marks it."
    )
    details: bool = cli.DETAILS
    as_json: bool = cli.AS_JSON
    page: Path | None = cli.HTML_PAGE


@cli.click_command("compare", _Options)
def command(options: _Options) -> int:
    """Compare result NEW with OLD, or with several: NEW --against RESULT...

    A RESULT is a result folder, a summary.json, or a folder of results. Two results cannot show
    how much runs vary by themselves, so only the numbers are printed, without a verdict. With five
    or more older results and a --reference, a verdict compares NEW with what they predict. The
    surest comparison is `benchforge gate --base`, which measures both in the same blocks.

    Exit codes: 0 no metric is shown to be worse; 1 a metric is worse; 2 the results cannot be
    compared; 4 a case of NEW has no believable value, or no metric has one in both results.
    """
    from benchforge.cli.console.named_file import write_page
    from benchforge.cli.console.say import say, show
    from benchforge.cli.results.compare import text
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
    comparison = text.ComparedResults(new, older_results, rows, reference, registry)
    if options.as_json:
        show(json.dumps(text.document(comparison), indent=1, allow_nan=False))
    else:
        lines = text.text if options.details else text.first_screen
        show("\n".join(lines(comparison)))
    if options.page is not None:
        write_page(options.page, text.page(comparison))
    for omission in older_results.left_out:
        say(f"left out: {omission}")
    unanswered = not all(case.answered(smoke=new.summary.smoke) for case in new.summary.cases)
    answers = {row.answer for row in rows}
    nothing = not (new.summary.smoke or any(row.believed for row in rows))
    # With fewer there is no model, and so no verdict.
    if reference is not None and len(past) >= PAST and "not believed" in answers:
        return NO_ANSWER
    if unanswered or nothing or "broken" in answers:
        return NO_ANSWER
    # What cannot be compared and was anyway is no verdict.
    return WORSE if "worse" in answers and not older_results.doubts else 0


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
