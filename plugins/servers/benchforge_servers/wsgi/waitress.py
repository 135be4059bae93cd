"""waitress: one process, one thread for all connections and some for the app."""

from typing import ClassVar

from pydantic import PositiveInt

from benchforge.plugin import Command, Duration, Site
from benchforge_servers.python.app_server import AppServer
from benchforge_servers.seconds import WholeSeconds


class Waitress(AppServer):
    """A WSGI app, served by waitress in a single process.

    Good to know: above `connection_limit` connections, waitress accepts no more until others
    close. It closes an idle connection `channel_timeout` after its last byte, and checks every 30
    s. Its warnings about requests that wait for a thread are off: there would be one for each
    request.
    """

    name: ClassVar[str] = "waitress"

    speaks: ClassVar[tuple[str, ...]] = ("wsgi",)
    modules: ClassVar[tuple[str, ...]] = ("waitress",)

    threads: PositiveInt = 4
    "Number of threads that run the app."
    connection_limit: PositiveInt = 100
    """Maximum number of open connections. Above it, waitress accepts no connection until others \
close."""
    channel_timeout: WholeSeconds = Duration(120)
    "Time until an idle connection is closed."
    backlog: PositiveInt = 1024

    def command(self, site: Site) -> Command | None:
        words = self.words("threads", "connection_limit", "channel_timeout")
        return self.run_by("waitress_main.py", site, *words)
