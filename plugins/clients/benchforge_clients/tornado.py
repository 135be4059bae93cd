"""Tornado's two clients."""

from typing import ClassVar, Literal

from benchforge.plugin import Client, hookimpl
from benchforge_clients.library import Library


class Tornado(Library):
    """Tornado's AsyncHTTPClient, with `concurrency` tasks and as many requests at once.

    `simple` is what study WS calls native; it opens a connection for each request. `curl` is the
    one by libcurl, which reuses them; libcurl tells of the sockets that it opens, so after an
    error the number of connections is not known.
    """

    name: ClassVar[str] = "tornado"
    driver: ClassVar[str] = "tornado_main.py"
    modules: ClassVar[tuple[str, ...]] = ("tornado",)

    mode: Literal["simple", "curl"] = "simple"
    "Which of its two clients."

    def chosen_mode(self) -> str:
        """Return the mode."""
        return self.mode

    def connections_kept(self) -> bool:
        """Whether a connection is for several requests."""
        return self.mode == "curl"

    def imports(self) -> tuple[str, ...]:
        """Return what the driver imports with these options."""
        return (*self.modules, "pycurl") if self.mode == "curl" else self.modules


@hookimpl
def benchforge_parts() -> list[type[Client]]:
    """Bring the client."""
    return [Tornado]
