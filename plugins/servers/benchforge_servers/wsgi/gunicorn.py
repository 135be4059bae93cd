"""gunicorn, with any of its worker classes, and API-Hour, which is built on it."""

import signal
from collections.abc import Iterable, Mapping
from typing import ClassVar

from pydantic import Field, PositiveInt

from benchforge.plugin import Command, Duration, Need, Site
from benchforge_servers.python.app_server import RUNNERS, AppServer
from benchforge_servers.python.listening import ListeningServer
from benchforge_servers.seconds import WholeSeconds

# The module that a worker class needs where its name does not begin with it.
_NEEDED = {"gevent_pywsgi": "gevent", "gevent_wsgi": "gevent"}
_NEEDING = {"gevent", "eventlet", "tornado", *_NEEDED}
_OTHERS = {"aiohttp": "aiohttp", "asgi": "asgi", "uvicorn": "asgi"}


class Gunicorn(ListeningServer):
    """gunicorn serves a WSGI app, or with another worker class an aiohttp or an ASGI app.

    Good to know:

    - `sync` workers close each connection regardless of `keep_alive`. `threads` above 1 turns them
      into `gthread` workers, which keep connections.
    - `gevent` workers patch the standard library before they import the app.
    - aiohttp's worker ignores `threads`.
    - ASGI apps need "uvicorn_worker.UvicornWorker"; that of uvicorn.workers is deprecated.
      gunicorn's own `asgi` keeps an HTTP/1.0 connection without the header, so `ab -k` waits two
      seconds per request.
    - The kernel limits `backlog` to net.core.somaxconn.
    - gunicorn kills a worker that is silent for 30 s (`arguments = ["--timeout", "0"]` prevents
      it).
    - It ends by SIGKILL: hooks such as `on_exit` do not run.
    - gunicorn reads no gunicorn.conf.py unless `arguments` name one. There is no control socket.
    """

    name: ClassVar[str] = "gunicorn"
    # TERM waits a second for aiohttp's workers, and INT thirty. QUIT takes 0.3 s, and seconds where
    # it meets a gthread worker that holds the lock of its pool.
    stop_signal: ClassVar[signal.Signals] = signal.SIGKILL

    speaks: ClassVar[tuple[str, ...]] = ("wsgi", "aiohttp", "asgi")
    decides: ClassVar[str] = "worker_class"
    choices: ClassVar[Mapping[str, str]] = {
        "wsgi": "sync",
        "aiohttp": "aiohttp.GunicornWebWorker",
        "asgi": "uvicorn_worker.UvicornWorker",
    }
    modules: ClassVar[tuple[str, ...]] = ("gunicorn",)

    workers: PositiveInt = 2
    "Number of worker processes."
    threads: PositiveInt = 1
    "Number of threads in each worker. Above 1, sync workers become gthread workers."
    worker_class: str = Field(default="sync", min_length=1)
    """Class of workers: sync, gthread, gevent, aiohttp.GunicornWebWorker, \
uvicorn_worker.UvicornWorker or another."""
    keep_alive: WholeSeconds | None = None
    "Time until an idle connection is closed. Default: gunicorn's own."
    backlog: PositiveInt = 2048
    arguments: list[str] = Field(default_factory=list)
    "Additional arguments of gunicorn's command line."

    def spoken(self) -> tuple[str, ...]:
        return (next((to for word, to in _OTHERS.items() if word in self.worker_class), "wsgi"),)

    def imports(self) -> tuple[str, ...]:
        package, dot, _ = self.worker_class.partition(".")
        if (dot and package != "gunicorn") or package in _NEEDING:
            return (*self.modules, _NEEDED.get(package, package))
        return self.modules

    def command(self, site: Site) -> Command | None:
        """Return gunicorn in the foreground, without an access log."""
        words = self.words("workers", "threads", "worker_class", "backlog", "keep_alive")
        return _started(self, site, "gunicorn_main.py", self.bound(site), *words)


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
        words = [*self.words("workers", "backlog", "keep_alive"), "--access-logfile=/dev/null"]
        return _started(self, site, "api_hour_main.py", f"{site.address}:{site.port}", *words)


def _started(
    server: Gunicorn | ApiHour, site: Site, runner: str, address: str, *words: str
) -> Command:
    return Command(
        *(site.python, RUNNERS / runner, f"--bind={address}", *words),
        # It also makes the folder the first one that is imported from.
        *(f"--chdir={server.folder(site)}", "--log-level=warning"),
        *(*server.arguments, server.served_app.target),
        environment=server.process_environment(site),
    )
