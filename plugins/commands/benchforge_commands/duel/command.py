"""`benchforge duel`: compare servers that are given as commands or URLs."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH, lock_options

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@click.command("duel")
@click.argument("servers", metavar="SERVER SERVER...", nargs=-1, required=True)
@click.option("--path", metavar="PATH", help="Path of the request, with its query.  [default: /]")
@click.option(
    *("--header", "headers"),
    metavar="NAME:VALUE",
    multiple=True,
    help="Header of the request; repeatable.",
)
@click.option("--body", metavar="TEXT", help="Body of the request.")
@click.option(
    "--method", type=click.Choice(_METHODS), help="Method.  [default: GET; POST with --body]"
)
@click.option(
    "--connections",
    type=click.IntRange(1),
    default=16,
    show_default=True,
    help="Number of concurrent connections.",
)
@click.option(
    "--rate",
    metavar="RATE",
    help="Requests per second, such as 500/s.  [default: as many as the connections can send]",
)
@click.option(
    "--keep-alive/--no-keep-alive",
    default=None,
    help="Reuse connections, or close each.  [default: reuse, if all servers keep them]",
)
@click.option(
    *("--time", "time_limit"),
    metavar="DURATION",
    default="3m",
    show_default=True,
    help="Time limit of the measurement, which ends earlier at a precision of 5 %.",
)
@click.option(
    "--expect-status",
    type=click.IntRange(100, 599),
    default=200,
    show_default=True,
    help="Status of a right answer.",
)
@click.option(
    *("--backend", "backends"),
    metavar="KIND[:DATASET]",
    multiple=True,
    help="Private database for each trial, such as postgresql:agents; repeatable.",
)
@click.option(
    *("--label", "labels"),
    metavar="LABEL",
    multiple=True,
    help="Name of a server in the report: one for each, in their order.",
)
@click.option(
    *("--env", "variables"),
    metavar="NAME",
    multiple=True,
    help="Variable of your environment for each command; repeatable. Others do not reach them.",
)
@click.option("--save", metavar="FILE", type=PATH, help="Also keep the suite as FILE, a .toml.")
@click.option(
    *("-o", "--output"),
    type=PATH,
    help="Directory in which the result folder is created.  [default: results]",
)
@lock_options
@runs("benchforge_commands.duel.run")
def command() -> None:
    """Compare two or more servers. No file is needed.

    SERVER is a command in quotes, with {port} where it takes its port, or the URL of a server that
    runs already on this machine. benchforge splits a command into words as a shell does, but
    starts it without a shell: of your environment it has PATH, HOME and LANG. Write others before
    the program, as NAME=value, or pass them with --env NAME. {python} is benchforge's own
    interpreter.

    benchforge starts each server once, compares the answers, and prints the difference. Then it
    measures like `benchforge run`: the first interval comes within a minute.

    \b
    Examples:
      benchforge duel "waitress-serve --port={port} hello:app" "gunicorn -b :{port} hello:app"
      benchforge duel --label old --label new "sh -c 'cd old && exec ./serve {port}'" ...

    Exit codes: as those of `benchforge run`; 4 also if a server does not start, if the servers
    send answers of different kinds, or if they are not comparable: their bodies differ, say.
    """  # noqa: D301 - click looks for the character itself
