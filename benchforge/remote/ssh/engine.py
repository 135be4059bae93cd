"""The entry point of the engine `ssh`."""

import contextlib
import shlex
from collections.abc import Callable, Iterator

from benchforge.remote.calls import Losses, PipeConnection
from benchforge.remote.session.session import HostSession, hosts_of_run
from benchforge.remote.ssh.connection import SshPipe
from benchforge.suite.plan import RunGraph
from benchforge.suite.suite import Suite


def engine(
    suite: Suite, graph: RunGraph, tell: Callable[[str], None]
) -> "contextlib.AbstractContextManager[HostSession]":
    """Connect the hosts of a suite while a run lasts."""
    return hosts_of_run(connecting, suite, graph, tell)


@contextlib.contextmanager
def connecting(suite: Suite) -> Iterator[Callable[[str, Losses], PipeConnection]]:
    """Give what connects a host by its label."""

    def connect(label: str, losses: Losses) -> PipeConnection:
        table = suite.hosts[label]
        hint = f"try: ssh {shlex.quote(str(table.ssh))} true"
        return PipeConnection(label, SshPipe(table), losses, hint)

    yield connect
