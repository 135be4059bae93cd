"""Tornado's own server, for its own apps, for WSGI and for raw sockets."""

from typing import ClassVar, Self

from pydantic import PositiveInt, model_validator

from benchforge.plugin import Command, Server, Site, WrongOption, hookimpl
from benchforge_servers.app_server import AppServer


class Tornado(AppServer):
    """A Tornado app, a WSGI app in a WSGIContainer, or a socket app on the event loop.

    Good to know: a WSGI app blocks the event loop, so each process answers one request at a time
    and the others wait, unless it is given `threads`; Django needs them, since it refuses to ask a
    database in an event loop. `processes` share one socket, and the kernel may give one of them
    more than its share. With 1 nothing is forked.
    """

    name: ClassVar[str] = "tornado"

    speaks: ClassVar[tuple[str, ...]] = ("tornado", "wsgi", "socket")
    modules: ClassVar[tuple[str, ...]] = ("tornado",)
    shares_work: ClassVar[tuple[str, ...]] = ("processes", "threads")

    processes: PositiveInt = 1
    "That answer; nothing is forked with 1."
    threads: PositiveInt | None = None
    "WSGI only: how many threads of each process run the app; the event loop itself without it."
    keep_alive: bool = True
    "Whether connections are kept; a socket app's never are."
    backlog: PositiveInt = 128
    "Connections that wait to be taken; the kernel cuts it to net.core.somaxconn."

    @model_validator(mode="after")
    def _threads_fit(self) -> Self:
        protocol = self.known.protocol
        if self.threads is not None and protocol not in {"wsgi", None}:
            message = f"threads are for WSGI apps, and {self.app!r} speaks {protocol}"
            raise WrongOption(message, "threads", "app")
        return self

    def command(self, site: Site) -> Command | None:
        """Return the runner, which works in the app's folder and imports from there first."""
        return self.run_by(
            *("tornado_main.py", site, "--processes", self.processes, "--backlog", self.backlog),
            *([] if self.keep_alive else ["--no-keep-alive"]),
            *([] if self.threads is None else ["--threads", self.threads]),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Tornado]
