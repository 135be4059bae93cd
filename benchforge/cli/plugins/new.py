"""`benchforge plugins new`: a package with a part of one's own."""

from pathlib import Path
from typing import cast

import click

from benchforge.author.begin import Begun, begin
from benchforge.cli.say import show
from benchforge.registry import Registry


@click.command("new")
@click.argument("kind", type=click.Choice(["loader", "server"]))
@click.argument("name")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where it is written; benchforge-NAME without it.",
)
def command(kind: str, name: str, folder: Path | None) -> int:
    """Write a package with a loader or a server called NAME: it works, and its tests pass, at once.

    Exit codes: 0; 2 the name or the folder cannot be used; 5 it cannot be written.
    """
    dashed = f"benchforge-{name.replace('_', '-')}"
    there = Path(dashed) if folder is None else folder
    written = begin(cast("Begun", kind), name, there, Registry())
    output = " --output tests/outputs/healthy" if kind == "loader" else ""
    lines = [
        *(str(path) for path in written),
        "",
        "next:",
        f"  cd {there}",
        "  pip install -e '.[test]'",
        "  pytest",
        f"  benchforge plugins check {kind}-{name}{output}",
        f"  benchforge run examples/{name}.toml",
    ]
    show("\n".join(lines))
    return 0
