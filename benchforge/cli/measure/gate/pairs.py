"""The suite of a gate: pairs of a server and itself at the base, measured in turns where valid."""

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchforge.cli.measure.duel.suite import SLICE, apart, suite_or_why
from benchforge.cli.measure.gate.commits.repository import BaseCommit
from benchforge.cli.measure.gate.verdict import LEVEL, RULE
from benchforge.parts.part import UPSTREAM_OPTIONS, ServesCode
from benchforge.suite.cases.expand import expand
from benchforge.suite.cases.parts import repository
from benchforge.suite.plan import START_AND_STOP_S
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


MARK = "# Formed by benchforge gate from the suite: each server, and the same at the base."
_SHORTEST_BLOCK_S = 3.0  # of a pair, with start and stop: no more blocks fit
_BROADEST = 0.99  # width and margin: shares are below 1
_FIT, _MOST = 8, 200  # blocks: so many fit into the time at least, and no more are looked at
_SHORTEST_S, _LONGEST_S = 0.2, 1.0  # of the load of a server in a block in turns
_WARMUP = "300ms"
_SAMPLE = "20%"
_SHORTEST_LOAD_S = 1

Load = Callable[[Tables], Suite]
"Reads tables as a suite. Raises SuiteErrors."


class Design(NamedTuple):
    """The design of a gate's measurement."""

    tables: Tables
    alone: dict[str, str]
    "Scenarios whose servers are measured one after the other, each with the reason."

    @property
    def notes(self) -> list[str]:
        """A line for each scenario without turns."""
        return [f"{label}: measured without turns: {says}" for label, says in self.alone.items()]


def designed(tables: Tables, precision: float, times: tuple[float, float], load: Load) -> Design:
    """Return the tables with all that decides how the pairs are measured.

    `times` are seconds: those that the measurement is planned for, and its limit.
    Raises SuiteErrors for a suite that cannot be measured in any way.
    """
    time_s, most_s = times
    tables = {**tables, "loaders": _sampling(tables, load)}
    repeat = as_table(tables.get("repeat"))
    from_suite: Tables = {key: repeat[key] for key in ("seed", "warmup", "quiet") if key in repeat}
    if "placement" not in tables and apart(load(tables)):
        tables = {**tables, "placement": "auto"}
    shared: Tables = {
        "warmup": _WARMUP,
        **from_suite,
        "until": min(_BROADEST, precision),
        "level": LEVEL,
        "between": [RULE.first, min(_MOST, max(_FIT, math.ceil(most_s / _SHORTEST_BLOCK_S)))],
    }
    pair_s = time_s / len(as_table(tables["scenarios"]))
    free_s = pair_s / _FIT - 2 * START_AND_STOP_S
    each = f"{max(_SHORTEST_S, min(_LONGEST_S, free_s / 2)):.1f}s"
    scenarios: Tables = {}
    alone: dict[str, str] = {}
    for label, written in as_table(tables["scenarios"]).items():
        scenario: Tables = {k: value for k, value in as_table(written).items() if k != "each"}
        in_turns: Tables = {**scenario, "interleave": SLICE}
        repeated: Tables = {**shared, "each": each}
        once: Tables = {**tables, "repeat": repeated, "scenarios": {label: in_turns}}
        off = scenario.get("interleave") == "off"
        suite = 'the suite says interleave = "off"' if off else suite_or_why(once, load)
        scenarios[label] = in_turns
        if isinstance(suite, str):
            scenarios[label], alone[label] = {**scenario, "interleave": "off"}, suite
    if len(alone) < len(scenarios):
        shared["each"] = each
    doubled: Tables = {**tables, "repeat": shared, "scenarios": scenarios}
    if alone:
        doubled["loaders"] = _shorter(doubled, load, pair_s / 2)
    load(doubled)
    return Design(doubled, alone)


def without_turns(
    design: Design, scenarios: Mapping[str, str], time_s: float, load: Load
) -> Design:
    """Return the design of `scenarios`, each with its reason, once more without turns."""
    tables = design.tables
    repeat = {key: value for key, value in as_table(tables["repeat"]).items() if key != "each"}
    scenarios_alone: Tables = {
        label: {**as_table(scenario), "interleave": "off"}
        for label, scenario in as_table(tables["scenarios"]).items()
        if label in scenarios
    }
    of_all = {key: table for key, table in tables.items() if key != "claims"}
    again: Tables = {**of_all, "repeat": repeat, "scenarios": scenarios_alone}
    again["loaders"] = _shorter(again, load, time_s / (2 * len(scenarios_alone)))
    return Design(again, {label: scenarios[label] for label in scenarios_alone})


def _sampling(tables: Tables, load: Load) -> Tables:
    """Return the load tools, of which those that can compare a sample of the answers do so.

    In turns nothing else sees a wrong body of equal length. A mix has no sample.
    """
    suite = load(tables)
    mixed = {case.name.driver for case in expand(suite) if case.workload is not None}
    loaders = {**as_table(tables.get("loaders"))}
    for label, declaration in suite.loaders.items():
        if label not in mixed and getattr(declaration.part, "sample", "") is None:
            loaders[label] = {**as_table(loaders[label]), "sample": _SAMPLE}
    return loaders


def _shorter(tables: Tables, load: Load, pair_s: float) -> Tables:
    """Return the load tools with loads of which enough blocks fit into the time of a case."""
    each_s = max(_SHORTEST_LOAD_S, math.floor(pair_s / (1.5 * _FIT) - START_AND_STOP_S))
    suite = load(tables)
    loaders = {**as_table(tables.get("loaders"))}
    for label, declaration in suite.loaders.items():
        duration: Any = getattr(declaration.part, "duration", None)
        if duration is not None and duration > each_s:
            loaders[label] = {**as_table(loaders[label]), "duration": f"{each_s}s"}
    return loaders


def with_claims(design: Design, limit: float, load: Load) -> Design:
    """Return the design of a gate with a claim for each pair: it is not slower by this share.

    A pair whose metric has parts that depend on the trials gets none, and ends by its width.
    """
    claims = [*_claims(load(design.tables), limit)]
    labelled: Tables = {}
    for number, claim in enumerate(claims, start=1):
        label = f"{claim['scenario']}-{claim['a']['server']}"  # a run prints it
        labelled[label if len(claims) == 1 else f"{label}-{number}"] = claim
    return design._replace(tables={**design.tables, "claims": labelled}) if labelled else design


def _claims(suite: Suite, limit: float) -> Iterator[dict[str, Any]]:
    for case in expand(suite):
        name = case.name
        if base_label(name.server) not in suite.servers:
            continue
        label = next(iter(suite.scenarios[name.scenario].metrics or suite.metrics))
        metric = suite.metrics[label]
        if not metric.parts():
            continue
        part = metric.parts()[0]
        driver = "client" if name.driver in suite.clients else "loader"
        head: dict[str, Any] = {"server": name.server, driver: name.driver, **name.vary}
        vary = {renamed(path, name.server): value for path, value in name.vary.items()}
        yield {
            "says": f"{name.title}: not slower than the base by more than {100 * limit:g} %",
            "scenario": name.scenario,
            "metric": label,
            **({} if part is None else {"of": part}),
            "a": head,
            "b": {"server": base_label(name.server), driver: name.driver, **vary},
            "holds": "a >= b" if metric.better == "higher" else "a <= b",
            "margin": min(_BROADEST, limit / (1 - limit)),  # 1 - limit is 1 / (1 + margin)
        }
