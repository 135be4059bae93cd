"""API-Hour: aiohttp in workers of gunicorn's, as study AH ran it."""

from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field, PositiveInt

from benchforge.plugin import Command, Duration, Need, Server, Site, hookimpl
from benchforge_servers.app_server import RUNNERS, AppServer
from benchforge_servers.seconds import WholeSeconds


class ApiHour(AppServer):
    """A container of API-Hour, served by the real API-Hour 0.8.2.

    Good to know: it was given up in 2017, so it comes by a runtime. Up to CPython 3.9 and in PyPy
    3.9 it runs unmodified. From 3.10 on the names `sleep` and `wait` that its worker takes from
    asyncio, and `get_event_loop`, are replaced by ones that do as they did: without, its workers
    end as soon as they start. A container has a coroutine `make_servers(sockets)`; when that passes
    no `backlog=self.worker.cfg.backlog` to asyncio, it is 100 whatever is said here, as it was in
    study AH. There is no access log and no control socket.
    """

    name: ClassVar[str] = "api_hour"

    speaks: ClassVar[tuple[str, ...]] = ("api_hour",)
    modules: ClassVar[tuple[str, ...]] = ("api_hour", "gunicorn", "aiohttp")

    workers: PositiveInt = 2
    "Processes that answer."
    keep_alive: WholeSeconds = Duration(45)
    "Told to the container, which keeps idle connections for so long if it asks."
    backlog: PositiveInt = 2048
    "Connections that wait to be taken; the kernel cuts it to net.core.somaxconn."
    arguments: list[str] = Field(default_factory=list)
    "Further words of API-Hour's command line, as they are."

    def needs(self) -> Iterable[Need]:
        """Return API-Hour with what it runs on, and what a built-in app imports."""
        install = "runtime = '...', with requires = ['api_hour==0.8.2', 'gunicorn', 'aiohttp']"
        own = [Need(module, install, "module") for module in self.imports()]
        return [*own, *self.known.needs()]

    def command(self, site: Site) -> Command | None:
        """Return API-Hour in the foreground, without an access log."""
        words = [
            f"--bind={site.address}:{site.port}",
            f"--workers={self.workers}",
            f"--backlog={self.backlog}",
            f"--keep-alive={self.keep_alive}",
            # It also makes the folder the first one that is imported from.
            f"--chdir={self.folder(site)}",
            "--log-level=warning",
            "--access-logfile=/dev/null",
        ]
        return Command(
            *(site.python, RUNNERS / "api_hour_main.py"),
            *(*words, *self.arguments, self.known.target),
            environment=self.told(site),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [ApiHour]
