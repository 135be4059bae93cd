"""Plans as `benchforge plan --format json` prints them: cases, order, times and parts."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import Literal, cast

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveInt

from benchforge.model.suite.search import RateSearch
from benchforge.model.suite.until import TurnsPlanned, Until
from benchforge.model.values.case_name import CaseName, Role
from benchforge.model.values.distribution import own_version
from benchforge.model.values.frozen import Frozen
from benchforge.parts.part import Server, ServesCode
from benchforge.run.remaining import noise_s
from benchforge.suite.matrix import Point, part_at, projected
from benchforge.suite.plan import START_AND_STOP_S, RunGraph
from benchforge.suite.scenarios.references import behind, leading
from benchforge.suite.scenarios.search import finds_of
from benchforge.suite.scenarios.turns import all_turns
from benchforge.suite.suite import Scenario, Suite

Place = Literal["servers", "backends", "loaders", "clients"]


class PlanTime(Frozen):
    """Estimated duration of trials, and its components."""

    warm_up_s: NonNegativeFloat
    "Declared time of all warm-ups."
    load_s: NonNegativeFloat
    "Declared time of all loads: exact for a duration, a guess for a number of requests."
    start_and_stop_s: NonNegativeFloat
    "Guessed time of starts and stops, the same for every trial."
    noise_s: NonNegativeFloat = 0.0
    """Extra time if noise never ends: waits for quiet, and repeated attempts. It is in no total,
    and 0 for a scenario. Noise that comes and goes may add more."""

    @property
    def total_s(self) -> float:
        """Total duration on a quiet machine."""
        return self.warm_up_s + self.load_s + self.start_and_stop_s


class PartPlanned(Frozen):
    """A part of a trial."""

    place: Place
    "Path of the part's table in the suite."
    label: str
    use: str
    "Name of the part in its plugin."
    ref: str | None = None
    "Commit that a server serves, as the suite names it. A run resolves it."
    host: str | None = None
    "Label of the host that runs it; None for this machine."


class Chain(Frozen):
    """Processes that start for a server of a scenario, and the drivers that load it."""

    starts: tuple[PartPlanned, ...]
    "Parts in the order of their start: backends, upstream servers, the server."
    drivers: tuple[PartPlanned, ...]
    "Drivers, which run one after the other."


class PartLink(Frozen):
    """A relation of two parts of a scenario; a part is its table and label: `servers.django`."""

    source: str
    target: str
    relation: Literal["asks", "passes on to", "may use"]
    "Relation of the two parts. A server gets every backend of its scenario, used or not."


class ScenarioPlanned(Frozen):
    """A scenario, and the parts that run for it."""

    label: str
    title: str
    cases: PositiveInt
    varies: dict[str, tuple[JsonValue, ...]]
    "Values of each varied option over all points, by the option's path."
    estimate: PlanTime
    "Estimated duration of all trials of the scenario."
    chains: tuple[Chain, ...]
    links: tuple[PartLink, ...]
    search: RateSearch | None = None
    "Search of the scenario. The estimate then counts the largest number of its trials."
    turns: TurnsPlanned | None = None
    "Turns of the scenario's servers; None if each is loaded alone."


class CasePlanned(Frozen):
    """A case, and the declared times of each of its trials."""

    case: CaseName
    warm_up_s: NonNegativeFloat
    load_s: NonNegativeFloat


class BlockPlanned(Frozen):
    """One pass over all cases."""

    block: PositiveInt
    cases: tuple[NonNegativeInt, ...]
    "Positions in the plan's `cases`, from 0, in the order of measurement."
    seeds: tuple[NonNegativeInt, ...]
    "Values of PYTHONHASHSEED for the servers of each case."


class Plan(Frozen):
    """A plan. It starts nothing; the same seed gives the same order in a run."""

    format: Literal[2] = 2
    kind: Literal["plan"] = "plan"
    name: str
    title: str
    benchforge: str
    "Version of benchforge."
    profile: str | None
    smoke: bool
    settings: dict[str, str]
    "Values of --set, by path."
    only: tuple[str, ...]
    claims: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "Number of questions of each claim, by its label; without claims on scenarios that do not run."
    suite_sha256: str
    seed: NonNegativeInt
    seed_drawn: bool
    "True if the seed was drawn for this plan only: a run without a seed draws its own."
    blocks: PositiveInt
    "Number of blocks. With `until` the maximum, as are `trials`, `order` and all estimates."
    until: Until | None = None
    "Rule that ends the run early; None if the number of blocks is given."
    trials: NonNegativeInt
    "Number of trials; the maximum if a scenario searches for a rate."
    estimate: PlanTime
    scenarios: tuple[ScenarioPlanned, ...]
    cases: tuple[CasePlanned, ...]
    "Cases in the order of the suite."
    order: tuple[BlockPlanned, ...]


_DRIVERS: tuple[Place, ...] = ("loaders", "clients")


def planned(suite: Suite, graph: RunGraph, drawn: bool) -> Plan:
    """Return the plan without its cases and their order; `drawn`: the seed is of this plan only."""
    warm_up_s = float(suite.repeat.warmup)
    sizes = map(len, graph.cases.groups)
    finds, turns, tested = finds_of(suite), all_turns(suite), suite.claims_to_test
    return Plan(
        name=suite.name,
        title=suite.title,
        benchforge=own_version(),
        profile=suite.profile,
        smoke=suite.smoke,
        settings=dict(suite.settings),
        only=suite.only,
        claims={claim.label: len(claim.instances) * (claim in tested) for claim in suite.claims},
        suite_sha256=hashlib.sha256(suite.text.encode()).hexdigest(),
        seed=graph.seed,
        seed_drawn=drawn,
        blocks=graph.blocks,
        until=graph.until,
        trials=len(graph),
        estimate=_estimate(len(graph), graph.declared_s, warm_up_s, _noise_s(suite, graph)),
        scenarios=tuple(
            ScenarioPlanned(
                label=label,
                title=scenario.title,
                cases=size,
                varies=_varies(scenario),
                estimate=_estimate(size * rounds, declared_s, warm_up_s),
                chains=chains(suite, scenario),
                links=links(suite, scenario),
                search=finds.get(label),
                turns=turns.get(label),
            )
            for (label, scenario), size, rounds, declared_s in zip(
                suite.scenarios.items(), sizes, graph.rounds, graph.declared_by_group_s, strict=True
            )
        ),
        cases=(),
        order=(),
    )


def plan_json(plan: Plan, graph: RunGraph) -> Iterator[str]:
    """Yield the whole plan as JSON: its head, then a line for each case and each block."""
    head = plan.model_dump_json(exclude={"cases", "order"})
    yield f"{head.removesuffix('}')},"
    yield '"cases": ['
    cases = (
        CasePlanned(case=case.name, warm_up_s=case.warm_up_s, load_s=case.load_s)
        for case in graph.cases
    )
    yield from _separated(case.model_dump_json() for case in cases)
    yield '], "order": ['
    yield from _separated(step.model_dump_json() for step in _order(graph))
    yield "]}"


def _order(graph: RunGraph) -> Iterator[BlockPlanned]:
    for block, steps in groupby(graph.steps(), lambda step: step.block):
        pairs = [(step.number, step.seed) for step in steps]
        numbers, seeds = zip(*pairs, strict=True)
        yield BlockPlanned(block=block, cases=numbers, seeds=seeds)


def _separated(lines: Iterator[str]) -> Iterator[str]:
    last = next(lines, None)
    for line in lines:
        yield f"{last},"
        last = line
    if last is not None:
        yield last


def _noise_s(suite: Suite, graph: RunGraph) -> float:
    if not len(graph) or len(all_turns(suite)) == len(suite.scenarios):
        return 0.0  # servers in turns wait for no quiet, and noise repeats no trial
    patience = "off" if suite.smoke else suite.repeat.quiet
    return noise_s(graph.declared_s / len(graph), patience, smoke=suite.smoke)


def _estimate(trials: int, declared_s: float, warm_up_s: float, noise_s: float = 0.0) -> PlanTime:
    return PlanTime(
        warm_up_s=warm_up_s * trials,
        load_s=max(0.0, declared_s - warm_up_s * trials),
        start_and_stop_s=START_AND_STOP_S * trials,
        noise_s=noise_s,
    )


def _varies(scenario: Scenario) -> dict[str, tuple[JsonValue, ...]]:
    included = ({path: [value] for path, value in point.items()} for point in scenario.include)
    values_by_path: dict[str, dict[str, JsonValue]] = {}
    for path, values in chain(scenario.vary.items(), *(axes.items() for axes in included)):
        values_by_path.setdefault(path, {}).update((json.dumps(value), value) for value in values)
    return {path: tuple(values.values()) for path, values in values_by_path.items()}


def chains(suite: Suite, scenario: Scenario) -> tuple[Chain, ...]:
    """Return a chain for each server: several where the parts behind it vary."""
    backends = _parts(suite, "backends", "backend", scenario.backends)
    drivers = _parts(suite, "loaders", "loader", scenario.loaders)
    drivers += _parts(suite, "clients", "loader", scenario.clients)
    started = dict.fromkeys(
        (*behind(suite.servers[label], suite.servers, point), label)
        for label in scenario.servers
        for point in _points(suite, scenario)
    )
    return tuple(
        Chain(
            starts=(
                *backends,
                *_parts(suite, "servers", "upstream", upstreams),
                *_parts(suite, "servers", "server", [server]),
            ),
            drivers=drivers,
        )
        for *upstreams, server in started
    )


def links(suite: Suite, scenario: Scenario) -> tuple[PartLink, ...]:
    """Return the links of a scenario at any point, each once."""
    distinct: dict[tuple[str, str], PartLink] = {}
    for link in _links(suite, scenario):
        distinct.setdefault((link.source, link.target), link)
    return tuple(distinct.values())


def _links(suite: Suite, scenario: Scenario) -> Iterator[PartLink]:
    for kind in _DRIVERS:
        for name in getattr(scenario, kind):
            for server in scenario.servers:
                yield PartLink(source=f"{kind}.{name}", target=f"servers.{server}", relation="asks")
    for point in _points(suite, scenario):
        for label in scenario.servers:
            for server in (label, *behind(suite.servers[label], suite.servers, point)):
                part = cast("Server", part_at(suite.servers[server], "servers", point))
                source, upstreams = f"servers.{server}", part.upstreams()
                for target in map("servers.{}".format, upstreams):
                    yield PartLink(source=source, target=target, relation="passes on to")
                for target in map("backends.{}".format, () if upstreams else scenario.backends):
                    yield PartLink(source=source, target=target, relation="may use")


def _points(suite: Suite, scenario: Scenario) -> Iterable[Point]:
    """Return the points in all axes that decide which parts stand behind a server."""
    return projected(scenario, leading(scenario, suite.servers))


def _parts(suite: Suite, key: Place, role: Role, labels: Iterable[str]) -> tuple[PartPlanned, ...]:
    uses = getattr(suite, key)
    return tuple(
        PartPlanned(
            place=key,
            label=label,
            use=declared.part.name,
            ref=declared.part.ref if isinstance(declared.part, ServesCode) else None,
            host=" and ".join(suite.hosts_of(role, declared)) or None,
        )
        for label in labels
        for declared in [uses[label]]
    )
