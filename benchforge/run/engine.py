"""Trials on several hosts: an engine, which a plugin brings, runs them."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

from pydantic import JsonValue

from benchforge.errors import Unusable
from benchforge.graph import RunGraph
from benchforge.model.trial.hosts import HostFacts
from benchforge.model.values.distribution import entry_points
from benchforge.run.trial.context import MeasureElsewhere, TrialContext
from benchforge.suite.cases.parts import uses_hosts
from benchforge.suite.measuring.hosts import ENGINES
from benchforge.suite.suite import Suite


class Sitting(Protocol):
    """Hosts that are connected, and ready for trials."""

    hosts: Mapping[str, HostFacts]
    facts: Mapping[str, JsonValue]
    "Facts about the host of the servers, and under `hosts` the hard facts of all."
    versions: Mapping[str, str]
    "Version that each part's program reports."
    measure: MeasureElsewhere


Engine = Callable[[Suite, RunGraph, Callable[[str], None]], AbstractContextManager[Sitting]]
"Connects the hosts of a suite; its third argument hears what it does."


@contextlib.contextmanager
def on_hosts(
    suite: Suite, graph: RunGraph, context: TrialContext, tell: Callable[[str], None]
) -> Iterator[TrialContext]:
    """Give the context its hosts while a run lasts; the same context where no part has a host.

    Raises Unusable without an engine, and what the engine raises.
    """
    if not uses_hosts(suite):
        yield context
        return
    name = suite.engine.use
    points = tuple(entry_points(ENGINES).select(name=name))
    if not points:
        hint = "repair the installation, in a clone: make setup"
        raise Unusable(f"no engine {name!r} is installed, which hosts need", hint)
    engine: Engine = points[0].load()
    with engine(suite, graph, tell) as sitting:
        yield replace(
            context,
            elsewhere=sitting.measure,
            hosts=sitting.hosts,
            facts=sitting.facts,
            versions=sitting.versions,
        )
