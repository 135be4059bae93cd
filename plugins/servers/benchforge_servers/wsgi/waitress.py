"""waitress: one process, one thread for all connections and some for the app."""

from typing import ClassVar

from pydantic import PositiveInt

from benchforge.plugin import Command, Duration, Server, Site, hookimpl
from benchforge_servers.app_server import AppServer
from benchforge_servers.seconds import WholeSeconds


class Waitress(AppServer):
    """A WSGI app, served by waitress in a single process.

    Good to know: above `connection_limit` connections nothing more is accepted until some end.
    An idle connection is closed `channel_timeout` after its last byte, seen every 30 s.
    Its warnings of requests that wait for a thread are not printed: there is one for each.
    """

    name: ClassVar[str] = "waitress"

    speaks: ClassVar[tuple[str, ...]] = ("wsgi",)
    modules: ClassVar[tuple[str, ...]] = ("waitress",)

    threads: PositiveInt = 4
    "That run the app."
    connection_limit: PositiveInt = 100
    "With more, nothing is accepted until some end."
    channel_timeout: WholeSeconds = Duration(120)
    "After how long an idle connection is closed."
    backlog: PositiveInt = 1024
    "Connections that wait to be taken; the kernel cuts it to net.core.somaxconn."

    def command(self, site: Site) -> Command | None:
        """Return the runner, which works in the app's folder and imports from there first."""
        return self.run_by(
            *("waitress_main.py", site, "--threads", self.threads, "--backlog", self.backlog),
            *("--connection-limit", self.connection_limit),
            *("--channel-timeout", self.channel_timeout),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Waitress]
