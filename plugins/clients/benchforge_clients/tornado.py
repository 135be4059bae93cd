"""Tornado's two clients."""

from typing import ClassVar, Literal

from benchforge_clients.library import Library


class TornadoClient(Library):
    """Tornado's AsyncHTTPClient, with `concurrency` tasks and as many concurrent requests.

    `simple` is the client that study WS calls native; it opens a connection for each request.
    `curl` uses libcurl, which reuses connections. libcurl reports the sockets that it opens, so
    after an error the number of connections is unknown.
    """

    name: ClassVar[str] = "tornado"
    driver: ClassVar[str] = "tornado_main.py"
    keeping_modes: ClassVar[tuple[str, ...] | None] = ("curl",)
    modules: ClassVar[tuple[str, ...]] = ("tornado",)

    mode: Literal["simple", "curl"] = "simple"
    "Client class of tornado."

    def imports(self) -> tuple[str, ...]:
        return (*self.modules, "pycurl") if self.mode == "curl" else self.modules
