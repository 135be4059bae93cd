"""The tables [tuning], [gate], [placement], [engine], [hosts.x] and [repeat]."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from benchforge.model.suite.claim import Gate
from benchforge.model.suite.placement import EngineTable, HostsByRole, HostTable, Placement, Tuning
from benchforge.model.values.distribution import entry_points
from benchforge.suite.suite import Parts, Repeat
from benchforge.suite.toml.document import Document, Setting, Tables, as_table
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import checked, shown, table_of
from benchforge.suite.toml.positions import Path

LIMITS = (
    *("as", "core", "cpu", "data", "fsize", "memlock", "msgqueue", "nice", "nofile", "nproc"),
    *("rss", "rtprio", "rttime", "sigpending", "stack"),
)
"Linux's, as `man setrlimit` writes them behind RLIMIT_."

SYSCTL = r"^[a-z]\w*(\.[\w-]+)+$"

PlacementChoice = Placement | Literal["auto", "off"]

ENGINES = "benchforge.engines"
"Entry points of engines of others: each names the function that connects the hosts."
OWN_ENGINES = ("dask", "ssh")

_REPEAT = "repeat"
_NUMBER, _WIDTH = ("blocks",), ("until", "between", "level")


def tuning(tables: Tables) -> Checked[Tuning]:
    """Return what a suite asks for: names that no kernel can have are faults."""
    table = tables.get("tuning", {})
    if not isinstance(table, dict):
        yield Fault(("tuning",), "expected a table", "write [tuning.sysctl] or [tuning.limits]")
        return Tuning()
    for name, value in as_table(table.get("sysctl")).items():
        if isinstance(value, dict):
            hint = 'quote the whole name: "net.core.somaxconn" = 4096'
            yield Fault(("tuning", "sysctl", name), "expected a value, got a table", hint)
        elif not re.fullmatch(SYSCTL, name):
            hint = "it looks like net.core.somaxconn"
            yield Fault(("tuning", "sysctl", name), "not the name of a sysctl", hint)
    for name in as_table(table.get("limits")):
        if name not in LIMITS:
            path = ("tuning", "limits", name)
            yield Fault(path, "unknown limit", Nearest(name, LIMITS, "limits"))
    return (yield from checked(Tuning, table, ("tuning",))) or Tuning()


def gate_of(tables: Tables, labels: Mapping[str, Sequence[str]]) -> Checked[Gate]:
    """Return the waivers of a suite; none where it has no table."""
    gate = yield from table_of(Gate, tables, "gate")
    for number, waiver in enumerate(gate.allow):
        for key, label in (("scenarios", waiver.scenario), ("servers", waiver.server)):
            if label is not None and label not in labels[key]:
                hint = Nearest(label, labels[key], "declared")
                kind = key.removesuffix("s")
                path = ("gate", "allow", number, kind)
                yield Fault(path, f"no {kind} {label!r} is declared", hint)
    return gate


def placement(tables: Tables) -> Checked[PlacementChoice]:
    """Return the placement of a suite's roles. A run checks that the machine has these CPUs."""
    match tables.get("placement", "off"):
        case ("auto" | "off") as word:
            return word
        case dict() as table:
            by_role = {key: value for key, value in table.items() if key != "hosts"}
            placed = yield from checked(Placement, by_role, ("placement",))
            return placed if placed and by_role else "off"
        case other:
            message = f"expected 'auto', 'off' or a table of CPUs by role, got {shown(other)}"
            yield Fault(("placement",), message, '[placement] accepts server = "0-3"')
            return "off"


def engine_of(tables: Tables) -> Checked[EngineTable]:
    """Return the table [engine]; an engine that is not installed is a fault."""
    table = yield from table_of(EngineTable, tables, "engine")
    names = sorted({*OWN_ENGINES, *entry_points(ENGINES).names})
    if "engine" in tables and table.use not in names:
        hint = Nearest(table.use, names, "installed")
        yield Fault(("engine", "use"), f"no engine {table.use!r} is installed", hint)
    return table


def hosts(
    tables: Tables, labelled: Mapping[str, Tables], parts: Parts
) -> Checked[tuple[dict[str, HostTable], HostsByRole]]:
    """Return the machines of a suite, and the hosts of its roles; unknown labels are faults."""
    declared: dict[str, HostTable] = {}
    for label, table in labelled.items():
        sound = yield from checked(HostTable, table, ("hosts", label))
        if sound is not None:
            declared[label] = sound
    written = as_table(as_table(tables.get("placement")).get("hosts"))
    for role, named in written.items():
        for host in named if isinstance(named, list) else [named]:
            if isinstance(host, str) and host not in labelled:
                yield _undeclared(host, labelled, ("placement", "hosts", role))
    by_role = yield from checked(HostsByRole, written, ("placement", "hosts"))
    for kind, of_kind in parts.items():
        for label, part in of_kind.items():
            if part.host is not None and part.host not in labelled:
                yield _undeclared(part.host, labelled, (kind, label, "host"))
    return declared, by_role or HostsByRole()


def _undeclared(label: str, labelled: Mapping[str, Tables], path: Path) -> Fault:
    hint = Nearest(label, labelled, "hosts") if labelled else f'write [hosts.{label}] with ssh = ""'
    return Fault(path, f"no host {label!r} is declared", hint)


def repeated(document: Document, profile: str | None) -> Checked[Repeat]:
    """Return the table as it holds, without what a later layer replaced.

    `blocks` and `until` exclude each other. A profile lies over the suite, and --set over both.
    """
    table = document.tables.get(_REPEAT, {})
    if isinstance(table, dict):
        layers = {k: _layer(k, document, profile) for k in (*_NUMBER, *_WIDTH) if k in table}
        number, until = layers.get("blocks", -1), layers.get("until", -1)
        over = [key for key in _WIDTH if layers.get(key, number) < number]
        if number <= until:
            over = [key for key in _NUMBER if number < until]
        table = {key: value for key, value in table.items() if key not in over}
    return (yield from table_of(Repeat, {_REPEAT: table}, _REPEAT))


def said_of_profile(document: Document, profile: str | None) -> set[str]:
    """Return the keys of [repeat] that are for this profile: those of the suite are for others."""
    table = as_table(document.tables.get(_REPEAT))
    return {key for key in table if profile is None or _layer(key, document, profile)}


def _layer(key: str, document: Document, profile: str | None) -> int:
    """Return where a key of [repeat] is from: 0 the suite, 1 its profile, 2 --set."""
    if isinstance(document.origins.get((_REPEAT, key)), Setting):
        return 2
    return int(profile is not None and ("profiles", profile, _REPEAT, key) in document.origins)
