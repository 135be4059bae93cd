"""gevent's own servers: pywsgi for WSGI, and one for raw sockets."""

from typing import ClassVar

from pydantic import PositiveInt

from benchforge.plugin import Command, Site
from benchforge_servers.python.app_server import AppServer


class Gevent(AppServer):
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

    def command(self, site: Site) -> Command | None:
        words = self.words("keep_alive", "tcp_nodelay", "monkey_patch")
        return self.run_by("gevent_main.py", site, *words)
