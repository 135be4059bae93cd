"""`benchforge plugins`: what there is, and what the author of a part needs."""

import click

from benchforge.cli import Lazy

_COMMANDS = {
    "list": "List every part: where it comes from, and whether it can be used.",
    "show": "Show a part: its options, what it needs, where it listens.",
    "check": "Ask a part everything that a run would ask, and start nothing.",
    "new": "Write a package with a part of your own, which works at once.",
}


class _Listing(Lazy):
    """Without a command, everything is listed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in {"-h", "--help"}):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group("plugins", cls=_Listing, table=_COMMANDS, package=__name__)
def command() -> None:
    """List parts, show one, check one of your own, or begin it.

    A part is named like loader-wrk, or wrk where no other is called so.
    """
