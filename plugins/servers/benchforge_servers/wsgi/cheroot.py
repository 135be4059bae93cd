"""cheroot: the server inside of CherryPy, alone."""

from typing import ClassVar

from pydantic import NonNegativeInt, PositiveInt

from benchforge.plugin import Command, Duration, Server, Site, hookimpl
from benchforge_servers.app_server import AppServer


class Cheroot(AppServer):
    """A WSGI app, served by cheroot with threads in a single process.

    Good to know: no more than `keep_alive_connections` are kept, whatever the client asks for: the
    others are closed after each answer, and with 0 all are. A `backlog` of 5 lets a burst of
    connections wait a second for the kernel's next try. An app that gives no Content-Length is
    answered in chunks, or to HTTP/1.0 by closing: `ab -k` then keeps nothing.
    """

    name: ClassVar[str] = "cheroot"

    speaks: ClassVar[tuple[str, ...]] = ("wsgi",)
    modules: ClassVar[tuple[str, ...]] = ("cheroot",)

    threads: PositiveInt = 10
    "That run the app."
    keep_alive_connections: NonNegativeInt = 10
    "As many connections are kept at most; the others are closed after each answer."
    timeout: Duration = Duration(10)
    "After how long an idle connection is closed."
    backlog: PositiveInt = 5
    "Connections that wait to be taken; the kernel cuts it to net.core.somaxconn."

    def command(self, site: Site) -> Command | None:
        """Return the runner, which works in the app's folder and imports from there first."""
        return self.run_by(
            *("cheroot_main.py", site, "--threads", self.threads, "--backlog", self.backlog),
            *("--timeout", self.timeout),
            *("--keep-alive-connections", self.keep_alive_connections),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Cheroot]
