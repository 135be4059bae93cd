"""aiohttp's own server: one process, one event loop."""

from typing import ClassVar

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

    def command(self, site: Site) -> Command | None:
        return self.run_by("aiohttp_main.py", site, *self.words("keep_alive"))
