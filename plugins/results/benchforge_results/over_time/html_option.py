"""The option --html of commands that also have a page."""

from pathlib import Path
from typing import Any, Final

import click

from benchforge.cli.options import option

HTML: Final[Any] = option(
    "--html",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write a page with charts to this file.",
)
