"""`benchforge clean`: what benchforge has put on the disk, and away with it."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import click
from pydantic_core import PydanticCustomError

from benchforge.cli.say import counted, say, show
from benchforge.errors import Unusable
from benchforge.model.units import Duration, Quantity
from benchforge.run.leftovers import cleared, left
from benchforge.run.lock import measuring
from benchforge.run.remains import Remains, in_cache, remove, results
from benchforge.run.space import told


class Age(Duration):
    """Seconds, also given in days."""

    units: ClassVar[dict[str, float]] = {**Duration.units, "d": 86400.0}
    wanted: ClassVar[str] = 'an age such as "30d" or "12h"'
    most: ClassVar[float] = Quantity.most


@click.command("clean")
@click.option(
    "--results",
    "parent",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Results below this folder go too; without it those in results are listed only.",
)
@click.option("--older-than", metavar="AGE", help="Only what was begun or used before, as 30d.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(parent: Path | None, older_than: str | None, yes: bool) -> int:
    """List what benchforge has put on the disk, and remove it where you say so.

    That is the cache (databases that were filled, interpreters' environments: built anew when they
    are needed), what a benchforge left that was killed, and with --results the results in a folder.
    What others have put there stays, and so does what a running benchforge uses.

    Exit codes: 0 done; 2 nobody could be asked, or another benchforge measures; 5 something cannot
    be removed.
    """
    until = _until(older_than)
    if parent is not None and not parent.is_dir():
        raise Unusable(f"--results {parent}: no such folder", "name a folder that holds results")
    beside = parent or Path("results")
    found = {
        "results": [one for one in results(beside) if one.when <= until],
        "cache": [one for one in in_cache() if one.when <= until],
    }
    lost = left(beside)
    for title, group in found.items():
        _list(title, group)
    if lost:
        show("\n  ".join(["left by a benchforge that was killed:", *lost]))
    if parent is None:
        if found["results"]:
            say("results stay: name their folder with --results to remove them")
        del found["results"]
    if not any(found.values()) and not lost:
        say("nothing to remove")
        return 0
    if not yes and not sys.stdin.isatty():
        raise Unusable("nobody to ask: nothing was removed", "say --yes, or call it in a terminal")
    wanted = [
        one
        for title, group in found.items()
        if group and (yes or _asked(f"{counted(len(group), 'folder')} of the {title}"))
        for one in group
    ]
    lost_too = bool(lost) and (yes or _asked("what a benchforge left that was killed"))
    # To remove loads the disk: not while somebody measures.
    with measuring():
        if lost_too and (gone := cleared(beside)):
            say(gone)
        _remove(wanted)
    return 0


def _until(older_than: str | None) -> datetime:
    """When something must have been begun or used to go; without an age it may be in the future."""
    if older_than is None:
        return datetime.max.replace(tzinfo=UTC)  # a clock that was set back hides nothing
    try:
        return datetime.now(UTC) - timedelta(seconds=float(Age.parse(older_than)))
    except (PydanticCustomError, OverflowError):
        raise Unusable(
            f"--older-than {older_than}: no age", 'write it like "30d" or "12h"'
        ) from None


def _list(title: str, group: Sequence[Remains]) -> None:
    if not group:
        return
    total = sum(one.size_b for one in group)
    lines = [f"{title}: {counted(len(group), 'folder')}, {told(total)}"]
    for one in group:
        verb = "begun" if one.kind == "result" else "used"
        when = f"{verb} {one.when.astimezone():%Y-%m-%d %H:%M}"
        lines.append(f"  {told(one.size_b):>9}  {when}  {one.kind} {one.path}: {one.what}")
        lines += [f"             stays: {other}, which is not ours" for other in one.kept]
    show("\n".join(lines))


def _asked(what: str) -> bool:
    return click.confirm(f"remove {what}?", err=True)


def _remove(wanted: Sequence[Remains]) -> None:
    freed, gone = 0, 0
    for one in wanted:
        size = one.size_b
        if who := remove(one):
            say(f"stays: {one.path}: used by {who}")
        else:
            freed, gone = freed + size, gone + 1
    if wanted:
        say(f"removed {counted(gone, 'folder')}, {told(freed)}")
