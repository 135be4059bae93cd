"""gevent's own servers: pywsgi for WSGI, and one for raw sockets."""

from typing import ClassVar

from pydantic import PositiveInt

from benchforge.plugin import Command, Server, Site, hookimpl
from benchforge_servers.app_server import AppServer


class Gevent(AppServer):
    """A WSGI app served by gevent.pywsgi, or a socket app with a greenlet for each connection.

    Good to know: pywsgi sends head and body apart, and without TCP_NODELAY a kept connection waits
    40 ms in each answer for the other side's acknowledgement; `tcp_nodelay = false` shows it. What
    blocks (a database, `requests`) blocks all greenlets unless `monkey_patch` replaces the
    standard library before the app is imported; C libraries stay as they are.
    """

    name: ClassVar[str] = "gevent"

    speaks: ClassVar[tuple[str, ...]] = ("wsgi", "socket")
    modules: ClassVar[tuple[str, ...]] = ("gevent",)

    keep_alive: bool = True
    "Whether connections are kept; a socket app's never are."
    tcp_nodelay: bool = True
    "Set on the socket that listens: what it accepts has it too."
    monkey_patch: bool = False
    "Whether everything is patched that gevent can, before the app is imported."
    backlog: PositiveInt = 256
    "Connections that wait to be taken; the kernel cuts it to net.core.somaxconn."

    def workers_told(self) -> int:
        """Return 1: one process, of whose greenlets one runs at a time."""
        return 1

    def command(self, site: Site) -> Command | None:
        """Return the runner, which works in the app's folder and imports from there first."""
        return self.run_by(
            *("gevent_main.py", site, "--backlog", self.backlog),
            *([] if self.keep_alive else ["--no-keep-alive"]),
            *([] if self.tcp_nodelay else ["--no-tcp-nodelay"]),
            *(["--monkey-patch"] if self.monkey_patch else []),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Gevent]
