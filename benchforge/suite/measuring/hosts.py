"""The tables [hosts.x] and [placement.hosts]: which machines there are, and what runs on them."""

from collections.abc import Mapping

from benchforge.model.suite.hosts import EngineTable, HostsByRole, HostTable
from benchforge.model.values.distribution import entry_points
from benchforge.suite.suite import Declared
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import checked, table_of
from benchforge.suite.toml.positions import Path

ENGINES = "benchforge.engines"
"Entry points of engines of others: each names the function that connects the hosts."
OWN_ENGINES = ("dask", "ssh")


def engine_of(tables: Tables) -> Checked[EngineTable]:
    """Return the table [engine]; an engine that is not installed is a fault."""
    table = yield from table_of(EngineTable, tables, "engine")
    names = sorted({*OWN_ENGINES, *entry_points(ENGINES).names})
    if "engine" in tables and table.use not in names:
        hint = Nearest(table.use, names, "installed")
        yield Fault(("engine", "use"), f"no engine {table.use!r} is installed", hint)
    return table


def hosts(
    tables: Tables, labelled: Mapping[str, Tables], parts: Mapping[str, Mapping[str, Declared]]
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


def _undeclared(label: str, labelled: Mapping[str, Tables], at: Path) -> Fault:
    hint = Nearest(label, labelled, "hosts") if labelled else f'write [hosts.{label}] with ssh = ""'
    return Fault(at, f"no host {label!r} is declared", hint)
