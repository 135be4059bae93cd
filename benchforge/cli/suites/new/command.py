"""`benchforge new suite`: a suite to start from, that runs as it is."""

from pathlib import Path

import click

from benchforge.cli.console.options import argument, click_command, option
from benchforge.errors import Unusable


class _Options:
    path: Path = argument(default=Path())
    source: str | None = option(
        "--from", metavar="NAME", help="Copy a built-in suite instead of the sample."
    )
    from_log: Path | None = option(
        metavar="LOG",
        help="Take kinds of requests, shares and values from an access log: combined or common "
        "format, or JSON lines of nginx or Caddy.",
    )
    behind_proxy: bool = option(
        help="The addresses in the log are those of a proxy: a path or value that came five times "
        "counts as shared by several clients."
    )


@click.group("new")
def command() -> None:
    """Write a sample suite."""


@click_command("suite", _Options)
def suite(options: _Options) -> None:
    """Write a suite that runs as it is. PATH is a folder, or a file that ends in .toml.

    Without --from, the suite measures a sample app in the same folder, which needs only Python.
    With --from-log, it sends the mix of an access log. Values of the log go into CSV files beside
    the suite: those that three clients or more sent.

    Exit codes: 0 the suite is written; 2 a file exists already, or the log has no requests; 5 a
    file cannot be written.
    """
    from benchforge.cli.suites.new.files import SUITE, write_sample, write_suite_of_log

    path, log = options.path, options.from_log
    file = path if path.suffix == ".toml" else path / SUITE
    if log is not None:
        if options.source is not None:
            raise Unusable("--from and --from-log exclude each other", "give one of them")
        write_suite_of_log(file, log, behind_proxy=options.behind_proxy)
    elif options.behind_proxy:
        raise Unusable("--behind-proxy is about a log", "give --from-log too")
    else:
        write_sample(file, options.source)


command.add_command(suite)
