"""httplib2: on the standard library, or on geventhttpclient's HTTP."""

from typing import ClassVar, Literal

from benchforge_clients.library import Library


class Httplib2(Library):
    """httplib2: an Http object for each thread, or with `noreuse` a new one for each request.

    `gevent` is the client of study WS's gevent-virtuoso-alt: geventhttpclient's patch of
    `http.client`, a new Http for each request, no other patch, `concurrency` greenlets. httplib2
    opens its sockets itself, so such a greenlet blocks all others.

    Unlike by default, failed requests are not retried silently (`RETRIES = 1`). httplib2 still
    retries if the server ended the connection without a response; it does so with any number.
    """

    name: ClassVar[str] = "httplib2"
    driver: ClassVar[str] = "httplib2_main.py"
    keeping_modes: ClassVar[tuple[str, ...] | None] = ("reuse",)
    modules: ClassVar[tuple[str, ...]] = ("httplib2",)

    mode: Literal["reuse", "noreuse", "gevent"] = "reuse"
    "Reuse of connections, or the way of study WS."

    def imports(self) -> tuple[str, ...]:
        patch = ("geventhttpclient", "gevent") if self.mode == "gevent" else ()
        return (*self.modules, *patch)
