"""The option --html of commands that also have a page."""

from pathlib import Path
from typing import Final

import click

HTML: Final = click.option(
    "--html",
    "page",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write a page with charts to this file.",
)
