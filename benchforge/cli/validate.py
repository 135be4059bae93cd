"""`benchforge validate`: whether result files are what they claim to be."""

from pathlib import Path

import click

from benchforge.cli.say import show
from benchforge.model.faults import faults

INVALID, UNREADABLE = 1, 2


@click.command("validate")
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
def command(paths: tuple[Path, ...]) -> int:
    """Say what is wrong with results: folders, or single files of them.

    Exit codes: 0 nothing; 1 something is invalid; 2 something cannot be read.
    """
    code = 0
    for path in paths:
        found = faults(path)
        if not found:
            show(f"{path}: valid")
        for fault in found:
            show(str(fault))
            code = max(code, UNREADABLE if fault.kind == "unreadable" else INVALID)
    return code
