"""Trials on several hosts: an engine runs them, ours or that of another package."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Protocol

from benchforge.errors import Unusable
from benchforge.model.values.distribution import entry_points
from benchforge.run.trial.context import TrialContext
from benchforge.suite.cases.parts import uses_hosts
from benchforge.suite.measuring.tables import ENGINES
from benchforge.suite.plan import RunGraph
from benchforge.suite.suite import Suite


class ConnectedHosts(Protocol):
    """Hosts that are connected, and ready for trials."""

    def added_to(self, context: TrialContext) -> TrialContext:
        """Return the context with the hosts, what is known of them, and what measures there."""
        ...


Engine = Callable[
    [Suite, RunGraph, Callable[[str], None]], contextlib.AbstractContextManager[ConnectedHosts]
]
"Connects the hosts of a suite; its third argument hears what it does."


@contextlib.contextmanager
def on_hosts(
    suite: Suite, graph: RunGraph, context: TrialContext, tell: Callable[[str], None]
) -> Iterator[TrialContext]:
    """Give the context its hosts while a run lasts, if a part has one.

    Raises Unusable without an engine, and what the engine raises.
    """
    if not uses_hosts(suite):
        yield context
        return
    # Most runs have one host: nothing of an engine is imported for them.
    from benchforge.remote.session.session import HostSession  # noqa: PLC0415 - as above
    from benchforge.remote.session.trial import measure  # noqa: PLC0415 - as above

    with _engine(suite.engine.use)(suite, graph, tell) as session:
        added = session.added_to(context)
        if isinstance(session, HostSession):
            added = replace(added, elsewhere=partial(measure, session))
        yield added


def _engine(name: str) -> Engine:
    if name == "ssh":
        from benchforge.remote.ssh.engine import engine  # noqa: PLC0415 - as above
    elif name == "dask":
        from benchforge.remote.dask.engine import engine  # noqa: PLC0415 - as above
    elif points := tuple(entry_points(ENGINES).select(name=name)):
        engine = points[0].load()
    else:
        raise Unusable(f"no engine {name!r} is installed, which hosts need", "install its package")
    return engine
