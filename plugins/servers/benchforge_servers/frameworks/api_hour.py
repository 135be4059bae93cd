"""API-Hour: aiohttp in workers of gunicorn's, as study AH ran it."""

import signal
from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field, PositiveInt

from benchforge.plugin import Command, Duration, Need, Site
from benchforge_servers.python.app_server import RUNNERS, AppServer
from benchforge_servers.seconds import WholeSeconds


class ApiHour(AppServer):
    """A container of API-Hour, served by the real API-Hour 0.8.2.

    Good to know: API-Hour was abandoned in 2017, so it needs a runtime. Up to CPython 3.9 and in
    PyPy 3.9 it runs unmodified. From 3.10 on, benchforge replaces the names `sleep` and `wait`
    that its worker imports from asyncio, and `get_event_loop`, with equivalents; otherwise its
    workers end as soon as they start. A container has a coroutine `make_servers(sockets)`. If it
    does not pass `backlog=self.worker.cfg.backlog` to asyncio, the backlog is 100 regardless of
    this option, as in study AH. There is no access log and no control socket.
    """

    name: ClassVar[str] = "api_hour"

    # Its workers look once a second whether they should end, whatever the signal.
    stop_signal: ClassVar[signal.Signals] = signal.SIGKILL

    speaks: ClassVar[tuple[str, ...]] = ("api_hour",)
    modules: ClassVar[tuple[str, ...]] = ("api_hour", "gunicorn", "aiohttp")

    workers: PositiveInt = 2
    "Number of worker processes."
    keep_alive: WholeSeconds = Duration(45)
    "Time for which the container keeps an idle connection, if it reads this setting."
    backlog: PositiveInt = 2048
    arguments: list[str] = Field(default_factory=list)
    "Additional arguments of API-Hour's command line."

    def needs(self) -> Iterable[Need]:
        install = "runtime = '...', with requires = ['api_hour==0.8.2', 'gunicorn', 'aiohttp']"
        module_needs = [Need(module, install, "module") for module in self.imports()]
        return [*module_needs, *self.served_app.needs()]

    def command(self, site: Site) -> Command | None:
        """Return API-Hour in the foreground, without an access log."""
        return Command(
            *(site.python, RUNNERS / "api_hour_main.py", f"--bind={site.address}:{site.port}"),
            *self.words("workers", "backlog", "keep_alive"),
            # It also makes the folder the first one that is imported from.
            *(f"--chdir={self.folder(site)}", "--log-level=warning", "--access-logfile=/dev/null"),
            *(*self.arguments, self.served_app.target),
            environment=self.process_environment(site),
        )
