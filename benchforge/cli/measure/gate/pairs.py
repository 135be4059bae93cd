"""Pairs of a gate: the servers that it compares with themselves at the base."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from benchforge.cli.measure.gate.commits.repository import BaseCommit
from benchforge.parts.part import UPSTREAM_OPTIONS, ServesCode
from benchforge.suite.cases.parts import repository
from benchforge.suite.suite import Declared, Suite
from benchforge.suite.toml.document import Tables, as_table


def paired(suite: Suite, base: BaseCommit) -> tuple[dict[str, Path], list[str]]:
    """Return the folder of the code of each server that is in the repository, at the base as well.

    Also return the scenarios and servers that are not compared, each with the reason.
    """
    folders: dict[str, Path] = {}
    searching = [label for label, scenario in suite.scenarios.items() if scenario.find is not None]
    left_out = [f"scenarios.{label}: it searches for a rate" for label in searching]
    others = (scenario for scenario in suite.scenarios.values() if scenario.find is None)
    wanted = dict.fromkeys(label for scenario in others for label in scenario.servers)
    for label in wanted:
        folder = _folder(suite.servers[label], suite.path.parent)
        if folder is None:
            left_out.append(f"servers.{label}: it serves no code of yours")
        elif reason := _points(suite, label) or _why_not(suite, label, folder, base):
            left_out.append(f"servers.{label}: {reason}")
        else:
            folders[label] = folder
    return folders, left_out


def gated(
    tables: Tables, base: BaseCommit, folders: Mapping[str, Path]
) -> tuple[Tables, dict[str, str]]:
    """Return the tables of a suite in which each pair is a scenario of its own.

    Also return the scenario of the suite that each is of. Claims, tables, profiles and waivers are
    left out: they speak of other cases.
    """
    scenarios: Tables = {}
    origins: dict[str, str] = {}
    for origin, name, scenario in _scenarios(tables, folders):
        scenarios[name], origins[name] = scenario, origin
    servers = as_table(tables["servers"])
    stand = {**servers}
    for label in folders:
        table = as_table(servers[label])
        older = table if base.older is None else base.older.declared(label, table)
        stand[base_label(label)] = {**older, "ref": base.commit}
    tables_kept = {key: value for key, value in tables.items() if key not in _LEFT_OUT}
    return {**tables_kept, "servers": stand, "scenarios": scenarios}, origins


def base_label(label: str) -> str:
    """Return the label of a server at the base."""
    return f"{label}_before"


def renamed(path: str, label: str) -> str:
    """Return the path of an axis of a server for the same server at the base."""
    kind, server, rest = [*path.split(".", 2), "", ""][:3]
    return f"{kind}.{base_label(label)}.{rest}" if (kind, server) == ("servers", label) else path


_LEFT_OUT = ("claims", "profiles", "tables", "gate", "verdicts", "only")


def _scenarios(tables: Tables, folders: Mapping[str, Path]) -> Iterator[tuple[str, str, Tables]]:
    taken = as_table(tables["scenarios"])
    chosen = tables.get("only") or [*taken]
    for label, value in taken.items():
        if isinstance(chosen, list) and label not in chosen:
            continue
        scenario = as_table(value)
        listed = scenario.get("servers")
        servers = [name for name in listed if name in folders] if isinstance(listed, list) else []
        if "find" in scenario:
            continue
        for server in map(str, servers):
            name = label if len(servers) == 1 else f"{label}-{server}"
            while name != label and name in taken:
                name += "-"
            yield label, name, _of_pair(scenario, server)


def _of_pair(scenario: Tables, server: str) -> Tables:
    """Return a scenario with one server and its base."""
    pair: Tables = {**scenario, "servers": [server, base_label(server)]}
    requests = as_table(scenario.get("requests"))
    if server in requests:
        pair["requests"] = {server: requests[server], base_label(server): requests[server]}
    else:
        pair.pop("requests", None)
    if vary := as_table(scenario.get("vary")):
        head = f"servers.{server}."
        axes = {
            path: values
            for path, values in vary.items()
            if path.startswith((head, "servers.*.")) or not path.startswith("servers.")
        }
        again = {renamed(path, server): row for path, row in axes.items() if path.startswith(head)}
        pair["vary"] = {**axes, **again}
    return pair


def _points(suite: Suite, label: str) -> str:
    """Return why the points of a server cannot be doubled; empty if they can."""
    scenarios = [each for each in suite.scenarios.values() if label in each.servers]
    points = (point for each in scenarios for point in (*each.include, *each.exclude))
    if any(path.startswith(f"servers.{label}.") for point in points for path in point):
        return "a scenario includes or excludes points of it"
    return ""


def _folder(declaration: Declared, suite_folder: Path) -> Path | None:
    """Return the folder of a server's code; None for one that serves nothing of the user's."""
    part, app = declaration.part, declaration.options.get("app")
    if not isinstance(part, ServesCode) or (isinstance(app, str) and ":" not in app):
        return None
    return (part.code(suite_folder) or suite_folder).resolve()


def _why_not(suite: Suite, label: str, folder: Path, base: BaseCommit) -> str:
    declaration = suite.servers[label]
    part = declaration.part
    if isinstance(part, ServesCode) and part.ref is not None:
        return f"its ref is {part.ref}"
    if any(declaration.options.get(option) for option in UPSTREAM_OPTIONS):
        return "it has upstream servers"
    top = repository(folder)
    if top is None or top.resolve() != base.top.resolve():
        return f"its folder is not in {base.top}"
    if not (base.folder / folder.relative_to(base.top.resolve())).is_dir():
        return f"it is new: {folder.relative_to(base.top.resolve())} is not there at the base"
    return "" if base.older is None else base.older.why_not(label)
