"""geventhttpclient: greenlets, and a parser of its own in C."""

from typing import ClassVar

from benchforge_clients.library import Library


class Geventhttpclient(Library):
    """geventhttpclient: one client with `concurrency` connections, and one greenlet for each."""

    name: ClassVar[str] = "geventhttpclient"
    driver: ClassVar[str] = "geventhttpclient_main.py"
    modules: ClassVar[tuple[str, ...]] = ("geventhttpclient", "gevent")
