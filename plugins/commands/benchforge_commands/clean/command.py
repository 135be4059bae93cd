"""`benchforge clean`: the files that benchforge keeps on the disk, and their removal."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH


@click.command("clean")
@click.option(
    "--results",
    "parent",
    metavar="DIR",
    type=PATH,
    help="Also remove results in this folder. Without it, results in ./results are only listed.",
)
@click.option("--older-than", metavar="AGE", help="Select only items older than AGE, such as 30d.")
@click.option("--yes", is_flag=True, help="Remove without confirmation.")
@runs("benchforge_commands.clean.shown")
def command() -> None:
    """List the files that benchforge keeps on the disk, and remove them after you confirm.

    These are the cache (filled databases and environments of interpreters, which benchforge
    rebuilds when it needs them), leftovers of a killed benchforge, and with --results the results
    in a folder. Files of others stay, and so do files that a running benchforge uses.

    Exit codes: 0 done; 2 there is no terminal to confirm, or another benchforge measures; 5 a file
    cannot be removed.
    """
