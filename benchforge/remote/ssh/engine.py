"""The entry point of the engine `ssh`."""

import contextlib
import shlex
from collections.abc import Callable, Iterator
from functools import partial

from benchforge.remote.calls import Losses, PipeConnection
from benchforge.remote.session.session import hosts_of_run
from benchforge.remote.ssh.connection import SshPipe
from benchforge.suite.suite import Suite


@contextlib.contextmanager
def connecting(suite: Suite) -> Iterator[Callable[[str, Losses], PipeConnection]]:
    """Give what connects a host by its label."""

    def connect(label: str, losses: Losses) -> PipeConnection:
        table = suite.hosts[label]
        hint = f"try: ssh {shlex.quote(str(table.ssh))} true"
        return PipeConnection(label, SshPipe(table), losses, hint)

    yield connect


engine = partial(hosts_of_run, connecting)
