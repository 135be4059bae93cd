"""`benchforge plan`: what a run would measure, in which order; nothing is started or written."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PROFILE, SETTINGS, SuiteFile, only_option


@click.command("plan")
@click.argument("suite", type=SuiteFile())
@PROFILE
@SETTINGS
@only_option("Plan")
@click.option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    help="Seed of the measurement order.  [default: the suite's]",
)
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Output format; json has everything.",
)
@click.option(
    "--requests",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Print N requests of each kind of the scenarios that have kinds, and nothing else.",
)
@click.option("--all", "whole", is_flag=True, help="Print lists in full.")
@runs("benchforge_commands.plan.shown")
def command() -> None:
    """Show what a run of SUITE would measure, in which order, and how long it would take.

    This starts no process, needs no program and writes no file.

    Exit codes: 0 the plan is printed; 2 the suite or the command line cannot be used.
    """
