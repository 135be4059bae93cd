"""hypercorn, with the worker class that the suite chooses."""

from typing import ClassVar, Literal

from pydantic import PositiveInt

from benchforge.plugin import Command, Server, Site, hookimpl
from benchforge_servers.listening import ListeningServer
from benchforge_servers.seconds import WholeSeconds


class Hypercorn(ListeningServer):
    """An ASGI app, served by hypercorn.

    Good to know: workers are processes of a supervisor, one of them too. "trio" wants an app that
    does without asyncio. When the app cannot be imported it ends with exit code 0, its reason told.
    """

    name: ClassVar[str] = "hypercorn"

    speaks: ClassVar[tuple[str, ...]] = ("asgi",)
    modules: ClassVar[tuple[str, ...]] = ("hypercorn",)

    workers: PositiveInt = 1
    "Processes that answer."
    worker_class: Literal["asyncio", "uvloop", "trio"] = "asyncio"
    "The event loop."
    keep_alive: WholeSeconds | None = None
    "How long an idle connection is kept; hypercorn's own default without it."
    backlog: PositiveInt = 100
    "Connections that wait to be taken; the kernel cuts it to net.core.somaxconn."

    def imports(self) -> tuple[str, ...]:
        """Return hypercorn, and the loop that is named."""
        named = () if self.worker_class == "asyncio" else (self.worker_class,)
        return (*self.modules, *named)

    def command(self, site: Site) -> Command | None:
        """Return hypercorn, which writes no access log by itself; it works in the app's folder."""
        words = [
            f"--bind={self.bound(site)}",
            f"--workers={self.workers}",
            f"--worker-class={self.worker_class}",
            f"--backlog={self.backlog}",
            "--log-level=warning",
        ]
        if self.keep_alive is not None:
            words.append(f"--keep-alive={self.keep_alive}")
        return Command(
            *(site.python, "-m", "hypercorn", *words, self.known.target),
            environment=self.told(site),
            folder=self.folder(site),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Hypercorn]
