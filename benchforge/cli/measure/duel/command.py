"""`benchforge duel`: compare servers that are given as commands or URLs."""

from pathlib import Path

import click

from benchforge.cli.console import options as cli
from benchforge.errors import Unusable

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_FEWEST = 2


class DuelOptions:
    """Which servers are compared, with which request and load, and what is kept."""

    servers: tuple[str, ...] = cli.argument(metavar="SERVER SERVER...", required=True)
    path: str | None = cli.option(
        metavar="PATH", help="Path of the request, with its query.  [default: /]"
    )
    headers: tuple[str, ...] = cli.option(
        "--header", metavar="NAME:VALUE", help="Header of the request; repeatable."
    )
    body: str | None = cli.option(metavar="TEXT", help="Body of the request.")
    method: str | None = cli.option(
        type=click.Choice(_METHODS), help="Method.  [default: GET; POST with --body]"
    )
    connections: int = cli.option(
        type=click.IntRange(1), default=16, help="Number of concurrent connections."
    )
    rate: str | None = cli.option(
        metavar="RATE",
        help="Requests per second, such as 500/s.  [default: as many as the connections can send]",
    )
    keep_alive: bool | None = cli.option(
        "--keep-alive/--no-keep-alive",
        default=None,
        help="Reuse connections, or close each.  [default: reuse, if all servers keep them]",
    )
    time_limit: str = cli.option(
        "--time",
        metavar="DURATION",
        default="3m",
        help="Time limit of the measurement, which ends earlier at the precision of --within.",
    )
    within: str = cli.option(
        metavar="SHARE", default="5%", help="Precision at which the measurement ends."
    )
    latency: bool = cli.option(
        "--latency/--no-latency",
        default=True,
        help="Also measure response times at one rate, in up to 5 s for each server.",
    )
    expect_status: int = cli.option(
        type=click.IntRange(100, 599), default=200, help="Status of a right answer."
    )
    backends: tuple[str, ...] = cli.option(
        "--backend",
        metavar="KIND[:DATASET]",
        help="Private database for each trial, such as postgresql:agents; repeatable.",
    )
    labels: tuple[str, ...] = cli.option(
        "--label",
        metavar="LABEL",
        help="Name of a server in the report: one for each, in their order.",
    )
    variables: tuple[str, ...] = cli.option(
        "--env",
        metavar="NAME",
        help="Variable of your environment for each command; repeatable. Others do not reach them.",
    )
    save: Path | None = cli.option(metavar="FILE", help="Also keep the suite as FILE, a .toml.")
    details: bool = cli.DETAILS
    output: Path = cli.RESULTS
    machine_lock: cli.Lock = cli.MACHINE_LOCK


@cli.click_command("duel", DuelOptions)
def command(options: DuelOptions) -> int:
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
    from benchforge.cli.measure.duel import servers as words
    from benchforge.cli.measure.duel.run import duel
    from benchforge.cli.measure.duel.suite import Question
    from benchforge.model.values.units import Duration, Rate, Share

    if len(options.servers) < _FEWEST:
        hint = "give two commands or URLs, each in quotes; to measure one server, write a suite"
        raise Unusable(f"duel: only one server: {options.servers[0]!r}", hint)
    variables, rate = words.passed(options.variables), options.rate
    servers = [words.contender(server, variables) for server in options.servers]
    contenders = words.labelled(servers, options.labels)
    question = Question(
        method=options.method or ("GET" if options.body is None else "POST"),
        path=words.request_path(options.path, contenders),
        headers=dict(map(words.header, options.headers)),
        body=options.body,
        status=options.expect_status,
        connections=options.connections,
        rate=None if rate is None else f"{words.quantity(Rate, '--rate', rate)}/s",
        keep_alive=options.keep_alive is not False,
        backends=words.backends(options.backends),
        time_s=float(words.quantity(Duration, "--time", options.time_limit)),
        within=float(words.quantity(Share, "--within", options.within)),
    )
    return duel(contenders, question, options)
