"""`benchforge plugins`: the available parts, and the commands of authors."""

import click

from benchforge.cli.console.lazy_group import Lazy

_COMMANDS = {
    "list": "List all parts with their origin and state.",
    "show": "Show a part: its options, needs, and ports or unit.",
    "check": "Check a part without starting a process.",
    "new": "Write a package with a part of any kind that works at once.",
}


class _Listing(Lazy):
    """A group that lists all parts if no command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in {"-h", "--help"}):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group("plugins", cls=_Listing, table=_COMMANDS, package=__package__)
def command() -> None:
    """List, show, check or scaffold plugins.

    Name a part as loader-wrk, or as wrk if no other part has that name.
    """
