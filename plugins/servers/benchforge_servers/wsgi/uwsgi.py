"""uWSGI, over HTTP or over the protocol of its own."""

import signal
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import Accepts, Command, Probe, Site, WrongOption
from benchforge_servers.python.listening import ListeningServer
from benchforge_servers.seconds import WholeSeconds


class Uwsgi(ListeningServer):
    """A WSGI app, served by uWSGI's processes and threads; CPython only.

    With `protocol = "uwsgi"`, only a proxy can send requests to it.

    Good to know: uWSGI does not start if `backlog` is above net.core.somaxconn. Over HTTP it
    closes each connection and announces that (by default it does not, and load tools count an
    error each time). `keep_alive` keeps HTTP/1.1 connections: each then occupies a process or
    thread, even if idle, so further connections wait. `ab -k`, which speaks HTTP/1.0, reuses none.
    uWSGI rejects requests whose head is larger than `buffer_size`.
    """

    name: ClassVar[str] = "uwsgi"

    # Its master takes a second to end, whatever the signal.
    stop_signal: ClassVar[signal.Signals] = signal.SIGKILL

    speaks: ClassVar[tuple[str, ...]] = ("wsgi",)
    modules: ClassVar[tuple[str, ...]] = ("pyuwsgi",)

    protocol: Literal["http", "uwsgi"] = "http"
    "Protocol of the socket. With uwsgi, the server needs a proxy in front of it."
    processes: PositiveInt = 2
    "Number of worker processes."
    threads: PositiveInt = 1
    "Number of threads in each process."
    keep_alive: bool = False
    "Reuse of HTTP/1.1 connections."
    harakiri: WholeSeconds | None = None
    "Time after which uWSGI kills the process of a request. Default: never."
    buffer_size: Annotated[int, Field(ge=4096, le=65535)] = 4096
    "Maximum size of a request's head in bytes."
    backlog: PositiveInt = 100
    """Length of the queue of connections that the server has not accepted yet. Above \
net.core.somaxconn, uWSGI does not start."""

    @model_validator(mode="after")
    def _keeps_over_http(self) -> Self:
        if self.keep_alive and self.protocol == "uwsgi":
            raise WrongOption("the protocol uwsgi keeps no connections", "keep_alive", "protocol")
        return self

    def behind_proxy_only(self) -> bool:
        return self.protocol == "uwsgi" or super().behind_proxy_only()

    def ready(self, site: Site) -> Probe:
        if self.protocol == "uwsgi" and self.listen == "tcp":
            return Accepts("http")
        return super().ready(site)

    def gives(self, site: Site) -> Mapping[str, str]:
        if self.protocol == "http":
            return super().gives(site)
        return {"uwsgi": self.bound(site)}

    def command(self, site: Site) -> Command | None:
        """Return uWSGI with a master, without a log of requests; the app's folder comes first."""
        address = self.socket(site) if self.listen == "unix" else f"{site.address}:{site.port}"
        words = [
            f"--{self._socket_option()}={address}",
            "--master",
            "--need-app",
            "--die-on-term",  # it would reload
            "--disable-logging",
            *self.words("processes", "threads", "buffer_size", "harakiri"),
            f"--listen={self.backlog}",
            f"--chdir={self.folder(site)}",
            f"--pythonpath={self.folder(site)}",
        ]
        if self.protocol == "http" and not self.keep_alive:
            words.append("--add-header=Connection: close")
        # The module is the whole program: it has no `-m`.
        return Command(
            *(site.python, "-c", "import pyuwsgi; pyuwsgi.run()"),
            *(*words, f"--module={self.served_app.target}"),
            environment=self.process_environment(site),
        )

    def _socket_option(self) -> str:
        if self.protocol == "uwsgi":
            return "uwsgi-socket"
        return "http11-socket" if self.keep_alive else "http-socket"
