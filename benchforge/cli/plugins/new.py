"""`benchforge plugins new`: a package with a part of one's own."""

import importlib.util
import shlex
import shutil
import sys
from pathlib import Path
from typing import cast

import click

from benchforge.cli.console.options import PATH
from benchforge.cli.console.say import show
from benchforge.cli.plugins.scaffold import Begun, begin
from benchforge.parts.registry import Registry
from benchforge.run.locate import locate
from benchforge.text.program import as_typed

# What a plugin is built and tested with, when it is begun.
_BUILT_WITH = ("hatchling", "editables", "pytest")


@click.command("new")
@click.argument("kind", type=click.Choice(["loader", "server", "reader"]))
@click.argument("name")
@click.option(
    "--folder",
    type=PATH,
    metavar="DIR",
    help="Folder to create.  [default: benchforge-NAME]",
)
def command(kind: str, name: str, folder: Path | None) -> int:
    """Write a package with a part called NAME: a loader, a server, or a reader for `audit`.

    It works and passes its tests at once.

    Exit codes: 0 written; 2 the name or the folder cannot be used; 5 a file cannot be written.
    """
    dashed = f"benchforge-{name.replace('_', '-')}"
    there = Path(dashed) if folder is None else folder
    written = begin(cast("Begun", kind), name, there, Registry())
    output = {
        "loader": " --output tests/outputs/healthy",
        "reader": " --output tests/outputs/healthy.txt",
    }.get(kind, "")
    uses = "audit tests/outputs/healthy.txt" if kind == "reader" else f"run examples/{name}.toml"
    benchforge = as_typed("benchforge")
    lines = [
        *(str(path) for path in written),
        "",
        "next:",
        f"  cd {there}",
        *(f"  {line}" for line in _installing()),
        f"  {_own_python()} -m pytest",
        f"  {benchforge} plugins check {kind}-{name}{output}",
        f"  {benchforge} {uses}",
    ]
    show("\n".join(lines))
    return 0


def _installing() -> list[str]:
    """Return the lines that install the package beside us, and fetch nobody's."""
    python = _own_python()
    install = f"{python} -m pip install"
    if importlib.util.find_spec("pip") is None and (uv := locate("uv")):
        install = f"{shlex.quote(str(uv))} pip install --python {python}"
    absent = [name for name in _BUILT_WITH if importlib.util.find_spec(name) is None]
    lines = [f"{install} {' '.join(absent)}"] if absent else []
    return [*lines, f"{install} --no-index --no-deps --no-build-isolation -e ."]


def _own_python() -> str:
    """Return what starts our own interpreter."""
    typed = as_typed("python")
    return typed if typed != "python" or shutil.which(typed) else shlex.quote(sys.executable)
