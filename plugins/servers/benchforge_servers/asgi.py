"""ASGI servers; one of them serves WSGI, too."""

from abc import ABC
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import Command, Site, WrongOption
from benchforge_servers.python.listening import ListeningServer
from benchforge_servers.seconds import WholeSeconds


class ModuleServer(ListeningServer, ABC):
    """A server that takes --uds or --host and --port, and --factory for a function."""

    def started_by(self, module: str, site: Site, *words: object) -> Command:
        """Return the module's command, which works in the app's folder."""
        target = self.served_app.target
        return Command(
            *(site.python, "-m", module, *self._where(site), *words),
            *(["--factory"] if target.endswith("()") else []),
            target.removesuffix("()"),
            environment=self.process_environment(site),
            folder=self.folder(site),
        )

    def _where(self, site: Site) -> list[str]:
        if self.listen == "unix":
            return [f"--uds={self.socket(site)}"]
        return [f"--host={site.address}", f"--port={site.port}"]


class Granian(ModuleServer):
    """A WSGI or an ASGI app, served by granian.

    Good to know: set `interface` for your own app, because benchforge does not import it to find
    out. Each worker has Rust threads in addition to its Python thread, so one worker may use more
    than one CPU. `blocking_threads` run a WSGI app: by default granian starts as many as there are
    concurrent requests, up to hundreds. With ASGI there is always one.
    """

    name: ClassVar[str] = "granian"

    speaks: ClassVar[tuple[str, ...]] = ("wsgi", "asgi")
    decides: ClassVar[str] = "interface"
    choices: ClassVar[Mapping[str, str]] = {protocol: protocol for protocol in ("wsgi", "asgi")}
    modules: ClassVar[tuple[str, ...]] = ("granian",)

    interface: Literal["wsgi", "asgi"] | None = None
    "Protocol of the app. A built-in app sets it by itself."
    workers: PositiveInt = 1
    "Number of worker processes."
    loop: Literal["auto", "asyncio", "uvloop"] = "auto"
    "Event loop. With auto, granian chooses."
    runtime_mode: Literal["auto", "st", "mt"] = "auto"
    """Threading of the Rust runtime in a worker: mt is one shared runtime, st is one for each \
thread."""
    runtime_threads: PositiveInt = 1
    "Number of Rust threads in each worker."
    blocking_threads: PositiveInt | None = None
    "Number of threads that run a WSGI app in each worker. Default: granian's own."
    keep_alive: bool = True
    "Reuse of a connection for the next request."
    backlog: Annotated[int, Field(ge=128)] = 1024

    @model_validator(mode="after")
    def _interface_is_known(self) -> Self:
        if self.interface is None and self.served_app.protocol is None:
            message = "an app of your own needs its protocol"
            hint = "say interface = 'wsgi' or interface = 'asgi'"
            raise WrongOption(message, "app", "interface", hint=hint)
        return self

    def spoken(self) -> tuple[str, ...]:
        return self.speaks if self.interface is None else (self.interface,)

    def imports(self) -> tuple[str, ...]:
        return (*self.modules, "uvloop") if self.loop == "uvloop" else self.modules

    def command(self, site: Site) -> Command | None:
        """Return granian, which writes no access log by itself; it works in the app's folder."""
        return self.started_by(
            *("granian", site, f"--interface={self.interface or self.served_app.protocol}"),
            *self.words("workers", "loop", "runtime_mode", "runtime_threads", "blocking_threads"),
            "--http1-keep-alive" if self.keep_alive else "--no-http1-keep-alive",
            *(*self.words("backlog"), "--log-level=warning"),
        )


class Hypercorn(ListeningServer):
    """An ASGI app, served by hypercorn.

    Good to know: workers are processes of a supervisor, even a single one. "trio" needs an app
    that does not use asyncio. If hypercorn cannot import the app, it prints the reason and exits
    with 0.
    """

    name: ClassVar[str] = "hypercorn"

    speaks: ClassVar[tuple[str, ...]] = ("asgi",)
    modules: ClassVar[tuple[str, ...]] = ("hypercorn",)

    workers: PositiveInt = 1
    "Number of worker processes."
    worker_class: Literal["asyncio", "uvloop", "trio"] = "asyncio"
    "Event loop."
    keep_alive: WholeSeconds | None = None
    "Time until an idle connection is closed. Default: hypercorn's own."
    keep_alive_max_requests: PositiveInt | None = None
    "Number of requests after which a connection is closed. Default: hypercorn's own, 1000."
    backlog: PositiveInt = 100

    def imports(self) -> tuple[str, ...]:
        return (*self.modules, *({self.worker_class} - {"asyncio"}))

    def files(self, site: Site) -> Mapping[str, str]:
        """Return hypercorn's configuration of what its command line has no option for."""
        most = self.keep_alive_max_requests
        return {_toml(site): f"keep_alive_max_requests = {most}\n"} if most else {}

    def command(self, site: Site) -> Command | None:
        """Return hypercorn, which writes no access log by itself; it works in the app's folder."""
        words = self.words("workers", "worker_class", "backlog", "keep_alive")
        if self.keep_alive_max_requests is not None:
            words.append(f"--config={site.folder / _toml(site)}")
        return Command(
            *(site.python, "-m", "hypercorn", f"--bind={self.bound(site)}", *words),
            *("--log-level=warning", self.served_app.target),
            environment=self.process_environment(site),
            folder=self.folder(site),
        )


def _toml(site: Site) -> str:
    return f"server-{site.label}-hypercorn.toml"


class Uvicorn(ModuleServer):
    """An ASGI app, served by uvicorn.

    Good to know: "auto" uses uvloop and httptools if they are installed, so two interpreters may
    differ in these, too; name them for a comparison. uvicorn always closes HTTP/1.0 connections:
    `ab -k` measures connecting. With more than one worker, they are processes of a supervisor.
    """

    name: ClassVar[str] = "uvicorn"

    speaks: ClassVar[tuple[str, ...]] = ("asgi",)
    modules: ClassVar[tuple[str, ...]] = ("uvicorn",)

    workers: PositiveInt = 1
    "Number of worker processes."
    loop: Literal["auto", "asyncio", "uvloop"] = "auto"
    "Event loop. With auto, uvloop if it is installed."
    http: Literal["auto", "h11", "httptools"] = "auto"
    "HTTP parser. With auto, httptools if it is installed."
    keep_alive: WholeSeconds | None = None
    "Time until an idle connection is closed. Default: uvicorn's own."
    backlog: PositiveInt = 2048

    def imports(self) -> tuple[str, ...]:
        named = (module for module in (self.loop, self.http) if module in {"uvloop", "httptools"})
        return (*self.modules, *named)

    def command(self, site: Site) -> Command | None:
        """Return uvicorn without an access log; it works in the app's folder."""
        words = self.words("workers", "loop", "http", "backlog")
        words += ["--no-access-log", "--log-level=warning"]
        if self.keep_alive is not None:
            words.append(f"--timeout-keep-alive={self.keep_alive}")
        return self.started_by("uvicorn", site, *words)
