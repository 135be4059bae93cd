"""`benchforge clean`: the files that benchforge keeps on the disk, and their removal."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import click
from pydantic_core import PydanticCustomError

from benchforge.cli.screen.say import say, show
from benchforge.errors import Unusable
from benchforge.model.values.units import Duration, Quantity
from benchforge.plugin import safe
from benchforge.run.disk.leftovers import cleared, left
from benchforge.run.sandbox.machine_lock import Wait, measuring
from benchforge.text.readable import amount, counted
from benchforge_commands.clean.inventory import Remains, in_cache, of_older_format, remove, results

_MOST_NAMED = 50


class Age(Duration):
    """Seconds, also given in days."""

    units: ClassVar[dict[str, float]] = {**Duration.units, "d": 86400.0}
    wanted: ClassVar[str] = 'an age such as "30d" or "12h"'
    most: ClassVar[float] = Quantity.most


def main(parent: Path | None, older_than: str | None, yes: bool) -> int:
    """List the files that benchforge keeps on the disk, and remove them after you confirm."""
    until = _until(older_than)
    if parent is not None and not parent.is_dir():
        raise Unusable(f"--results {parent}: no such folder", "name a folder that contains results")
    beside = parent or Path("results")
    remains = {
        "results": [one for one in results(beside) if one.when <= until],
        "cache": [one for one in in_cache() if one.when <= until],
    }
    lost = left(beside)
    for title, group in remains.items():
        _list(title, group)
    for fault in of_older_format(beside):
        say(f"stays: {safe.word(str(fault))}")
    if lost:
        show("\n  ".join(["left by a killed benchforge:", *lost]))
    if parent is None:
        if remains["results"]:
            say("results are kept; to remove them, name their folder with --results")
        del remains["results"]
    if not any(remains.values()) and not lost:
        say("nothing to remove")
        return 0
    if not yes and not sys.stdin.isatty():
        raise Unusable(
            "no terminal to confirm: nothing was removed", "add --yes, or use a terminal"
        )
    wanted = [
        one
        for title, group in remains.items()
        if group and (yes or _confirmed(f"{counted(len(group), 'folder')} of the {title}"))
        for one in group
    ]
    lost_too = bool(lost) and (yes or _confirmed("the leftovers of a killed benchforge"))
    # To remove loads the disk: not while somebody measures.
    with measuring(_refuse):
        if lost_too and (gone := cleared(beside)):
            say(gone)
        _remove(wanted)
    return 0


def _refuse(wait: Wait) -> None:
    """Raise Unusable: what is listed may be in use, or complete, once the other has measured."""
    hint = "clean when it has ended"
    raise Unusable(f"{wait.in_words}: nothing was removed", hint)


def _until(older_than: str | None) -> datetime:
    """When something must have been begun or used to go; without an age it may be in the future."""
    if older_than is None:
        return datetime.max.replace(tzinfo=UTC)  # a clock that was set back hides nothing
    try:
        return datetime.now(UTC) - timedelta(seconds=float(Age.parse(older_than)))
    except (PydanticCustomError, OverflowError):
        raise Unusable(
            f"--older-than {older_than}: not a valid age", 'write it like "30d" or "12h"'
        ) from None


def _list(title: str, group: Sequence[Remains]) -> None:
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


def _confirmed(what: str) -> bool:
    return click.confirm(f"remove {what}?", err=True)


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
