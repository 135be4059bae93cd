"""Scenarios that take turns, or measure response times for others, and their faults."""

from collections.abc import Container, Iterable, Iterator, Mapping

from pydantic import JsonValue

from benchforge.model.suite.until import LONGEST_S, SHORTEST_S, TurnsPlanned
from benchforge.model.values.units import Duration
from benchforge.parts.part import Backend, Driver, Server
from benchforge.suite.declared import metrics as metrics_of
from benchforge.suite.suite import Declared, Parts, Repeat, Scenario, Suite
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import amount, conjoined

KEY = "interleave"
ALONE = "-alone"
"End of the label of a scenario whose servers are those of another one, and take no turns."
LEAST = 3
"Blocks of a bridge, at least: two values have no deviation that is worth a test."
_OFF = 'set interleave = "off" in this scenario'
_ALONE_SAYS = {"title": "", KEY: "off"}


def turns_of(scenario: Scenario, repeat: Repeat) -> TurnsPlanned | None:
    """Return how the servers of a scenario take turns; None where they do not."""
    wanted = repeat.interleave if scenario.interleave is None else scenario.interleave
    if not isinstance(wanted, Duration):
        return None
    each = repeat.each if scenario.each is None else scenario.each
    turns = TurnsPlanned(slice_s=float(wanted), each_s=float(each))
    among = "cases" if scenario.turns == "all" else "clients" if scenario.clients else "servers"
    return turns.model_copy(update={"among": among})


def all_turns(suite: Suite) -> dict[str, TurnsPlanned]:
    """Return how the servers of each scenario take turns, where they do, by label."""
    turns = {label: turns_of(scenario, suite.repeat) for label, scenario in suite.scenarios.items()}
    return {label: turn for label, turn in turns.items() if turn is not None}


def bridges(
    scenarios: Mapping[str, Scenario], repeat: Repeat
) -> Checked[tuple[dict[str, Scenario], dict[str, str]]]:
    """Return the scenarios with those that bridge them, and whom each of these bridges."""
    all_scenarios, bridged = dict(scenarios), dict[str, str]()
    if repeat.bridge and not _spoken_of(scenarios, repeat.model_fields_set):
        hint = 'set repeat.interleave = "100ms", or leave `bridge` out'
        yield Fault(("repeat", "bridge"), "it has no effect: no servers take turns", hint)
    elif 0 < repeat.bridge < LEAST:
        message = f"{repeat.bridge} blocks give no interval"
        yield Fault(("repeat", "bridge"), message, f"{LEAST} blocks or more, or 0 for none")
    for label, scenario in scenarios.items() if repeat.bridge else ():
        if turns_of(scenario, repeat) is None:
            continue
        alone = f"{label}{ALONE}"
        if alone in scenarios:
            message = f"repeat.bridge makes a scenario {alone!r}, which is declared"
            yield Fault(("scenarios", alone), message, "choose another label")
            continue
        all_scenarios[alone] = scenario.model_copy(update=_ALONE_SAYS)
        bridged[alone] = label
    return all_scenarios, bridged


def with_bridges(tables: Mapping[str, Tables], measured: Iterable[str]) -> dict[str, Tables]:
    """Return tables of scenarios with those of the measured ones that bridge them."""
    bridging = {label: label.removesuffix(ALONE) for label in measured if label not in tables}
    made = {label: tables[bridged] for label, bridged in bridging.items() if bridged in tables}
    return {**tables, **{k: {**table, **_ALONE_SAYS} for k, table in made.items()}}


def turns_faults(
    scenarios: Mapping[str, Scenario], parts: Parts, repeat: Repeat, table: JsonValue, network: str
) -> Iterator[Fault]:
    """Yield what is wrong with turns; `table` is [repeat] as written, `parts` the sound ones."""
    written = as_table(table)
    length_faults = list(_length_faults(scenarios, repeat))
    yield from length_faults
    taking = {k: it for k, it in scenarios.items() if not length_faults and turns_of(it, repeat)}
    if not length_faults and "each" in written and not _spoken_of(scenarios, written):
        hint = 'set repeat.interleave = "100ms", or leave `each` out'
        yield Fault(("repeat", "each"), "it has no effect: no servers take turns", hint)
    for label, scenario in scenarios.items():
        keys = {"turns": scenario.turns == "all", "each": scenario.each is not None}
        if _spoken_of({label: scenario}, written):
            continue
        for key in (key for key, value in keys.items() if value):
            hint = f'set interleave = "100ms" in this scenario, or leave `{key}` out'
            message = "it has no effect: no servers take turns"
            yield Fault(("scenarios", label, key), message, hint)
    for label, scenario in taking.items():
        path: Path = ("repeat", KEY) if scenario.interleave is None else ("scenarios", label, KEY)
        if network != "private":
            message = f"{label!r}: servers cannot take turns in the machine's network"
            yield Fault(path, message, 'set network = "private"')
        side = "client" if scenario.clients else "server"
        others = (scenario.servers, scenario.loaders) if scenario.turns == "all" else ()
        alone = all(len(labels) <= 1 for labels in (scenario.clients or scenario.servers, *others))
        if alone and not (repeat.placebo or scenario.vary or scenario.include):
            yield Fault(path, f"{label!r} has one {side}: no other takes turns with it", _OFF)
        yield from _load_faults(("scenarios", label), scenario, parts)
        yield from _metric_faults(("scenarios", label), scenario, parts, repeat)


def _spoken_of(scenarios: Mapping[str, Scenario], repeat: Container[str]) -> bool:
    """Return whether a suite says anything of turns, "off" too; `repeat` are its keys there."""
    return KEY in repeat or any(value.interleave is not None for value in scenarios.values())


def _length_faults(scenarios: Mapping[str, Scenario], repeat: Repeat) -> Iterator[Fault]:
    lengths: list[tuple[Path, Duration | str, str, Duration]] = [
        (("repeat", KEY), repeat.interleave, "repeat", repeat.each)
    ]
    for label, scenario in scenarios.items():
        table = "repeat" if scenario.each is None else f"scenarios.{label}"
        each = repeat.each if scenario.each is None else scenario.each
        if scenario.interleave is not None:
            lengths.append((("scenarios", label, KEY), scenario.interleave, table, each))
        elif scenario.each is not None:
            lengths.append((("scenarios", label, "each"), repeat.interleave, table, each))
    for path, length, table, each in lengths:
        if not isinstance(length, Duration):
            continue
        if not SHORTEST_S <= length <= LONGEST_S:
            bounds = f"{amount('s', SHORTEST_S)} to {amount('s', LONGEST_S)}"
            yield Fault(path, f"a slice takes {bounds}", 'such as interleave = "100ms"')
        elif each < 2 * length:
            message = f"{length.written} is more than half of {table}.each, {each.written}"
            yield Fault(path, message, "give each server two slices or more")


def _load_faults(top: Path, scenario: Scenario, parts: Parts) -> Iterator[Fault]:
    """Yield what cannot be measured in slices: a rate to find, and some parts."""
    if scenario.find is not None:
        yield Fault((*top, "find"), "a search for a rate cannot take turns", _OFF)
    if scenario.monitor:
        message = "servers that take turns cannot be monitored: they are frozen most of the time"
        yield Fault((*top, "monitor"), message, f"leave it out, or {_OFF}")
    if scenario.clients and scenario.loaders:
        message = "either load tools or clients take turns in a scenario, not both"
        yield Fault((*top, "clients"), message, "declare a scenario for each")
    use = {"loaders": 'use = "pace", "wrk" or "ab" in a closed loop, or '}
    for table in ("loaders", "clients", "servers", "backends"):
        for number, label in enumerate(getattr(scenario, table)):
            part = parts[table][label].part if label in parts[table] else None
            if isinstance(part, Driver | Server | Backend) and (reason := part.why_not_in_turns()):
                subject = label if isinstance(part, Driver) else f"{label} cannot take turns"
                hint = f"{use.get(table, '')}{_OFF}"
                yield Fault((*top, table, number), f"{subject}: {reason}", hint)


def _metric_faults(top: Path, scenario: Scenario, parts: Parts, repeat: Repeat) -> Iterator[Fault]:
    """Yield a scenario that asks for nothing that turns tell, or waits for it with `until`."""
    declared = metrics_of(parts["metrics"])
    wanted = tuple(declared) if scenario.metrics is None else scenario.metrics
    valid = [label in declared and declared[label].in_turns for label in wanted]
    if not any(valid):
        message = "none of its metrics is known in turns: throughput and CPU time are"
        yield Fault((*top, "metrics"), message, _OFF)
    elif repeat.until is not None and not valid[0]:
        message = f"repeat.until waits for {wanted[0]!r}, which is not known in turns"
        yield Fault((*top, "metrics"), message, f"name a throughput first, or {_OFF}")


def latency_faults(
    scenarios: Mapping[str, Scenario], parts: Mapping[str, Mapping[str, Declared]], repeat: Repeat
) -> Iterator[Fault]:
    """Yield what is wrong with each `latency_of`; `parts` are the sound ones."""
    for label, scenario in scenarios.items():
        if scenario.latency_of is None:
            continue
        path = ("scenarios", label, "latency_of")
        others = {key: it for key, it in scenarios.items() if key != label and not it.latency_of}
        measured = others.get(scenario.latency_of)
        if measured is None:
            near = Nearest(scenario.latency_of, others, "other scenarios")
            yield Fault(path, f"no other scenario {scenario.latency_of!r} is compared", near)
        elif {*measured.servers} != {*scenario.servers}:
            yield Fault(path, f"{scenario.latency_of!r} has other servers", "name the same servers")
        if turns_of(scenario, repeat) is not None:
            yield Fault(path, "response times are those of one server at a time", _OFF)
        loaders = [parts["loaders"][key] for key in scenario.loaders if key in parts["loaders"]]
        if scenario.clients or len(scenario.loaders) != 1 or not all(map(_rate, loaders)):
            hint = 'name one, such as use = "pace", rate = "500/s"'
            yield Fault(path, "it takes one load tool with a rate", hint)


def unlike_loads(suite: Suite) -> Iterator[str]:
    """Yield a line for each scenario that compares response times of servers at unlike rates."""
    claimed = {
        instance.a.case.scenario
        for claim in suite.claims_to_test
        for instance in claim.instances
        if instance.b is not None and _is_time(suite, claim.metric)
    }
    for label, scenario in suite.scenarios.items():
        first = next(iter(scenario.metrics or suite.metrics), "")
        if scenario.find or not (label in claimed or _is_time(suite, first)):
            continue
        closed = [key for key in scenario.loaders if _rate(suite.loaders[key]) is None]
        if closed and len(scenario.servers) > 1:
            loads = f"with {conjoined(closed)} each server receives requests as fast as it answers"
            says = f"compares response times at unlike loads: {loads}"
            yield f"{label}: {says}; set a rate, such as 500/s"


def _is_time(suite: Suite, metric: str) -> bool:
    return metric in suite.metrics and suite.metrics[metric].measurand == "response time"


def _rate(declaration: Declared) -> float | None:
    return declaration.part.load().rate if isinstance(declaration.part, Driver) else None
