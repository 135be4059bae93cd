"""`benchforge report`: what is shown of a stored result."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH


@click.command("report")
@click.argument("results", metavar="[RESULT]", nargs=-1, type=PATH)
@click.option(
    "--why",
    metavar="ID",
    is_flag=False,
    flag_value="all",
    help="Print all that is known of the findings of a check, such as K1; alone, of all checks.",
)
@click.option("--open", "opened", is_flag=True, help="Open report.html in a browser.")
@click.option(
    *("--reporter", "names"),
    metavar="NAME",
    multiple=True,
    help="Use only this reporter; repeatable.",
)
@click.option(
    *("-o", "--output"),
    metavar="FOLDER",
    help="Folder to write to instead of the result; - prints the output of one reporter.",
)
@runs("benchforge_results.report.shown")
def command() -> None:
    """Regenerate summary and reports of a result from its trials, and print the answers.

    Without RESULT, the newest result in the folder results is taken.

    The run may be interrupted or still in progress; if it is in progress, write to another folder
    with -o. Built-in reporters: csv, html, markdown and terminal, which every run uses, and
    github, json, junit and why.

    Exit codes: 0 the reports are written, whatever they say; 1 a file of the result is invalid; 2
    RESULT is not a result, or there is no such reporter; 5 the reports cannot be written.
    """
