"""aiohttp's client: one session, many tasks."""

from typing import ClassVar, Literal

from benchforge_clients.rounds import Rounds


class AiohttpClient(Rounds):
    """aiohttp: one session; each of `concurrency` tasks makes one request after the other.

    Modes of study RA, with `numbered = "number"` and `decode_json = true`. They use at most 100
    connections, aiohttp's default, so a request's latency includes its wait for a connection:

    - async-for: one task for each request, created in a loop and gathered;
    - async-map: `map` creates the tasks, as the study intends;
    - async-map_published: what the study ran under that name: its branch calls async-for.

    Unlike in the study, an error does not end the other requests: each error is counted.
    """

    name: ClassVar[str] = "aiohttp"
    modules: ClassVar[tuple[str, ...]] = ("aiohttp",)

    mode: Literal["session", "async-for", "async-map", "async-map_published"] = "session"
    "Way to make requests; see above."

    def at_once(self) -> int:
        """Return the number of connections: in rounds, at most the 100 of its usual pool."""
        return min(100, self.requests or 100) if self.in_rounds else self.concurrency
