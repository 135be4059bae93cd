"""A plan as a model, and as JSON that is written piece by piece: it may have many cases."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import cast

from pydantic import JsonValue

from benchforge.cli.suites.plan.plan import (
    BlockPlanned,
    CasePlanned,
    Chain,
    DurationEstimate,
    PartLink,
    PartPlanned,
    Place,
    Plan,
    ScenarioPlanned,
)
from benchforge.model.trial.observation import Role
from benchforge.model.values.distribution import own_version
from benchforge.parts.part import Server, ServesCode
from benchforge.run.remaining import noise_s
from benchforge.suite.matrix import Point, part_at, projected
from benchforge.suite.plan import START_AND_STOP_S, RunGraph
from benchforge.suite.scenarios.search import finds_of
from benchforge.suite.scenarios.turns import all_turns
from benchforge.suite.scenarios.upstreams import behind, leading
from benchforge.suite.suite import Scenario, Suite

_DRIVERS: tuple[Place, ...] = ("loaders", "clients")


def planned(suite: Suite, graph: RunGraph, drawn: bool) -> Plan:
    """Return the plan without its cases and their order, which are in the graph.

    `drawn` says that nobody chose the seed.
    """
    warm_up_s = float(suite.repeat.warmup)
    sizes = map(len, graph.cases.groups)
    finds, turns = finds_of(suite), all_turns(suite)
    return Plan(
        name=suite.name,
        title=suite.title,
        benchforge=own_version(),
        profile=suite.profile,
        smoke=suite.smoke,
        settings=dict(suite.settings),
        only=suite.only,
        claims=_claims(suite),
        suite_sha256=hashlib.sha256(suite.text.encode()).hexdigest(),
        seed=graph.seed,
        seed_drawn=drawn,
        blocks=graph.blocks,
        until=graph.until,
        trials=len(graph),
        estimate=_estimate(len(graph), graph.declared_s, warm_up_s).model_copy(
            update={"noise_s": _noise_s(suite, graph)}
        ),
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
                suite.scenarios.items(),
                sizes,
                graph.rounds,
                graph.declared_by_group_s,
                strict=True,
            )
        ),
        cases=(),
        order=(),
    )


def _claims(suite: Suite) -> dict[str, int]:
    asked_claims = suite.claims_to_test
    return {
        claim.label: len(claim.instances) if claim in asked_claims else 0 for claim in suite.claims
    }


def plan_json(plan: Plan, graph: RunGraph) -> Iterator[str]:
    """Yield the whole plan as JSON: its head, then a line for each case and each block."""
    head = plan.model_dump_json(exclude={"cases", "order"})
    yield f"{head.removesuffix('}')},"
    yield '"cases": ['
    yield from _separated(one.model_dump_json() for one in _cases(graph))
    yield '], "order": ['
    yield from _separated(one.model_dump_json() for one in _order(graph))
    yield "]}"


def _cases(graph: RunGraph) -> Iterator[CasePlanned]:
    for case in graph.cases:
        yield CasePlanned(case=case.name, warm_up_s=case.warm_up_s, load_s=case.load_s)


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


def _estimate(trials: int, declared_s: float, warm_up_s: float) -> DurationEstimate:
    return DurationEstimate(
        warm_up_s=warm_up_s * trials,
        load_s=max(0.0, declared_s - warm_up_s * trials),
        start_and_stop_s=START_AND_STOP_S * trials,
    )


def _varies(scenario: Scenario) -> dict[str, tuple[JsonValue, ...]]:
    included = ({path: [value] for path, value in point.items()} for point in scenario.include)
    values_by_path: dict[str, dict[str, JsonValue]] = {}
    for path, values in chain(scenario.vary.items(), *(one.items() for one in included)):
        values_by_path.setdefault(path, {}).update((json.dumps(value), value) for value in values)
    return {path: tuple(values.values()) for path, values in values_by_path.items()}


def chains(suite: Suite, scenario: Scenario) -> tuple[Chain, ...]:
    """Return what starts for each server: several times where what stands behind it varies."""
    backends = _parts(suite, "backends", "backend", scenario.backends)
    drivers = (
        one
        for place in _DRIVERS
        for one in _parts(suite, place, "loader", getattr(scenario, place))
    )
    asking = tuple(drivers)
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
            drivers=asking,
        )
        for *upstreams, server in started
    )


def links(suite: Suite, scenario: Scenario) -> tuple[PartLink, ...]:
    """Return who turns to whom at any point, each link once."""
    distinct: dict[tuple[str, str], PartLink] = {}
    for link in _links(suite, scenario):
        distinct.setdefault((link.source, link.target), link)
    return tuple(distinct.values())


def _links(suite: Suite, scenario: Scenario) -> Iterator[PartLink]:
    for place in _DRIVERS:
        for driver in getattr(scenario, place):
            for server in scenario.servers:
                yield PartLink(
                    source=f"{place}.{driver}", target=f"servers.{server}", relation="asks"
                )
    for point in _points(suite, scenario):
        for label in scenario.servers:
            for server in (label, *behind(suite.servers[label], suite.servers, point)):
                part = cast("Server", part_at(suite.servers[server], "servers", point))
                for upstream in part.upstreams():
                    target = f"servers.{upstream}"
                    yield PartLink(
                        source=f"servers.{server}", target=target, relation="passes on to"
                    )
                for backend in () if part.upstreams() else scenario.backends:
                    target = f"backends.{backend}"
                    yield PartLink(source=f"servers.{server}", target=target, relation="may use")


def _points(suite: Suite, scenario: Scenario) -> Iterable[Point]:
    """Yield what the points say of all that decides what stands behind a server."""
    return projected(scenario, leading(scenario, suite.servers))


def _parts(
    suite: Suite, place: Place, role: Role, labels: Iterable[str]
) -> tuple[PartPlanned, ...]:
    uses = getattr(suite, place)
    return tuple(
        PartPlanned(
            place=place,
            label=label,
            use=declared.part.name,
            ref=declared.part.ref if isinstance(declared.part, ServesCode) else None,
            host=" and ".join(suite.hosts_of(role, declared)) or None,
        )
        for label in labels
        for declared in [uses[label]]
    )
