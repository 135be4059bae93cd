"""gunicorn, with any of its worker classes."""

import importlib.metadata
import importlib.util
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, PositiveInt

from benchforge.plugin import Command, Duration, Need, Server, Site, hookimpl
from benchforge_servers.app_server import AppServer

_CONTROL_SOCKET_SINCE = (25, 1)
# Worker classes that need a package and are named without it.
_NAMED_SHORTLY = {"gevent", "gevent_pywsgi", "gevent_wsgi", "eventlet", "tornado"}
_OTHERS = {"aiohttp": "aiohttp", "asgi": "asgi", "uvicorn": "asgi"}


def _whole_seconds(keep_alive: Duration) -> Duration:
    if not keep_alive.is_integer():
        raise ValueError("should be whole seconds: gunicorn takes no parts of one")
    return keep_alive


class Gunicorn(AppServer):
    """gunicorn serves a WSGI app, or with aiohttp's worker class an aiohttp app.

    Good to know: `sync` workers close each connection whatever `keep_alive` says, and `threads`
    above 1 turns them into `gthread`, which keeps them; aiohttp's worker ignores `threads`. The
    kernel cuts `backlog` to net.core.somaxconn. A worker that is silent for 30 s is killed
    (`arguments = ["--timeout", "0"]`). No gunicorn.conf.py is read unless `arguments` name one.
    """

    name: ClassVar[str] = "gunicorn"
    # TERM waits a second for aiohttp's workers, and INT thirty; QUIT ends all of them at once.
    stop_signal: ClassVar[signal.Signals] = signal.SIGQUIT

    speaks: ClassVar[tuple[str, ...]] = ("wsgi", "aiohttp", "asgi")
    modules: ClassVar[tuple[str, ...]] = ("gunicorn",)

    workers: PositiveInt = 2
    threads: PositiveInt = 1
    worker_class: str = Field(default="sync", min_length=1)
    "sync, gthread, gevent, aiohttp.GunicornWebWorker or another."
    keep_alive: Annotated[Duration, AfterValidator(_whole_seconds)] | None = None
    "How long an idle connection is kept; gunicorn's own default without it."
    backlog: PositiveInt = 2048
    arguments: list[str] = Field(default_factory=list)
    "Further words of gunicorn's command line, as they are."

    def spoken(self) -> tuple[str, ...]:
        """Return the one protocol of the worker class."""
        return (next((to for word, to in _OTHERS.items() if word in self.worker_class), "wsgi"),)

    def needs(self) -> Iterable[Need]:
        """Return gunicorn, the package of the worker class, and what a built-in app imports."""
        package, dot, _ = self.worker_class.partition(".")
        own = list(super().needs())
        if (dot and package != "gunicorn") or package in _NAMED_SHORTLY:
            own.append(Need(package.partition("_")[0], f"pip install {package}", "module"))
        return own

    def version(self, site: Site) -> Command | None:
        """Ask gunicorn."""
        return Command(site.python, "-m", "gunicorn", "--version")

    def command(self, site: Site) -> Command | None:
        """Return gunicorn in the foreground, without an access log."""
        words = [
            f"--bind={site.address}:{site.port}",
            f"--workers={self.workers}",
            f"--threads={self.threads}",
            f"--worker-class={self.worker_class}",
            f"--backlog={self.backlog}",
            # It also makes the folder the first one that is imported from.
            f"--chdir={self.folder(site)}",
            "--log-level=warning",
        ]
        if self.keep_alive is not None:
            words.append(f"--keep-alive={self.keep_alive}")
        if _has_control_socket(site.python):
            # All instances of a user would share one, and the first to stop would delete it.
            words.append("--no-control-socket")
        return Command(
            *(site.python, "-m", "gunicorn", *words, *self.arguments, self.known.target),
            environment=self.told(site),
        )


def _has_control_socket(python: Path) -> bool:
    """Whether gunicorn is new enough for the flag; an older one would not start with it."""
    if python != Path(sys.executable) or importlib.util.find_spec("gunicorn") is None:
        return False
    numbers = importlib.metadata.version("gunicorn").split(".")
    return tuple(int(one) for one in numbers[:2] if one.isdecimal()) >= _CONTROL_SOCKET_SINCE


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [Gunicorn]
