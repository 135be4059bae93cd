"""uWSGI, over HTTP or over the protocol of its own."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import Accepts, Command, Probe, Server, Site, WrongOption, hookimpl
from benchforge_servers.listening import ListeningServer
from benchforge_servers.seconds import WholeSeconds


class Uwsgi(ListeningServer):
    """A WSGI app, served by uWSGI's processes and threads; CPython only.

    With `protocol = "uwsgi"` it is asked by a proxy before it, and by nobody else.

    Good to know: it refuses to start when `backlog` is above net.core.somaxconn. Over HTTP it
    closes each connection and says so (by itself it would not say so, and load tools count that as
    an error each). `keep_alive` keeps connections of HTTP/1.1: a process or thread is then taken by
    each, idle or not, so more connections than those wait; `ab -k`, of HTTP/1.0, keeps nothing.
    Requests whose head is above `buffer_size` are refused.
    """

    name: ClassVar[str] = "uwsgi"

    speaks: ClassVar[tuple[str, ...]] = ("wsgi",)
    modules: ClassVar[tuple[str, ...]] = ("pyuwsgi",)

    protocol: Literal["http", "uwsgi"] = "http"
    "What it speaks; uwsgi is for a proxy before it."
    processes: PositiveInt = 2
    "Processes that answer."
    threads: PositiveInt = 1
    "Of each process."
    keep_alive: bool = False
    "Whether connections of HTTP/1.1 are kept."
    harakiri: WholeSeconds | None = None
    "After how long a request's process is killed; never without it."
    buffer_size: Annotated[int, Field(ge=4096, le=65535)] = 4096
    "Bytes of a request's head."
    backlog: PositiveInt = 100
    "Connections that wait to be taken; at most net.core.somaxconn, or it does not start."

    @model_validator(mode="after")
    def _keeps_over_http(self) -> Self:
        if self.keep_alive and self.protocol == "uwsgi":
            raise WrongOption("the protocol uwsgi keeps no connections", "keep_alive", "protocol")
        return self

    def behind_proxy_only(self) -> bool:
        """Whether it speaks its own protocol, or is on a unix socket."""
        return self.protocol == "uwsgi" or super().behind_proxy_only()

    def ready(self, site: Site) -> Probe:
        """Return a connection where HTTP is not spoken."""
        if self.protocol == "uwsgi" and self.listen == "tcp":
            return Accepts("http")
        return super().ready(site)

    def gives(self, site: Site) -> Mapping[str, str]:
        """Return the url, the unix socket, or where its own protocol is spoken."""
        if self.protocol == "http":
            return super().gives(site)
        return {"uwsgi": self.bound(site)}

    def command(self, site: Site) -> Command | None:
        """Return uWSGI with a master, without a log of requests; the app's folder comes first."""
        at = self.socket(site) if self.listen == "unix" else f"{site.address}:{site.port}"
        words = [
            f"--{self._socket_option()}={at}",
            "--master",
            "--need-app",
            "--die-on-term",  # it would reload
            "--disable-logging",
            f"--processes={self.processes}",
            f"--threads={self.threads}",
            f"--listen={self.backlog}",
            f"--buffer-size={self.buffer_size}",
            f"--chdir={self.folder(site)}",
            f"--pythonpath={self.folder(site)}",
        ]
        if self.protocol == "http" and not self.keep_alive:
            words.append("--add-header=Connection: close")
        if self.harakiri is not None:
            words.append(f"--harakiri={self.harakiri}")
        # The module is the whole program: it has no `-m`.
        return Command(
            *(site.python, "-c", "import pyuwsgi; pyuwsgi.run()"),
            *(*words, f"--module={self.known.target}"),
            environment=self.told(site),
        )

    def _socket_option(self) -> str:
        if self.protocol == "uwsgi":
            return "uwsgi-socket"
        return "http11-socket" if self.keep_alive else "http-socket"


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Uwsgi]
