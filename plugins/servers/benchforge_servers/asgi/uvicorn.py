"""uvicorn, with the event loop and the parser that the suite chooses."""

from typing import ClassVar, Literal

from pydantic import PositiveInt

from benchforge.plugin import Command, Site
from benchforge_servers.python.listening import ModuleServer
from benchforge_servers.seconds import WholeSeconds


class Uvicorn(ModuleServer):
    """An ASGI app, served by uvicorn.

    Good to know: "auto" uses uvloop and httptools if they are installed, so two interpreters may
    differ in these, too; name them for a comparison. uvicorn always closes HTTP/1.0 connections:
    `ab -k` measures connecting. With more than one worker, they are processes of a supervisor.
    """

    name: ClassVar[str] = "uvicorn"

    speaks: ClassVar[tuple[str, ...]] = ("asgi",)
    modules: ClassVar[tuple[str, ...]] = ("uvicorn",)

    workers: PositiveInt = 1
    "Number of worker processes."
    loop: Literal["auto", "asyncio", "uvloop"] = "auto"
    "Event loop. With auto, uvloop if it is installed."
    http: Literal["auto", "h11", "httptools"] = "auto"
    "HTTP parser. With auto, httptools if it is installed."
    keep_alive: WholeSeconds | None = None
    "Time until an idle connection is closed. Default: uvicorn's own."
    backlog: PositiveInt = 2048

    def imports(self) -> tuple[str, ...]:
        named = (module for module in (self.loop, self.http) if module in {"uvloop", "httptools"})
        return (*self.modules, *named)

    def command(self, site: Site) -> Command | None:
        """Return uvicorn without an access log; it works in the app's folder."""
        words = self.words("workers", "loop", "http", "backlog")
        words += ["--no-access-log", "--log-level=warning"]
        if self.keep_alive is not None:
            words.append(f"--timeout-keep-alive={self.keep_alive}")
        return self.started_by("uvicorn", site, *words)
