"""Write a man page for each command: python scripts/man_pages.py FOLDER. It needs click-man."""

import sys
from pathlib import Path

import click
from click_man.core import write_man_pages

from benchforge.cli.app import group
from benchforge.model.values.distribution import own_version


def imported(command: click.Command) -> click.Command:
    """Return a command whose subcommands are there: benchforge imports each when it is called."""
    if not isinstance(command, click.Group):
        return command
    context = click.Context(command)
    names = command.list_commands(context)
    commands = {name: command.get_command(context, name) for name in names}
    there = {name: imported(one) for name, one in commands.items() if one is not None}
    return click.Group(command.name, commands=there, help=command.help, params=command.params)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write_man_pages("benchforge", imported(group), version=own_version(), target_dir=str(folder))
    print(f"wrote {len([*folder.glob('*.1')])} pages; to read one: man {folder}/benchforge.1")
