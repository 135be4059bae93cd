"""`benchforge plugins list`: every part, also those that are broken."""

import inspect
import json
import re
import shutil
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchforge.cli.console.columns import columns
from benchforge.cli.console.say import say, show
from benchforge.errors import Unusable
from benchforge.model.values.distribution import entry_points, own_distribution
from benchforge.parts.kinds import GROUP, KINDS, Kind

if TYPE_CHECKING:
    from benchforge.parts.registry import Registry

_DOCSTRING = r'^class {}\b(?:\([^)]*\))?:\n\s+"""(.*?)(?:\n\n|""")'


@dataclass(frozen=True)
class PluginRow:
    """A part or a listener, as `--json` prints it."""

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
    rows = _unimported() or _imported()
    if as_json:
        show(json.dumps([asdict(row) for row in rows], indent=1))
        return 0
    show(_table(rows))
    if count := sum(bool(row.broken) for row in rows):
        say(f"broken: {count}; suites that do not use them still run")
    return 0


def _unimported() -> list[PluginRow]:
    """Return our own parts by the text of their modules; none if others bring some.

    To import all of them takes most of a second, and our tests do.
    """
    rows: list[PluginRow] = []
    own = own_distribution()
    distribution, version, ours = own.name, own.version, {*own.entry_points}
    for point in entry_points(GROUP):
        if point not in ours or not (doc := _docstring(point)):
            return []
        rows.append(PluginRow(point.name, doc, distribution, version, point.value))
    return sorted(rows, key=lambda row: (KINDS.index(row.name.partition("-")[0]), row.name))


def _docstring(point: EntryPoint) -> str:
    """Return the first paragraph of a class; empty where it is not there."""
    spec = find_spec(point.module)
    text = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    match = re.search(_DOCSTRING.format(point.attr), text, re.DOTALL | re.MULTILINE)
    return " ".join(line.strip() for line in match[1].splitlines()) if match else ""


def _imported() -> list[PluginRow]:
    from benchforge.parts.registry import Registry  # noqa: PLC0415 - it takes half of the time

    registry = Registry()
    broken: list[str] = []
    registry.listen(broken.append)
    rows = [_row(registry, kind, name) for kind in KINDS for name in registry.names(kind)]
    for origin in registry.listeners():
        reason = next((text for text in broken if text.startswith(f"plugin {origin}")), "")
        about = origin.distribution, origin.version, origin.value, reason
        rows.append(PluginRow(origin.name, "listens to every run", *about))
    return rows


def _row(registry: "Registry", kind: Kind, name: str) -> PluginRow:
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


def _table(rows: list[PluginRow]) -> str:
    wide = []
    for row in rows:
        last = f"BROKEN: {row.broken}" if row.broken else row.doc
        wide.append((row.name, f"{row.distribution} {row.version}".strip(), row.origin, last))
    lines = columns(wide, left_aligned=4)
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        lines = [line if len(line) <= width else f"{line[: width - 3]}..." for line in lines]
    return "\n".join(lines)
