"""cheroot: the server inside of CherryPy, alone."""

from typing import ClassVar

from pydantic import NonNegativeInt, PositiveInt

from benchforge.plugin import Command, Duration, Site
from benchforge_servers.python.app_server import AppServer


class Cheroot(AppServer):
    """A WSGI app, served by cheroot with threads in a single process.

    Good to know: cheroot keeps at most `keep_alive_connections` open, whatever the client
    requests. It closes other connections after each answer; with 0, all of them. With a `backlog`
    of 5, a burst of connections waits one second for the kernel's next attempt. If an app sets no
    Content-Length, cheroot answers in chunks, or closes an HTTP/1.0 connection: `ab -k` then
    reuses none.
    """

    name: ClassVar[str] = "cheroot"

    speaks: ClassVar[tuple[str, ...]] = ("wsgi",)
    modules: ClassVar[tuple[str, ...]] = ("cheroot",)

    threads: PositiveInt = 10
    "Number of threads that run the app."
    keep_alive_connections: NonNegativeInt = 10
    "Maximum number of connections that are kept open. Others are closed after each answer."
    timeout: Duration = Duration(10)
    "Time until an idle connection is closed."
    backlog: PositiveInt = 5

    def command(self, site: Site) -> Command | None:
        words = self.words("threads", "timeout", "keep_alive_connections")
        return self.run_by("cheroot_main.py", site, *words)
