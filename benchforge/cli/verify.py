"""`benchforge verify`: whether a result's numbers are those that its raw files give."""

from pathlib import Path

import click

from benchforge.cli.say import counted, show
from benchforge.model.file import Fault
from benchforge.registry import Registry
from benchforge.run.verify.compare import Verified, verify

DIFFERS, UNREADABLE = 1, 2


@click.command("verify")
@click.argument("folder", metavar="RESULT", type=click.Path(path_type=Path))
@click.option("--all", "every", is_flag=True, help="Name all that differs, not only the first.")
def command(folder: Path, every: bool) -> int:
    """Compute a result again from its raw files, and compare every number.

    Nothing is started, and nothing of the suite is needed but its load tools' plugins.

    Exit codes: 0 all is equal; 1 something differs; 2 something cannot be read or computed again.
    """
    found = verify(folder, Registry())
    _show(found.cannot, "cannot be computed again", every=every)
    _show(found.differing, "differ", every=every)
    show(f"{folder}: {_tally(found)}")
    if found.other and (found.differing or found.older):
        show(f"it was written by benchforge {found.other}: this one may compute otherwise")
    if found.as_written:
        show(f"as written, since nothing beside them tells: {', '.join(found.as_written)}")
    return UNREADABLE if found.cannot else DIFFERS if found.differing else 0


def _show(faults: list[Fault], what: str, *, every: bool) -> None:
    shown = faults if every else faults[:1]
    for fault in shown:
        show(str(fault))
    if left := len(faults) - len(shown):
        show(f"{left} more {what}: --all names them")


def _tally(found: Verified) -> str:
    what = f"{counted(found.compared, 'value')} of {counted(found.trials, 'trial')} computed again"
    told = [f"{len(found.differing)} differ" if found.differing else "all are equal"]
    if found.cannot:
        told.append(f"{len(found.cannot)} cannot be")
    if found.older:
        told.append(f"{found.older} were not written then")
    return f"{what}: {', '.join(told)}"
