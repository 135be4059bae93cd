"""`benchforge verify`: whether a result's numbers are those that its raw files give."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH


@click.command("verify")
@click.argument("folder", metavar="RESULT", type=PATH)
@click.option("--all", "name_all", is_flag=True, help="Print every difference, not only the first.")
@click.option(
    "--signers",
    metavar="FILE",
    type=PATH,
    help="Check the signature by this list of signers, which has the format of allowed_signers in "
    "ssh-keygen(1).",
)
@runs("benchforge_results.verify.shown")
def command() -> None:
    """Recompute every number of a result from its raw files, and compare.

    This writes nothing, and starts no process but ssh-keygen with --signers. It needs the plugins
    of the suite's load tools, but no program and no app.

    Exit codes: 0 proved: all numbers agree; 1 contradicted: a number, a file or the signature
    differs; 2 not proved: a number cannot be read or recomputed, or a file is not signed; 3
    ssh-keygen is missing.
    """
