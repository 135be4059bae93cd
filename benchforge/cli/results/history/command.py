"""`benchforge history`: results over time."""

import json
from pathlib import Path

from benchforge.cli.console import options as cli
from benchforge.errors import Unusable


class _Options:
    results: tuple[Path, ...] = cli.argument(metavar="RESULT...", required=True)
    reference: str | None = cli.option(
        metavar="LABEL", help="A server that all results have; also show ratios to it."
    )
    metrics: tuple[str, ...] = cli.option(
        "--metric", metavar="LABEL", help="Show this metric only; repeatable."
    )
    details: bool = cli.DETAILS
    as_json: bool = cli.AS_JSON
    page: Path | None = cli.HTML_PAGE
    as_csv: bool = cli.option("--csv", help="Print CSV, one line for each number.")


@cli.click_command("history", _Options)
def command(options: _Options) -> int:
    """Show each case and metric over several results, in order of time.

    A RESULT is a result folder, a summary.json, or a folder of results. If the machine or a load
    tool changed, a new series begins; series are never joined. In a series of 20 or more results
    with a --reference, the output shows between which results the level changed.

    Exit codes: 0 shown; 1 a named result is invalid; 2 there is no result, or a named result cannot
    be read.
    """
    from benchforge.cli.console.named_file import write_page
    from benchforge.cli.console.say import say, show
    from benchforge.cli.results.history import text
    from benchforge.parts.registry import Registry

    if options.as_json and options.as_csv:
        raise Unusable("--json and --csv exclude each other", "leave one out")
    reference, metrics = options.reference, options.metrics
    suites, left_out = text.timelines(options.results, Registry(), reference, metrics)
    if options.as_json:
        show(json.dumps([*map(text.document, suites)], indent=1, allow_nan=False))
    elif options.as_csv:
        show(text.as_csv(suites).rstrip("\n"))
    else:
        lines = text.text if options.details else text.first_screen
        show("\n\n".join("\n".join(lines(timeline)) for timeline in suites))
    if options.page is not None:
        write_page(options.page, text.page(suites))
    for omission in left_out:
        say(f"left out: {omission}")
    return 0
