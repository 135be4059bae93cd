"""`benchforge doctor`: the programs of this machine, and whether it is fit for benchmarking."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import AS_JSON, ONE_PROFILE, SETTINGS, SuiteFile, only_option


@click.command("doctor")
@click.argument("suite", required=False, type=SuiteFile())
@click.option(
    "--install",
    is_flag=True,
    help="Download missing Debian packages and unpack them, without root.",
)
@click.option(
    "--hosts",
    is_flag=True,
    help="Connect the hosts of SUITE, and check what the parts on them need.",
)
@ONE_PROFILE
@SETTINGS
@only_option("Check")
@AS_JSON
@runs("benchforge_commands.doctor.shown")
def command() -> None:
    """Check which programs this machine has and whether it is fit for benchmarking.

    With SUITE, check what the suite needs; without it, what all installed parts need. Warnings do
    not affect the exit code.

    Exit codes: 0 everything needed is present; 2 SUITE or the command line cannot be used; 3
    a program or package that SUITE needs is missing, or --install cannot fetch it.
    """
