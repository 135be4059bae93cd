"""Tornado's own server, for its own apps, for WSGI and for raw sockets."""

from typing import ClassVar, Self

from pydantic import PositiveInt, model_validator

from benchforge.plugin import Command, Site, WrongOption
from benchforge_servers.python.app_server import AppServer


class TornadoServer(AppServer):
    """A Tornado app, a WSGI app in a WSGIContainer, or a socket app on the event loop.

    Good to know: a WSGI app blocks the event loop, so each process answers one request at a time
    and other requests wait, unless `threads` is set. Django needs `threads`, because it refuses to
    query a database in an event loop. `processes` share one socket, and the kernel may give one of
    them more than its share. With 1, tornado does not fork.
    """

    name: ClassVar[str] = "tornado"

    speaks: ClassVar[tuple[str, ...]] = ("tornado", "wsgi", "socket")
    modules: ClassVar[tuple[str, ...]] = ("tornado",)
    shares_work: ClassVar[tuple[str, ...]] = ("processes", "threads")

    processes: PositiveInt = 1
    "Number of server processes. With 1, tornado does not fork."
    threads: PositiveInt | None = None
    """Number of threads that run a WSGI app in each process. Default: the app runs in the event \
loop."""
    keep_alive: bool = True
    "Reuse of connections. A socket app never reuses one."

    @model_validator(mode="after")
    def _threads_fit(self) -> Self:
        protocol = self.served_app.protocol
        if self.threads is not None and protocol not in {"wsgi", None}:
            message = f"threads are for WSGI apps, and {self.app!r} speaks {protocol}"
            raise WrongOption(message, "threads", "app")
        return self

    def command(self, site: Site) -> Command | None:
        words = self.words("processes", "keep_alive", "threads")
        return self.run_by("tornado_main.py", site, *words)
