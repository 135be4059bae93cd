"""aiohttp's own server: one process, one event loop."""

from typing import ClassVar

from pydantic import PositiveInt

from benchforge.plugin import Command, Duration, Site
from benchforge_servers.python.app_server import AppServer


class AiohttpServer(AppServer):
    """An aiohttp app, served by aiohttp itself in a single process.

    Good to know: it uses one CPU. Compare it with one worker of another server, or use gunicorn
    with worker_class = "aiohttp.GunicornWebWorker" and as many workers as the others have.
    """

    name: ClassVar[str] = "aiohttp"

    speaks: ClassVar[tuple[str, ...]] = ("aiohttp",)
    modules: ClassVar[tuple[str, ...]] = ("aiohttp",)

    keep_alive: Duration | None = None
    "Time until an idle connection is closed. Default: that of the aiohttp version."
    backlog: PositiveInt = 128
    """Length of the queue of connections that the server has not accepted yet. The kernel limits \
it to net.core.somaxconn."""

    def command(self, site: Site) -> Command | None:
        """Return the runner, which works in the app's folder and imports from there first."""
        words: list[object] = ["--backlog", self.backlog]
        if self.keep_alive is not None:
            words += ["--keep-alive", self.keep_alive]
        return self.run_by("aiohttp_main.py", site, *words)
