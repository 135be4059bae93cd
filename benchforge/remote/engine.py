"""Trials on several hosts: an engine, which a plugin brings, runs them."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Protocol

from benchforge.errors import Unusable
from benchforge.model.values.distribution import entry_points
from benchforge.run.trial.context import TrialContext
from benchforge.suite.cases.parts import uses_hosts
from benchforge.suite.measuring.hosts import ENGINES
from benchforge.suite.plan import RunGraph
from benchforge.suite.suite import Suite


class Sitting(Protocol):
    """Hosts that are connected, and ready for trials."""

    def added_to(self, context: TrialContext) -> TrialContext:
        """Return the context with the hosts, what is known of them, and what measures there."""
        ...


Engine = Callable[
    [Suite, RunGraph, Callable[[str], None]], contextlib.AbstractContextManager[Sitting]
]
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
    points = tuple(entry_points(ENGINES).select(name=suite.engine.use))
    if not points:
        hint = "repair the installation, in a clone: make setup"
        raise Unusable(f"no engine {suite.engine.use!r} is installed, which hosts need", hint)
    engine: Engine = points[0].load()
    with engine(suite, graph, tell) as sitting:
        yield sitting.added_to(context)
