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
@runs("benchforge_commands.new.shown")
def suite() -> None:
    """Write a suite that runs as it is. PATH is a folder, or a file that ends in .toml.

    Without --from, the suite measures a sample app in the same folder, which needs only Python.

    Exit codes: 0 the suite is written; 2 a file exists already; 5 a file cannot be written.
    """
