"""`benchforge clean`: the files that benchforge keeps on the disk, and their removal."""

import sys
from pathlib import Path

from benchforge.cli.console.options import click_command, option
from benchforge.errors import Unusable


class _Options:
    parent: Path | None = option(
        "--results",
        metavar="DIR",
        help="Also remove results in this folder. Without it, results in ./results are only "
        "listed.",
    )
    older_than: str | None = option(
        metavar="AGE", help="Select only items older than AGE, such as 30d."
    )
    yes: bool = option(help="Remove without confirmation.")


@click_command("clean", _Options)
def command(options: _Options) -> int:
    """List the files that benchforge keeps on the disk, and remove them after you confirm.

    These are the cache (filled databases, environments of interpreters and what hosts were brought,
    which benchforge rebuilds when it needs them, and pages that were opened), leftovers of a killed
    benchforge, and with --results the results in a folder. Files of others stay, and so do files
    that a running benchforge uses.

    Exit codes: 0 done; 2 there is no terminal to confirm, or another benchforge measures; 5 a file
    cannot be removed.
    """
    from benchforge.cli.console.say import say, show
    from benchforge.cli.machine.clean import inventory
    from benchforge.run.disk.leftovers import left
    from benchforge.text.readable import counted

    parent, until = options.parent, inventory.used_until(options.older_than)
    if parent is not None and not parent.is_dir():
        raise Unusable(f"--results {parent}: no such folder", "name a folder that contains results")
    parent_folder = parent or Path("results")
    remains = {
        "results": [entry for entry in inventory.results(parent_folder) if entry.when <= until],
        "cache": [entry for entry in inventory.in_cache() if entry.when <= until],
    }
    lost = left(parent_folder)
    for title, group in remains.items():
        inventory.show_group(title, group)
    if lost:
        show("\n  ".join(["left by a killed benchforge:", *lost]))
    if parent is None:
        if remains["results"]:
            say("results are kept; to remove them, name their folder with --results")
        del remains["results"]
    if not any(remains.values()) and not lost:
        say("nothing to remove")
        return 0
    if not options.yes and not sys.stdin.isatty():
        hint = "add --yes, or use a terminal"
        raise Unusable("no terminal to confirm: nothing was removed", hint)
    wanted: list[inventory.Remains] = []
    for title, group in remains.items():
        folders = f"{counted(len(group), 'folder')} of the {title}"
        wanted.extend(group if group and inventory.confirmed(folders, options.yes) else ())
    leftovers = "the leftovers of a killed benchforge"
    lost_too = bool(lost) and inventory.confirmed(leftovers, options.yes)
    inventory.remove_all(wanted, parent_folder if lost_too else None)
    return 0
