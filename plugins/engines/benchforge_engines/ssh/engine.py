"""The entry point of the engine `ssh`."""

import contextlib
from collections.abc import Callable, Iterator

from benchforge.graph import RunGraph
from benchforge.suite.suite import Suite
from benchforge_engines.sitting.sitting import HostSitting
from benchforge_engines.ssh.connection import Losses, SshConnection


@contextlib.contextmanager
def engine(suite: Suite, graph: RunGraph, tell: Callable[[str], None]) -> Iterator[HostSitting]:
    """Connect the hosts of a suite while a run lasts."""
    sitting = HostSitting(
        suite, graph, lambda label, losses: SshConnection(label, suite.hosts[label], losses), Losses
    )
    with contextlib.closing(sitting):
        sitting.begin(tell)
        yield sitting
