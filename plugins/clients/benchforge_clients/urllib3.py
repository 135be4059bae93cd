"""urllib3: a pool of connections."""

from typing import ClassVar

from benchforge_clients.library import Library


class Urllib3(Library):
    """urllib3: `urlopen` of a PoolManager, or of an HTTPSConnectionPool over HTTPS, then `read`.

    Study PC's `urllib3` is this client with `verify = false`. As in the study, the body is
    complete before the call of `read`, which returns nothing. Unlike in the study, failed requests
    are not retried silently (`retries = False`), and each thread has its own pool.
    """

    name: ClassVar[str] = "urllib3"
    driver: ClassVar[str] = "urllib3_main.py"
    modules: ClassVar[tuple[str, ...]] = ("urllib3",)
