"""urllib3: a pool of connections."""

from typing import ClassVar

from benchforge.plugin import Client, hookimpl
from benchforge_clients.library import Library


class Urllib3(Library):
    """urllib3: `urlopen` of a PoolManager, or over HTTPS of an HTTPSConnectionPool, then `read`.

    Study PC's `urllib3` is this client with `verify = false`. As there, the body is there before
    `read` is called, which gives nothing. Unlike there, nothing is tried again in secret
    (`retries = False`); a thread has a pool of its own.
    """

    name: ClassVar[str] = "urllib3"
    driver: ClassVar[str] = "urllib3_main.py"
    modules: ClassVar[tuple[str, ...]] = ("urllib3",)


@hookimpl
def benchforge_parts() -> list[type[Client]]:
    """Bring the client."""
    return [Urllib3]
