"""`benchforge schema`: JSON Schema of suites and of result files, for editors and validators."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH

_OF = ["suite", "result", "trial", "summary", "session", "ceiling", "manifest", "calibration"]


@click.command("schema")
@click.argument("of", type=click.Choice(_OF), default="suite")
@click.option(
    "-o", "--output", metavar="FILE", type=PATH, help="File to write.  [default: standard output]"
)
@click.option("--builtin", is_flag=True, help="Include built-in parts only.")
@runs("benchforge_commands.schema.shown")
def command() -> None:
    """Print the JSON Schema of suites, or of a file of a result.

    The schema of suites has the options of every installed part. If a suite's first line names its
    file, such as #:schema suite.schema.json, editors complete, explain and check the suite.
    """
