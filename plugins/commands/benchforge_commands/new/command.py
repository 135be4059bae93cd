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
    help="Take kinds of requests, shares and values from an access log: combined or common format, "
    "or JSON lines of nginx or Caddy.",
)
@click.option(
    "--behind-proxy",
    is_flag=True,
    help="The addresses in the log are those of a proxy: a path or value that came five times "
    "counts as shared by several clients.",
)
@runs("benchforge_commands.new.shown")
def suite() -> None:
    """Write a suite that runs as it is. PATH is a folder, or a file that ends in .toml.

    Without --from, the suite measures a sample app in the same folder, which needs only Python.
    With --from-log, it sends the mix of an access log. Values of the log go into CSV files beside
    the suite: those that three clients or more sent.

    Exit codes: 0 the suite is written; 2 a file exists already, or the log has no requests; 5 a
    file cannot be written.
    """
