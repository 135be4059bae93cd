"""`benchforge serve`: one server of a suite, with its backends, until a signal ends it."""

from pathlib import Path

import click

from benchforge.cli.console import options as cli

_PORT = click.IntRange(1, 65535)


class _Options:
    suite: Path = cli.argument(type=cli.SuiteFile())
    server: str = cli.argument()
    port: int | None = cli.option(
        type=_PORT, metavar="N", help="Port for HTTP.  [default: a free port]"
    )
    tls_port: int | None = cli.option(
        type=_PORT, metavar="N", help="Port for HTTPS.  [default: a free port]"
    )
    profile: str | None = cli.PROFILE
    settings: tuple[tuple[str, str], ...] = cli.SETTINGS
    scenario: str | None = cli.option(
        metavar="NAME", help="Use this scenario.  [default: the first that fits]"
    )
    output: Path | None = cli.option(
        *("-o", "--output"), help="Directory in which a folder for the logs is created."
    )


@cli.click_command("serve", _Options)
def command(options: _Options) -> int:
    """Start SERVER of SUITE, with its backends, on loopback until Ctrl-C or TERM.

    benchforge sends the scenario's request, and prints the URL once the answer is right. You can
    run this during a measurement, for example for other load tools.

    Exit codes: 0 the server ran until Ctrl-C or TERM; 2 the suite or the command line cannot be
    used; 3 a program is missing; 4 the server gave a wrong answer, or ended by itself; 5 its logs
    cannot be written; 130 and 143 interrupted before it served.
    """
    from benchforge.cli.console.named_file import loaded
    from benchforge.cli.measure.serve.server import serve
    from benchforge.parts.registry import Registry

    only = () if options.scenario is None else (options.scenario,)
    suite = loaded(options.suite, Registry(), options.profile, options.settings, only)
    return serve(suite, options.server, options.port, options.tls_port, options.output)
