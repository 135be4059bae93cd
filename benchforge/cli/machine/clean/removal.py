"""Removal of files that benchforge keeps: which are old enough, a list, and a confirmation."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import click
from pydantic_core import PydanticCustomError

from benchforge.cli.console.say import say, show
from benchforge.cli.machine.clean.inventory import Remains, remove
from benchforge.errors import Unusable
from benchforge.model.values.units import Duration, Quantity
from benchforge.run.disk.leftovers import cleared
from benchforge.run.sandbox.machine_lock import Wait, measuring
from benchforge.text.readable import amount, counted

_MOST_NAMED = 50


class Age(Duration):
    """Seconds, also given in days."""

    units: ClassVar[dict[str, float]] = {**Duration.units, "d": 86400.0}
    wanted: ClassVar[str] = 'an age such as "30d" or "12h"'
    most: ClassVar[float] = Quantity.most


def _refuse(wait: Wait) -> None:
    """Raise Unusable: what is listed may be in use, or complete, once the other has measured."""
    raise Unusable(f"{wait.in_words}: nothing was removed", "clean when it has ended")


def used_until(older_than: str | None) -> datetime:
    """When something must have been begun or used to go; without an age it may be in the future."""
    if older_than is None:
        return datetime.max.replace(tzinfo=UTC)  # a clock that was set back hides nothing
    try:
        return datetime.now(UTC) - timedelta(seconds=float(Age.parse(older_than)))
    except (PydanticCustomError, OverflowError):
        raise Unusable(
            f"--older-than {older_than}: not a valid age", 'write it like "30d" or "12h"'
        ) from None


def show_group(title: str, group: Sequence[Remains]) -> None:
    """Print folders of one kind, with size, age and the files of others in them."""
    if not group:
        return
    total = sum(one.size_b for one in group)
    lines = [f"{title}: {counted(len(group), 'folder')}, {amount('B', total)}"]
    for folder in group:
        verb = "begun" if folder.kind == "result" else "used"
        when = f"{verb} {folder.when.astimezone():%Y-%m-%d %H:%M}"
        size = amount("B", folder.size_b).rjust(9)
        lines.append(f"  {size}  {when}  {folder.kind} {folder.path}: {folder.what}")
        lines += [
            f"             stays: {other}, which benchforge did not write"
            for other in folder.kept[:_MOST_NAMED]
        ]
        if (more := len(folder.kept) - _MOST_NAMED) > 0:
            lines.append(f"             and {more} more files of others")
    show("\n".join(lines))


def confirmed(remains: str) -> bool:
    """Ask a person whether to remove it."""
    return click.confirm(f"remove {remains}?", err=True)


def remove_all(wanted: Sequence[Remains], leftovers_beside: Path | None) -> None:
    """Remove folders, and what a killed benchforge left in a folder; say how much that frees.

    A folder in use stays. Raises Unusable while another benchforge measures.
    """
    with measuring(_refuse):  # to remove loads the disk
        if leftovers_beside is not None and (gone := cleared(leftovers_beside)):
            say(gone)
        _remove(wanted)


def _remove(wanted: Sequence[Remains]) -> None:
    freed, gone = 0, 0
    for folder in wanted:
        size = folder.size_b
        if who := remove(folder):
            say(f"stays: {folder.path}: used by {who}")
        else:
            freed, gone = freed + size, gone + 1
    if wanted:
        say(f"removed {counted(gone, 'folder')}, {amount('B', freed)}")
