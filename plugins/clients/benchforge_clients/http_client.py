"""http.client, the standard library's HTTP connection."""

from typing import ClassVar, Literal

from benchforge_clients.library import Library


class HttpClient(Library):
    """http.client: `request`, `getresponse` and `read` on one connection.

    Good to know: with `noreuse` each request opens and closes a connection. If a connection
    failed, or the server ended it, the next request opens a new one, which is counted.
    """

    name: ClassVar[str] = "http_client"
    driver: ClassVar[str] = "http_client_main.py"
    keeping_modes: ClassVar[tuple[str, ...] | None] = ("reuse",)

    mode: Literal["reuse", "noreuse"] = "reuse"
    "Reuse of connections."
