"""A plan as a model, and as JSON that is written piece by piece: it may have many cases."""

import hashlib
import importlib.metadata
import json
from collections.abc import Iterator
from itertools import chain, groupby

from pydantic import JsonValue

from benchforge.graph import START_AND_STOP_S, RunGraph
from benchforge.model.plan import BlockPlanned, CasePlanned, Estimate, Plan, ScenarioPlanned
from benchforge.suite.chains import chains, links
from benchforge.suite.find import finds_of
from benchforge.suite.suite import Scenario, Suite


def planned(suite: Suite, graph: RunGraph, drawn: bool) -> Plan:
    """Return the plan without its cases and their order, which are in the graph.

    `drawn` says that nobody chose the seed.
    """
    warm_up_s = float(suite.repeat.warmup)
    sizes = map(len, graph.cases.groups)
    finds = finds_of(suite)
    return Plan(
        name=suite.name,
        title=suite.title,
        benchforge=importlib.metadata.version("benchforge"),
        profile=suite.profile,
        smoke=suite.smoke,
        settings=dict(suite.settings),
        only=suite.only,
        claims=_claims(suite),
        suite_sha256=hashlib.sha256(suite.text.encode()).hexdigest(),
        seed=graph.seed,
        drawn=drawn,
        blocks=graph.blocks,
        until=graph.until,
        trials=len(graph),
        estimate=_estimate(len(graph), graph.declared_s, warm_up_s),
        scenarios=tuple(
            ScenarioPlanned(
                label=label,
                title=scenario.title,
                cases=size,
                varies=_varies(scenario),
                estimate=_estimate(size * rounds, declared_s, warm_up_s),
                chains=chains(suite, scenario),
                links=links(suite, scenario),
                find=finds.get(label),
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
    asked = suite.asked
    return {claim.label: len(claim.asked) if claim in asked else 0 for claim in suite.claims}


def as_json(plan: Plan, graph: RunGraph) -> Iterator[str]:
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
        yield CasePlanned(case=case.name, warm_up_s=case.warm_up_s, load_s=case.driver.declared_s())


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


def _estimate(trials: int, declared_s: float, warm_up_s: float) -> Estimate:
    return Estimate(
        warm_up_s=warm_up_s * trials,
        load_s=max(0.0, declared_s - warm_up_s * trials),
        start_and_stop_s=START_AND_STOP_S * trials,
    )


def _varies(scenario: Scenario) -> dict[str, tuple[JsonValue, ...]]:
    included = ({path: [value] for path, value in point.items()} for point in scenario.include)
    found: dict[str, dict[str, JsonValue]] = {}
    for path, values in chain(scenario.vary.items(), *(one.items() for one in included)):
        found.setdefault(path, {}).update((json.dumps(value), value) for value in values)
    return {path: tuple(values.values()) for path, values in found.items()}
