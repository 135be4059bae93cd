"""`benchforge check`: what is wrong with suites, and what they need that is not here."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import ONE_PROFILE, SETTINGS, SuiteFile, only_option


@click.command("check")
@click.argument("suites", nargs=-1, required=True, type=SuiteFile())
@ONE_PROFILE
@SETTINGS
@only_option("Check")
@runs("benchforge_commands.check.shown")
def command() -> None:
    """Check SUITES for errors, missing programs and missing packages.

    This starts no process and works on any system. It checks each suite without a profile and with
    each of its profiles.

    Exit codes: 0 nothing is wrong or missing; 2 a suite has errors; 3 a program or a package is
    missing.
    """
