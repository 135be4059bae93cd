"""aiohttp's own server: one process, one event loop."""

from pathlib import Path
from typing import ClassVar

from pydantic import PositiveInt

from benchforge.plugin import Command, Server, Site, hookimpl
from benchforge_servers.app_server import AppServer

# A program of its own folder: this file's name must not stand in the way of the library's.
_RUNNER = Path(__file__).parent / "runners" / "aiohttp_main.py"


class Aiohttp(AppServer):
    """An aiohttp app, served by aiohttp itself in a single process.

    Good to know: it uses one CPU, so compare it with one worker of another server, or use
    gunicorn with worker_class = "aiohttp.GunicornWebWorker" and as many workers as the others
    have. It keeps an idle connection for as long as aiohttp's version likes to.
    """

    name: ClassVar[str] = "aiohttp"

    speaks: ClassVar[tuple[str, ...]] = ("aiohttp",)
    modules: ClassVar[tuple[str, ...]] = ("aiohttp",)

    backlog: PositiveInt = 128

    def version(self, site: Site) -> Command | None:
        """Ask the library."""
        return Command(site.python, "-c", "import aiohttp; print('aiohttp', aiohttp.__version__)")

    def command(self, site: Site) -> Command | None:
        """Return the runner, which works in the app's folder and imports from there first."""
        where = ("--host", site.address, "--port", site.port, "--directory", self.folder(site))
        return Command(
            *(site.python, _RUNNER, *where, "--backlog", self.backlog, self.known.target),
            environment=self.told(site),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Aiohttp]
