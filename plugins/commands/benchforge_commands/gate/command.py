"""`benchforge gate`: check whether a change makes servers slower."""

from pathlib import Path

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import AS_JSON, PATH, PROFILE, SuiteFile, only_option


@click.command("gate")
@click.argument("suite", type=SuiteFile())
@click.option(
    "--base",
    metavar="REF",
    help="Branch, tag or commit to compare with, such as origin/main; or an older result, for the "
    "commits and options of its servers.",
)
@click.option(
    "--limit",
    metavar="SHARE",
    default="5%",
    show_default=True,
    help="Largest loss of speed that passes.",
)
@click.option(
    *("--time", "time_limit"),
    metavar="DURATION",
    default="5m",
    show_default=True,
    help="Time limit of the measurement, which ends earlier if all intervals are narrow enough.",
)
@PROFILE
@only_option("Check")
@click.option(
    "--lock",
    metavar="FILE",
    help="Lock file, relative to the top of the repository.  [default: the nearest one]",
)
@click.option(
    "--against",
    metavar="RESULT",
    multiple=True,
    type=PATH,
    help="Compare with older results of this machine instead of --base: a result, or a folder of "
    "five or more; repeatable.",
)
@click.option(
    "--reference",
    metavar="LABEL",
    help="With --against: a server that never changes, and that all results have.",
)
@click.option("--comment", metavar="FILE", type=PATH, help="Write the verdicts as Markdown.")
@click.option("--junit", metavar="FILE", type=PATH, help="Write the verdicts as JUnit's XML.")
@click.option("--badge", metavar="FILE", type=PATH, help="Write a badge: an .svg or a .json file.")
@AS_JSON
@click.option(
    *("-o", "--output"),
    type=PATH,
    default=Path("results"),
    show_default=True,
    help="Directory in which the result folder is created.",
)
@runs("benchforge_commands.gate.run")
def command() -> None:
    """Check whether the working tree is slower than a base commit.

    benchforge measures both side by side in one run, in turns where that is valid. Each has the
    packages of its own lock file: uv.lock, poetry.lock, or a requirements.txt with pins. The
    verdict on each server of each scenario is "not slower by more than 5 %", "slower",
    "undecided" or "broken": a server that answers wrongly fails, however fast it is. In
    simulations, at most 1 % of the checks of unchanged servers say "slower".

    In GitHub's actions, the verdicts are also in the job's summary.

    Exit codes: 0 nothing is slower, and the working tree answers rightly; 1 something is slower or
    broken; 2 the suite, the base or the lock file cannot be used; 3 a program or a package is
    missing; 4 something is undecided or invalid. A waiver of the suite counts as not slower.
    """
