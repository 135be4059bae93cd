"""granian: HTTP in Rust, the app in Python."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import Command, Site, WrongOption
from benchforge_servers.python.listening import ModuleServer


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
