"""uvicorn, with the event loop and the parser that the suite chooses."""

from typing import ClassVar, Literal

from pydantic import PositiveInt

from benchforge.plugin import Command, Server, Site, hookimpl
from benchforge_servers.module_server import ModuleServer
from benchforge_servers.seconds import WholeSeconds


class Uvicorn(ModuleServer):
    """An ASGI app, served by uvicorn.

    Good to know: "auto" takes uvloop and httptools where they are installed, so two interpreters
    may differ in more than themselves; name them to compare. Connections of HTTP/1.0 are always
    closed: `ab -k` measures connecting. More than one worker are processes of a supervisor.
    """

    name: ClassVar[str] = "uvicorn"

    speaks: ClassVar[tuple[str, ...]] = ("asgi",)
    modules: ClassVar[tuple[str, ...]] = ("uvicorn",)

    workers: PositiveInt = 1
    "Processes that answer."
    loop: Literal["auto", "asyncio", "uvloop"] = "auto"
    "The event loop; auto is uvloop where it is installed."
    http: Literal["auto", "h11", "httptools"] = "auto"
    "The parser of HTTP; auto is httptools where it is installed."
    keep_alive: WholeSeconds | None = None
    "How long an idle connection is kept; uvicorn's own default without it."
    backlog: PositiveInt = 2048
    "Connections that wait to be taken; the kernel cuts it to net.core.somaxconn."

    def imports(self) -> tuple[str, ...]:
        """Return uvicorn, and the loop and the parser that are named."""
        named = (one for one in (self.loop, self.http) if one in {"uvloop", "httptools"})
        return (*self.modules, *named)

    def command(self, site: Site) -> Command | None:
        """Return uvicorn without an access log; it works in the app's folder."""
        words = [
            f"--workers={self.workers}",
            f"--loop={self.loop}",
            f"--http={self.http}",
            f"--backlog={self.backlog}",
            "--no-access-log",
            "--log-level=warning",
        ]
        if self.keep_alive is not None:
            words.append(f"--timeout-keep-alive={self.keep_alive}")
        return self.started_by("uvicorn", site, *words)


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Uvicorn]
