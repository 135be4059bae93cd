"""`benchforge validate`: whether result files are what they claim to be."""

from pathlib import Path

import click

from benchforge.cli.options import PATH
from benchforge.cli.screen.say import show
from benchforge.registry import Registry
from benchforge.results.validity import result_faults
from benchforge.text import safe

INVALID, UNREADABLE = 1, 2


@click.command("validate")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PATH)
def command(paths: tuple[Path, ...]) -> int:
    """Check that results are complete and consistent. PATH is a result folder or one of its files.

    benchforge computes the summary of a folder again from its trials. This needs no program, and
    of the suite's plugins only the metrics.

    Exit codes: 0 everything is valid; 1 a file is invalid; 2 a file cannot be read, or the summary
    cannot be computed again.
    """
    code = 0
    registry = Registry()
    for path in paths:
        path_faults = result_faults(path, registry)
        if not path_faults:
            show(f"{path}: valid")
        for fault in path_faults:
            show(safe.word(str(fault)))
            code = max(code, INVALID if fault.kind == "invalid" else UNREADABLE)
    return code
