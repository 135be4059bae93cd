"""httpx: its client, and its asynchronous one."""

from typing import ClassVar, Literal

from benchforge.plugin import Client, hookimpl
from benchforge_clients.library import Library


class Httpx(Library):
    """httpx: a client for each thread, or with `async` one client and `concurrency` tasks.

    Good to know: its asynchronous client is several times slower than its other one.
    """

    name: ClassVar[str] = "httpx"
    driver: ClassVar[str] = "httpx_main.py"
    modules: ClassVar[tuple[str, ...]] = ("httpx",)

    mode: Literal["sync", "async"] = "sync"
    "Which of its two clients."

    def chosen_mode(self) -> str:
        """Return the mode."""
        return self.mode


@hookimpl
def benchforge_parts() -> list[type[Client]]:
    """Bring the client."""
    return [Httpx]
