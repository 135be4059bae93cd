"""The suite of a gate: for how long, how precisely, and in turns where that is valid."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from benchforge.cli.measure.duel.suite import SLICE, apart, suite_or_why
from benchforge.cli.measure.gate.pairs import base_label, renamed
from benchforge.cli.measure.gate.verdict import LEVEL, RULE
from benchforge.suite.cases.expand import expand
from benchforge.suite.plan import START_AND_STOP_S
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import Tables, as_table

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
