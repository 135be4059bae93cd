"""`benchforge schema`: JSON Schema of suites and of result files, for editors and validators."""

from pathlib import Path

import click

from benchforge.cli.console.options import argument, click_command, option
from benchforge.errors import can_write

_OF = ["suite", "result", "trial", "summary", "session", "ceiling", "manifest", "calibration"]


class _Options:
    file: str = argument(type=click.Choice(_OF), default="suite")
    output: Path | None = option(
        *("-o", "--output"), metavar="FILE", help="File to write.  [default: standard output]"
    )
    builtin: bool = option(help="Include built-in parts only.")


@click_command("schema", _Options)
def command(options: _Options) -> None:
    """Print the JSON Schema of suites, or of a file of a result.

    The schema of suites has the options of every installed part. If a suite's first line names its
    file, such as #:schema suite.schema.json, editors complete, explain and check the suite.
    """
    from benchforge.cli.console.say import show
    from benchforge.cli.suites.schema.suite import of_file, of_suites

    output = options.output
    text = of_suites(builtin=options.builtin) if options.file == "suite" else of_file(options.file)
    if output is None:
        show(text)
        return
    with can_write(output, "choose another file with -o"):
        output.write_text(text + "\n", encoding="utf-8")
