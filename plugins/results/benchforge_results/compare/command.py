"""`benchforge compare`: what changed, as far as results can tell."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import AS_JSON, LEAST, PATH
from benchforge_results.over_time.html_option import HTML


@click.command("compare")
@click.argument("results", metavar="OLD NEW", nargs=-1, required=True, type=PATH)
@click.option(
    "--against",
    metavar="RESULT",
    multiple=True,
    type=PATH,
    help="Older result, or folder of results, to compare with; repeatable. "
    "The first positional RESULT is then NEW.",
)
@click.option(
    "--reference",
    metavar="LABEL",
    help="A server that all results have; compare ratios to it.",
)
@click.option(
    "--metric",
    "metrics",
    metavar="LABEL",
    multiple=True,
    help="Compare this metric only; repeatable.",
)
@LEAST
@click.option(
    "--anyway",
    is_flag=True,
    help="Compare even if machine, tools or suite differ; the output marks it.",
)
@AS_JSON
@HTML
@runs("benchforge_results.compare.shown")
def command() -> None:
    """Compare result NEW with OLD, or with several: NEW --against RESULT...

    A RESULT is a result folder, a summary.json, or a folder of results. Two results cannot show
    how much runs vary by themselves, so only the numbers are printed, without a verdict. With five
    or more older results and a --reference, a verdict compares NEW with what they predict. The
    surest comparison is `benchforge gate --base`, which measures both in the same blocks.

    Exit codes: 0 no metric is shown to be worse; 1 a metric is worse; 2 the results cannot be
    compared; 4 a case of NEW has no believable value, or no metric has one in both results.
    """
