"""httpx: its client, and its asynchronous one."""

from typing import ClassVar, Literal

from benchforge_clients.library import Library


class Httpx(Library):
    """httpx: a client for each thread, or with `async` one client and `concurrency` tasks.

    Good to know: the asynchronous client is several times slower than the synchronous one.
    """

    name: ClassVar[str] = "httpx"
    driver: ClassVar[str] = "httpx_main.py"
    modules: ClassVar[tuple[str, ...]] = ("httpx",)

    mode: Literal["sync", "async"] = "sync"
    "Client class of httpx."
