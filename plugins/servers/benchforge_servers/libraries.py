"""Servers whose library has no program of its own: one of runners/ starts it with the app."""

from abc import ABC
from typing import ClassVar, Self

from pydantic import NonNegativeInt, PositiveInt, model_validator

from benchforge.plugin import Command, Duration, Site, WrongOption
from benchforge_servers.python.app_server import RUNNERS, AppServer
from benchforge_servers.seconds import WholeSeconds


class Runner(AppServer, ABC):
    """A server that takes its options from the command line of the runner of its name."""

    def command(self, site: Site) -> Command | None:
        """Return the runner, which imports the app from its folder first."""
        options = [name for name in type(self).model_fields if name not in AppServer.model_fields]
        return Command(
            *(site.python, RUNNERS / f"{self.name}_main.py", "--host", site.address),
            *("--port", site.port, "--directory", self.folder(site)),
            *(*self.words("backlog", *options), self.served_app.target),
            environment=self.process_environment(site),
        )


class AiohttpServer(Runner):
    """An aiohttp app, served by aiohttp itself in a single process.

    Good to know: it uses one CPU. Compare it with one worker of another server, or use gunicorn
    with worker_class = "aiohttp.GunicornWebWorker" and as many workers as the others have.
    """

    name: ClassVar[str] = "aiohttp"

    speaks: ClassVar[tuple[str, ...]] = ("aiohttp",)
    modules: ClassVar[tuple[str, ...]] = ("aiohttp",)

    keep_alive: Duration | None = None
    "Time until an idle connection is closed. Default: that of the aiohttp version."


class Cheroot(Runner):
    """A WSGI app, served by cheroot with threads in a single process.

    Good to know: cheroot keeps at most `keep_alive_connections` open, whatever the client
    requests. It closes other connections after each answer; with 0, all of them. With a `backlog`
    of 5, a burst of connections waits one second for the kernel's next attempt. If an app sets no
    Content-Length, cheroot answers in chunks, or closes an HTTP/1.0 connection: `ab -k` then
    reuses none.
    """

    name: ClassVar[str] = "cheroot"

    speaks: ClassVar[tuple[str, ...]] = ("wsgi",)
    modules: ClassVar[tuple[str, ...]] = ("cheroot",)

    threads: PositiveInt = 10
    "Number of threads that run the app."
    keep_alive_connections: NonNegativeInt = 10
    "Maximum number of connections that are kept open. Others are closed after each answer."
    timeout: Duration = Duration(10)
    "Time until an idle connection is closed."
    backlog: PositiveInt = 5


class Cherrypy(Cheroot):
    """A CherryPy app, or a WSGI app next to CherryPy's own, in a single process.

    The app is an Application, an object with exposed methods, or its class. A WSGI app is grafted:
    CherryPy's server serves it, but CherryPy's tools do not apply to it.

    Good to know: the defaults are those of CherryPy and of study CP: 10 threads, a backlog of 5.
    The notes on cheroot apply. `production = false` leaves the configuration without an
    environment, as in the study: error pages then show the traceback. The server never reloads
    code and writes no access log.
    """

    name: ClassVar[str] = "cherrypy"

    speaks: ClassVar[tuple[str, ...]] = ("cherrypy", "wsgi")
    modules: ClassVar[tuple[str, ...]] = ("cherrypy", "cheroot")

    production: bool = True
    "CherryPy's environment: production or not."


class Gevent(Runner):
    """A WSGI app served by gevent.pywsgi, or a socket app with a greenlet for each connection.

    Good to know: pywsgi sends head and body separately. Without TCP_NODELAY, each answer on a kept
    connection then waits 40 ms for the other side's acknowledgement; `tcp_nodelay = false` shows
    it. Blocking calls (a database, `requests`) block all greenlets, unless `monkey_patch` replaces
    the standard library before the app is imported. It does not replace C libraries.
    """

    name: ClassVar[str] = "gevent"

    speaks: ClassVar[tuple[str, ...]] = ("wsgi", "socket")
    modules: ClassVar[tuple[str, ...]] = ("gevent",)

    keep_alive: bool = True
    "Reuse of connections. A socket app never reuses one."
    tcp_nodelay: bool = True
    "TCP_NODELAY on the listening socket. Accepted connections inherit it."
    monkey_patch: bool = False
    "Patching of everything that gevent can patch, before the app is imported."
    backlog: PositiveInt = 256

    def workers_told(self) -> int:
        """Return 1: one process, of whose greenlets one runs at a time."""
        return 1


class ThreadsServer(Runner):
    """A socket app, with a new thread for each connection.

    Good to know: only the clients' connections limit the number of threads.
    """

    name: ClassVar[str] = "threads"

    speaks: ClassVar[tuple[str, ...]] = ("socket",)
    modules: ClassVar[tuple[str, ...]] = ()


class TornadoServer(Runner):
    """A Tornado app, a WSGI app in a WSGIContainer, or a socket app on the event loop.

    Good to know: a WSGI app blocks the event loop, so each process answers one request at a time
    and other requests wait, unless `threads` is set. Django needs `threads`, because it refuses to
    query a database in an event loop. `processes` share one socket, and the kernel may give one of
    them more than its share. With 1, tornado does not fork.
    """

    name: ClassVar[str] = "tornado"

    speaks: ClassVar[tuple[str, ...]] = ("tornado", "wsgi", "socket")
    modules: ClassVar[tuple[str, ...]] = ("tornado",)
    shares_work: ClassVar[tuple[str, ...]] = ("processes", "threads")

    processes: PositiveInt = 1
    "Number of server processes. With 1, tornado does not fork."
    threads: PositiveInt | None = None
    """Number of threads that run a WSGI app in each process. Default: the app runs in the event \
loop."""
    keep_alive: bool = True
    "Reuse of connections. A socket app never reuses one."

    @model_validator(mode="after")
    def _threads_fit(self) -> Self:
        protocol = self.served_app.protocol
        if self.threads is not None and protocol not in {"wsgi", None}:
            message = f"threads are for WSGI apps, and {self.app!r} speaks {protocol}"
            raise WrongOption(message, "threads", "app")
        return self


class Waitress(Runner):
    """A WSGI app, served by waitress in a single process.

    Good to know: above `connection_limit` connections, waitress accepts no more until others
    close. It closes an idle connection `channel_timeout` after its last byte, and checks every 30
    s. Its warnings about requests that wait for a thread are off: there would be one for each
    request.
    """

    name: ClassVar[str] = "waitress"

    speaks: ClassVar[tuple[str, ...]] = ("wsgi",)
    modules: ClassVar[tuple[str, ...]] = ("waitress",)

    threads: PositiveInt = 4
    "Number of threads that run the app."
    connection_limit: PositiveInt = 100
    """Maximum number of open connections. Above it, waitress accepts no connection until others \
close."""
    channel_timeout: WholeSeconds = Duration(120)
    "Time until an idle connection is closed."
    backlog: PositiveInt = 1024
