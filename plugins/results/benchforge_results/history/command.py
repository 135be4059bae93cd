"""`benchforge history`: results over time."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import AS_JSON, PATH
from benchforge_results.over_time.html_option import HTML


@click.command("history")
@click.argument("results", metavar="RESULT...", nargs=-1, required=True, type=PATH)
@click.option(
    "--reference",
    metavar="LABEL",
    help="A server that all results have; also show ratios to it.",
)
@click.option(
    "--metric", "metrics", metavar="LABEL", multiple=True, help="Show this metric only; repeatable."
)
@AS_JSON
@HTML
@click.option("--csv", "csv_", is_flag=True, help="Print CSV, one line for each number.")
@runs("benchforge_results.history.shown")
def command() -> None:
    """Show each case and metric over several results, in order of time.

    A RESULT is a result folder, a summary.json, or a folder of results. If the machine or a load
    tool changed, a new series begins; series are never joined. In a series of 20 or more results
    with a --reference, the output shows between which results the level changed.

    Exit codes: 0 shown; 1 a named result is invalid; 2 there is no result, or a named result cannot
    be read.
    """
