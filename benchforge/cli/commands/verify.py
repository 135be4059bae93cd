"""`benchforge verify`: whether a result's numbers are those that its raw files give."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH


@click.command("verify")
@click.argument("folder", metavar="RESULT", type=PATH)
@click.option("--all", "name_all", is_flag=True, help="Print every difference, not only the first.")
@runs("benchforge.cli.results.verify")
def command() -> None:
    """Recompute every number of a result from its raw files, and compare.

    This starts no process. It needs the plugins of the suite's load tools, but no program and no
    app.

    Exit codes: 0 all numbers agree; 1 a number differs; 2 a number cannot be read or recomputed.
    """
