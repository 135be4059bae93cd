"""urllib.request, the standard library's way to read an address."""

from typing import ClassVar

from benchforge_clients.library import Library


class Urllib(Library):
    """urllib.request: `urlopen` and `read`; it cannot reuse a connection.

    Study PC's `urllib` is this client with `verify = false`. Unlike in the study, the opener is
    made once, before the load, with redirects off. Each request is built from its address, method,
    headers and body, as `urlopen` does.
    """

    name: ClassVar[str] = "urllib"
    driver: ClassVar[str] = "urllib_main.py"
    keeping_modes: ClassVar[tuple[str, ...] | None] = ()
