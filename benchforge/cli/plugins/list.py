"""`benchforge plugins list`: every part, whatever is wrong with some of them."""

import inspect
import json
import shutil
import sys
from dataclasses import asdict, dataclass

import click

from benchforge.cli.console.columns import columns
from benchforge.cli.console.say import say, show
from benchforge.errors import Unusable
from benchforge.parts.part import Kind
from benchforge.parts.registry import Origin, Registry
from benchforge.parts.sound import KINDS


@dataclass(frozen=True)
class PluginRow:
    """A part, or a listener: what `--json` prints of it."""

    name: str
    doc: str
    "Its first line."
    distribution: str
    version: str
    origin: str
    "Value of the entry point."
    broken: str = ""
    "Reason why it cannot be used."


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(as_json: bool) -> int:
    """List all parts with their origin and state.

    Exit codes: 0, even if parts are broken. Suites that do not use a broken part still run.
    """
    registry = Registry()
    broken: list[str] = []
    registry.listen(broken.append)
    rows = [_row(registry, kind, name) for kind in KINDS for name in registry.names(kind)]
    rows += [_listener(origin, broken) for origin in registry.listeners()]
    if as_json:
        show(json.dumps([asdict(row) for row in rows], indent=1))
        return 0
    show(_table(rows))
    if count := sum(bool(row.broken) for row in rows):
        say(f"broken: {count}; suites that do not use them still run")
    return 0


def _row(registry: Registry, kind: Kind, name: str) -> PluginRow:
    doc = broken = ""
    try:
        doc = inspect.getdoc(registry.part(kind, name)) or ""
    except Unusable as error:
        broken = error.message
    origins = registry.origins(kind, name)
    distributions, versions, values = (
        " and ".join(getattr(origin, field) for origin in origins)
        for field in ("distribution", "version", "value")
    )
    first = doc.partition("\n\n")[0].replace("\n", " ")
    return PluginRow(f"{kind}-{name}", first, distributions, versions, values, broken)


def _listener(origin: Origin, broken: list[str]) -> PluginRow:
    reason = next((text for text in broken if text.startswith(f"plugin {origin}")), "")
    doc = "listens to every run"
    return PluginRow(origin.name, doc, origin.distribution, origin.version, origin.value, reason)


def _table(rows: list[PluginRow]) -> str:
    wide = [
        (row.name, f"{row.distribution} {row.version}".strip(), row.origin, _last(row))
        for row in rows
    ]
    lines = columns(wide, left_aligned=4)
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        lines = [line if len(line) <= width else f"{line[: width - 3]}..." for line in lines]
    return "\n".join(lines)


def _last(row: PluginRow) -> str:
    return f"BROKEN: {row.broken}" if row.broken else row.doc
