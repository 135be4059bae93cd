"""Clients whose library needs no option but a mode: each has its driver in `drivers/`."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from benchforge.plugin import WrongOption
from benchforge_clients.library import Library


class Geventhttpclient(Library):
    """geventhttpclient: one client with `concurrency` connections, and one greenlet for each."""

    name: ClassVar[str] = "geventhttpclient"
    modules: ClassVar[tuple[str, ...]] = ("geventhttpclient", "gevent")


class HttpClient(Library):
    """http.client: `request`, `getresponse` and `read` on one connection.

    Good to know: with `noreuse` each request opens and closes a connection. If a connection
    failed, or the server ended it, the next request opens a new one, which is counted.
    """

    name: ClassVar[str] = "http_client"
    keeping_modes: ClassVar[tuple[str, ...] | None] = ("reuse",)

    mode: Literal["reuse", "noreuse"] = "reuse"
    "Reuse of connections."


class Httplib2(Library):
    """httplib2: an Http object for each thread, or with `noreuse` a new one for each request.

    `gevent` is the client of study WS's gevent-virtuoso-alt: geventhttpclient's patch of
    `http.client`, a new Http for each request, no other patch, `concurrency` greenlets. httplib2
    opens its sockets itself, so such a greenlet blocks all others.

    Unlike by default, failed requests are not retried silently (`RETRIES = 1`). httplib2 still
    retries if the server ended the connection without a response; it does so with any number.
    """

    name: ClassVar[str] = "httplib2"
    keeping_modes: ClassVar[tuple[str, ...] | None] = ("reuse",)
    modules: ClassVar[tuple[str, ...]] = ("httplib2",)

    mode: Literal["reuse", "noreuse", "gevent"] = "reuse"
    "Reuse of connections, or the way of study WS."

    def imports(self) -> tuple[str, ...]:
        patch = ("geventhttpclient", "gevent") if self.mode == "gevent" else ()
        return (*self.modules, *patch)


class Httpx(Library):
    """httpx: a client for each thread, or with `async` one client and `concurrency` tasks.

    Good to know: the asynchronous client is several times slower than the synchronous one.
    """

    name: ClassVar[str] = "httpx"
    modules: ClassVar[tuple[str, ...]] = ("httpx",)

    mode: Literal["sync", "async"] = "sync"
    "Client class of httpx."


class Pycurl(Library):
    """pycurl: a handle for each thread, or with `multi` `concurrency` handles in one thread.

    Study PC's pycurl-reuse-nobody, pycurl-reuse-buffer, pycurl-noreuse-buffer and pycurl-newhandle
    are the modes with these names, with `verify = false`:

    - reuse-nobody: a callback drops the body; libcurl counts its length;
    - reuse-buffer: a new buffer for each request, read and closed;
    - noreuse-buffer: the same with FORBID_REUSE;
    - newhandle: for each request a new handle with all its options and the global DNS cache, and
      two buffers; the handle is never closed.

    Unlike in the study, each request has a time limit, and reads status and number of connections
    from libcurl at its end. Connections are those that libcurl counts as established.
    """

    name: ClassVar[str] = "pycurl"
    keeping_modes: ClassVar[tuple[str, ...] | None] = ("reuse-nobody", "reuse-buffer", "multi")
    modules: ClassVar[tuple[str, ...]] = ("pycurl",)
    alpn: ClassVar[bool] = True

    mode: Literal["reuse-nobody", "reuse-buffer", "noreuse-buffer", "newhandle", "multi"] = (
        "reuse-buffer"
    )
    "Way to make requests; see above."

    @model_validator(mode="after")
    def _fits_the_mode(self) -> Self:
        if self.mode == "reuse-nobody" and self.decode_json:
            message = "mode reuse-nobody drops the body: there is nothing to decode"
            raise WrongOption(message, "decode_json", "mode")
        if self.mode == "multi" and self.delay:
            raise WrongOption("mode multi has no delay", "delay", "mode")
        return self


class TornadoClient(Library):
    """Tornado's AsyncHTTPClient, with `concurrency` tasks and as many concurrent requests.

    `simple` is the client that study WS calls native; it opens a connection for each request.
    `curl` uses libcurl, which reuses connections. libcurl reports the sockets that it opens, so
    after an error the number of connections is unknown.
    """

    name: ClassVar[str] = "tornado"
    keeping_modes: ClassVar[tuple[str, ...] | None] = ("curl",)
    modules: ClassVar[tuple[str, ...]] = ("tornado",)

    mode: Literal["simple", "curl"] = "simple"
    "Client class of tornado."

    def imports(self) -> tuple[str, ...]:
        return (*self.modules, "pycurl") if self.mode == "curl" else self.modules


class Urllib(Library):
    """urllib.request: `urlopen` and `read`; it cannot reuse a connection.

    Study PC's `urllib` is this client with `verify = false`. Unlike in the study, the opener is
    made once, before the load, with redirects off. Each request is built from its address, method,
    headers and body, as `urlopen` does.
    """

    name: ClassVar[str] = "urllib"
    keeping_modes: ClassVar[tuple[str, ...] | None] = ()


class Urllib3(Library):
    """urllib3: `urlopen` of a PoolManager, or of an HTTPSConnectionPool over HTTPS, then `read`.

    Study PC's `urllib3` is this client with `verify = false`. As in the study, the body is
    complete before the call of `read`, which returns nothing. Unlike in the study, failed requests
    are not retried silently (`retries = False`), and each thread has its own pool.
    """

    name: ClassVar[str] = "urllib3"
    modules: ClassVar[tuple[str, ...]] = ("urllib3",)
