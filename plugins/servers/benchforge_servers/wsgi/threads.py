"""A thread for each connection, with Python alone."""

from typing import ClassVar

from pydantic import PositiveInt

from benchforge.plugin import Command, Server, Site, hookimpl
from benchforge_servers.app_server import AppServer


class Threads(AppServer):
    """A socket app, answered by a new thread for each connection.

    Good to know: nothing bounds the threads but the clients' connections.
    """

    name: ClassVar[str] = "threads"

    speaks: ClassVar[tuple[str, ...]] = ("socket",)
    modules: ClassVar[tuple[str, ...]] = ()

    backlog: PositiveInt = 128
    "Connections that wait to be taken; the kernel cuts it to net.core.somaxconn."

    def command(self, site: Site) -> Command | None:
        """Return the runner, which works in the app's folder and imports from there first."""
        return self.run_by("threads_main.py", site, "--backlog", self.backlog)


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Threads]
