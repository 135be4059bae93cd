"""urllib.request, the standard library's way to read an address."""

from typing import ClassVar

from benchforge.plugin import Client, hookimpl
from benchforge_clients.library import Library


class Urllib(Library):
    """urllib.request: `urlopen` and `read`; it cannot reuse a connection.

    Study PC's `urllib` is this client with `verify = false`. Unlike there, the opener is made once,
    before the load, with redirects off; and each request is made of the address, its method,
    headers and body, as `urlopen` itself does it.
    """

    name: ClassVar[str] = "urllib"
    driver: ClassVar[str] = "urllib_main.py"

    def connections_kept(self) -> bool:
        """Return that it cannot keep one."""
        return False


@hookimpl
def benchforge_parts() -> list[type[Client]]:
    """Bring the client."""
    return [Urllib]
