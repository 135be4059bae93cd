"""aiohttp's own server: one process, one event loop."""

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import Command, Need, Server, Site, hookimpl
from benchforge_servers import app as apps
from benchforge_servers.app import INSTALL, AppName

# A program of its own folder: this file's name must not stand in the way of the library's.
_RUNNER = Path(__file__).parent / "runners" / "aiohttp_main.py"


class Aiohttp(Server):
    """An aiohttp app, served by aiohttp itself in a single process.

    Good to know: it uses one CPU, so compare it with one worker of another server, or use
    gunicorn with worker_class = "aiohttp.GunicornWebWorker" and as many workers as the others
    have. It keeps an idle connection for as long as aiohttp's version likes to.
    """

    name: ClassVar[str] = "aiohttp"

    app: AppName
    "A built-in app, or module:attribute of your own: an Application, or a function that makes one."
    directory: str | None = None
    "Where your own app is imported from; starts at the suite's folder, which it is without it."
    environment: dict[str, str] = Field(default_factory=dict)
    "Added to what the backends give, such as DATABASE_URL."
    backlog: PositiveInt = 128

    @model_validator(mode="after")
    def _app_fits(self) -> Self:
        apps.check_directory(self.app, self.directory)
        protocol = apps.app_of(self.app).protocol
        if protocol is not None and protocol != "aiohttp":
            raise ValueError(
                f"app {self.app!r} is a {protocol.upper()} app, which aiohttp cannot serve: "
                "use = 'gunicorn' can"
            )
        return self

    def needs(self) -> Iterable[Need]:
        """Return aiohttp, and what a built-in app imports."""
        return [Need("aiohttp", INSTALL, "module"), *apps.app_of(self.app).needs()]

    def version(self, site: Site) -> Command | None:
        """Ask the library."""
        return Command(site.python, "-c", "import aiohttp; print('aiohttp', aiohttp.__version__)")

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the code that is served."""
        return apps.fingerprint(self.app, self.directory, suite_folder)

    def command(self, site: Site) -> Command | None:
        """Return the runner, which works in the app's folder and imports from there first."""
        folder = apps.folder_of(self.app, self.directory, site.suite_folder)
        where = ("--host", site.address, "--port", site.port, "--directory", folder)
        target = apps.app_of(self.app).target
        return Command(
            *(site.python, _RUNNER, *where, "--backlog", self.backlog, target),
            environment=site.environment(self.environment),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Aiohttp]
