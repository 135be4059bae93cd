"""aiohttp's client: one session, many tasks."""

from typing import ClassVar, Literal

from benchforge.plugin import Client, hookimpl
from benchforge_clients.rounds import Rounds

USUAL_POOL = 100


class Aiohttp(Rounds):
    """aiohttp: one session; `concurrency` tasks that each make request after request.

    Of study RA, with `numbered = "number"` and `decode_json = true`; 100 connections at most, as is
    usual there, so that a request's latency holds its waiting for one:

    - async-for: a task for each request, made in a loop, all gathered;
    - async-map: the tasks are made by `map`, as the study means it;
    - async-map_published: what the study ran under that name: its branch calls async-for.

    Unlike there, an error does not end the rest: each is counted.
    """

    name: ClassVar[str] = "aiohttp"
    driver: ClassVar[str] = "aiohttp_main.py"
    modules: ClassVar[tuple[str, ...]] = ("aiohttp",)

    mode: Literal["session", "async-for", "async-map", "async-map_published"] = "session"
    "How requests are made: see above."

    def chosen_mode(self) -> str:
        """Return the mode."""
        return self.mode

    def at_once(self) -> int:
        """Return how many connections there are: in rounds, those of its usual pool."""
        return min(USUAL_POOL, self.requests or USUAL_POOL) if self.in_rounds else self.concurrency


@hookimpl
def benchforge_parts() -> list[type[Client]]:
    """Bring the client."""
    return [Aiohttp]
