"""hypercorn, with the worker class that the suite chooses."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import PositiveInt

from benchforge.plugin import Command, Site
from benchforge_servers.python.listening import ListeningServer
from benchforge_servers.seconds import WholeSeconds


class Hypercorn(ListeningServer):
    """An ASGI app, served by hypercorn.

    Good to know: workers are processes of a supervisor, even a single one. "trio" needs an app
    that does not use asyncio. If hypercorn cannot import the app, it prints the reason and exits
    with 0.
    """

    name: ClassVar[str] = "hypercorn"

    speaks: ClassVar[tuple[str, ...]] = ("asgi",)
    modules: ClassVar[tuple[str, ...]] = ("hypercorn",)

    workers: PositiveInt = 1
    "Number of worker processes."
    worker_class: Literal["asyncio", "uvloop", "trio"] = "asyncio"
    "Event loop."
    keep_alive: WholeSeconds | None = None
    "Time until an idle connection is closed. Default: hypercorn's own."
    keep_alive_max_requests: PositiveInt | None = None
    "Number of requests after which a connection is closed. Default: hypercorn's own, 1000."
    backlog: PositiveInt = 100

    def imports(self) -> tuple[str, ...]:
        return (*self.modules, *({self.worker_class} - {"asyncio"}))

    def files(self, site: Site) -> Mapping[str, str]:
        """Return hypercorn's configuration of what its command line has no option for."""
        most = self.keep_alive_max_requests
        return {_toml(site): f"keep_alive_max_requests = {most}\n"} if most else {}

    def command(self, site: Site) -> Command | None:
        """Return hypercorn, which writes no access log by itself; it works in the app's folder."""
        words = self.words("workers", "worker_class", "backlog", "keep_alive")
        if self.keep_alive_max_requests is not None:
            words.append(f"--config={site.folder / _toml(site)}")
        return Command(
            *(site.python, "-m", "hypercorn", f"--bind={self.bound(site)}", *words),
            *("--log-level=warning", self.served_app.target),
            environment=self.process_environment(site),
            folder=self.folder(site),
        )


def _toml(site: Site) -> str:
    return f"server-{site.label}-hypercorn.toml"
