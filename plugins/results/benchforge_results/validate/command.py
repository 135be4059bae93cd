"""`benchforge validate`: whether result files are what they claim to be."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH


@click.command("validate")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PATH)
@runs("benchforge_results.validate.shown")
def command() -> None:
    """Check that the files of results are complete and agree with each other.

    PATH is a result folder or one of its files.

    benchforge computes the summary of a folder again from its trials. This needs no program, and
    of the suite's plugins only the metrics.

    Exit codes: 0 everything is valid; 1 a file is invalid; 2 a file cannot be read, or the summary
    cannot be computed again.
    """
