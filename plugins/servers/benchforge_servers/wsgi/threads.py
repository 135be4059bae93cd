"""A thread for each connection, with Python alone."""

from typing import ClassVar

from benchforge.plugin import Command, Site
from benchforge_servers.python.app_server import AppServer


class ThreadsServer(AppServer):
    """A socket app, with a new thread for each connection.

    Good to know: only the clients' connections limit the number of threads.
    """

    name: ClassVar[str] = "threads"

    speaks: ClassVar[tuple[str, ...]] = ("socket",)
    modules: ClassVar[tuple[str, ...]] = ()

    def command(self, site: Site) -> Command | None:
        return self.run_by("threads_main.py", site)
