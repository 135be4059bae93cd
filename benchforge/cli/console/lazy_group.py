"""A group of commands, each imported only when it is called."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class Lazy(click.Group):
    """A group that lists its commands without importing them, by their paths below `package`."""

    def __init__(self, *words: Any, table: Mapping[str, str], package: str, **more: Any) -> None:
        super().__init__(*words, **more)
        names = {path: path.removesuffix(".command").rpartition(".")[2] for path in table}
        self._table = {names[path]: sentence for path, sentence in table.items()}
        self._modules = {name: f"{package}.{path}" for path, name in names.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self._table:
            return None
        command: click.Command = import_module(self._modules[cmd_name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a command and its words. Raises UsageError that names the available commands."""
        unlisted = args and args[0] not in self._table and not args[0].startswith("-")
        if unlisted and args[0] not in (names := self.list_commands(ctx)):
            available = ", ".join(names)
            raise click.UsageError(f"no command {args[0]!r}; available commands: {available}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._table.items()))
