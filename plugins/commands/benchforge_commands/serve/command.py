"""`benchforge serve`: one server of a suite, with its backends, until it is asked to end."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH, PROFILE, SETTINGS, SuiteFile

_PORT = click.IntRange(1, 65535)


@click.command("serve")
@click.argument("suite", type=SuiteFile())
@click.argument("server")
@click.option("--port", type=_PORT, metavar="N", help="Port for HTTP.  [default: a free port]")
@click.option("--tls-port", type=_PORT, metavar="N", help="Port for HTTPS.  [default: a free port]")
@PROFILE
@SETTINGS
@click.option(
    "--scenario", metavar="NAME", help="Use this scenario.  [default: the first that fits]"
)
@click.option(
    "-o", "--output", type=PATH, help="Directory in which a folder for the logs is created."
)
@runs("benchforge_commands.serve.shown")
def command() -> None:
    """Start SERVER of SUITE, with its backends, on loopback until Ctrl-C or TERM.

    benchforge sends the scenario's request, and prints the URL once the answer is right. You can
    run this during a measurement, for example for other load tools.

    Exit codes: 0 the server ran until Ctrl-C or TERM; 2 the suite or the command line cannot be
    used; 3 a program is missing; 4 the server gave a wrong answer, or ended by itself; 5 its logs
    cannot be written; 130 and 143 interrupted before it served.
    """
