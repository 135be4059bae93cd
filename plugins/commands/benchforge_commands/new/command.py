"""`benchforge new suite`: a suite to start from, that runs as it is."""

from pathlib import Path

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH


@click.group("new")
def command() -> None:
    """Write a sample suite."""


@command.command("suite")
@click.argument("path", type=PATH, default=Path())
@click.option(
    "--from", "source", metavar="NAME", help="Copy a built-in suite instead of the sample."
)
@click.option(
    "--from-log",
    metavar="LOG",
    type=PATH,
    help="Take kinds of requests, shares and values from an access log, combined or common format.",
)
@runs("benchforge_commands.new.shown")
def suite() -> None:
    """Write a suite that runs as it is. PATH is a folder, or a file that ends in .toml.

    Without --from, the suite measures a sample app in the same folder, which needs only Python. With
    --from-log, its requests are those of an access log: the log's values go into CSV files beside the
    suite, if they are short numbers, or if several clients sent them.

    Exit codes: 0 the suite is written; 2 a file exists already, or the log has no requests; 5 a file cannot be written.
    """
