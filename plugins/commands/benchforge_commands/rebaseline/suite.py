"""A suite in which servers of an older result stand again, each at the commit that it had."""

from collections.abc import Mapping
from typing import NamedTuple

from benchforge_author.options import in_toml, toml_key
from pydantic import JsonValue

from benchforge.suite.toml.document import Tables

_LEFT_OUT = ("claims", "profiles", "tables")  # they speak of cases that may be others now


class RebaselinedServer(NamedTuple):
    """A server that is to stand again."""

    table: Tables
    "Table of the server in the older suite."
    commit: str


def before(label: str) -> str:
    """Return the label under which a server stands again."""
    return f"{label}_before"


def cannot(tables: Tables, label: str, again: RebaselinedServer | None) -> str:
    """Return why a server of the older result cannot stand again in a suite; empty if it can."""
    scenarios = [one for one in _scenarios(tables).values() if label in _listed(one, "servers")]
    if not scenarios:
        return "no scenario of the newer suite names it"
    if again is None:
        return "the older suite does not declare it"
    if before(label) in _table(tables, "servers"):
        return f"the newer suite has a server {before(label)} already"
    points = [
        point
        for one in scenarios
        for key in ("include", "exclude")
        for point in _listed(one, key)
        if isinstance(point, dict)
    ]
    if any(path.startswith(f"servers.{label}.") for point in points for path in point):
        return "a scenario includes or excludes points of it"
    return ""


def rebaselined(tables: Tables, name: str, servers: Mapping[str, RebaselinedServer]) -> Tables:
    """Return a suite's tables with each of the servers twice: as it is there, and as it was.

    Where its code lies is said by the newer suite, what else it is by the older one. `cannot` has
    been asked of each. Claims, tables and profiles are left out.
    """
    doubled: Tables = {key: value for key, value in tables.items() if key not in _LEFT_OUT}
    doubled["name"] = name
    newer = _table(tables, "servers")
    stand = dict(newer)
    for label, again in servers.items():
        table = {key: value for key, value in again.table.items() if key != "directory"}
        current = newer.get(label)
        if isinstance(current, dict) and "directory" in current:
            table["directory"] = current["directory"]
        stand[before(label)] = {**table, "ref": again.commit}
    doubled["servers"] = stand
    doubled["scenarios"] = {
        scenario: _with_both(table, servers) for scenario, table in _scenarios(tables).items()
    }
    return doubled


def text(tables: Tables) -> str:
    """Return tables as TOML."""
    plain = [_pair(key, value) for key, value in tables.items() if not isinstance(value, dict)]
    blocks = ["\n".join(plain)]
    for key, table in tables.items():
        if not isinstance(table, dict):
            continue
        own: Tables = {name: value for name, value in table.items() if not isinstance(value, dict)}
        if own or not table:
            blocks.append(_block(toml_key(key), own))
        blocks += [
            _block(f"{toml_key(key)}.{toml_key(label)}", one)
            for label, one in table.items()
            if isinstance(one, dict)
        ]
    return "\n\n".join(blocks) + "\n"


def _with_both(scenario: Tables, servers: Mapping[str, RebaselinedServer]) -> Tables:
    labels = [label for label in servers if label in _listed(scenario, "servers")]
    both: list[JsonValue] = []
    for label in _listed(scenario, "servers"):
        both += [label, before(str(label))] if label in labels else [label]
    doubled = {**scenario, "servers": both}
    if requests := _table(scenario, "requests"):
        again = {before(label): requests[label] for label in labels if label in requests}
        doubled["requests"] = {**requests, **again}
    if vary := _table(scenario, "vary"):
        again = {
            renamed(path, label): values
            for path, values in vary.items()
            for label in labels
            if renamed(path, label) != path
        }
        doubled["vary"] = {**vary, **again}
    return doubled


def renamed(path: str, label: str) -> str:
    """Return the path of what varies of a server as it is for the one that stands again."""
    start = f"servers.{label}."
    return f"servers.{before(label)}.{path[len(start) :]}" if path.startswith(start) else path


def _scenarios(tables: Tables) -> dict[str, Tables]:
    return {
        label: one for label, one in _table(tables, "scenarios").items() if isinstance(one, dict)
    }


def _table(tables: Tables, key: str) -> Tables:
    value = tables.get(key)
    return value if isinstance(value, dict) else {}


def _listed(table: Tables, key: str) -> list[JsonValue]:
    value = table.get(key)
    return value if isinstance(value, list) else []


def _block(title: str, table: Tables) -> str:
    return "\n".join([f"[{title}]", *(_pair(key, value) for key, value in table.items())])


def _pair(key: str, value: JsonValue) -> str:
    return f"{toml_key(key)} = {in_toml(value)}"
