"""`benchforge run`: from a suite to a result, its report and an exit code."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH, PROFILE, SETTINGS, SuiteFile, lock_options, only_option


@click.command("run")
@click.argument("suite", type=SuiteFile(), required=False)
@PROFILE
@SETTINGS
@only_option("Run")
@click.option(
    *("-o", "--output"),
    type=PATH,
    help="Directory in which the result folder is created.  [default: results]",
)
@click.option(
    "--resume",
    metavar="RESULT",
    type=PATH,
    help="Continue the run of this result folder. Name SUITE only if its file was moved.",
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Resume even if the machine, benchforge or a program has changed; "
    "the report lists the changes.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the summary as JSON instead of tables."
)
@click.option(
    *("--report", "reports"),
    metavar="NAME",
    multiple=True,
    help="Also write the report of this reporter, such as junit or github.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first trial that fails.")
@click.option(
    "--inconclusive-fails",
    is_flag=True,
    help="Exit with 1 if a claim is inconclusive, too.",
)
@click.option(
    "--time-limit",
    metavar="DURATION",
    help="Limit the whole run, such as 5m: no trial starts that would end later. "
    "--resume measures the others.",
)
@lock_options
@runs("benchforge.cli.measure.run")
def command() -> None:
    """Measure SUITE and report the results.

    SUITE is a file, or the name of a built-in suite such as macro. It is required unless you use
    --resume.

    Exit codes: 0 every case has a believable value, and every claim holds or is inconclusive; 1 a
    claim fails; 2 the suite or the command line cannot be used; 3 a program is missing; 4 a case
    has no believable value, a comparison is broken or not comparable, a search has no answer, a
    claim is invalid, or another process measures and you gave --no-wait; 5 results cannot be
    written; 130 and 143 interrupted.
    """
