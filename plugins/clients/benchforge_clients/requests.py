"""requests: alone, with a session, and study RA's pools of threads."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import WrongOption
from benchforge_clients.library import Concurrency
from benchforge_clients.rounds import Rounds

# threads-map has a thread for each request.
MOST_THREADS = 4000


class Requests(Rounds):
    """requests, in one thread or several.

    Modes of study PC, with `verify = false`:

    - requests-noreuse is `call`: the module's function, with a new session and connection each
      time;
    - requests-reuse is `session-prepared`: a request that is prepared once, outside of the session
      (so without the session's headers), and sent repeatedly. It also saves the preparation;
      `session` only reuses the connection.

    Modes of study RA, with `numbered = "number"` and `decode_json = true`. All threads share one
    session with its default pool of 10 connections, which does not block: other threads open
    connections that are thrown away, and these are counted:

    - threads-recreate: a new pool of `threads` for each `chunk`;
    - threads-reuse: one pool, which finishes each chunk before the next;
    - threads-map: a pool with one thread for each request, and `map`.

    In the study, the first and the last hide all errors: the program drops futures and does not
    read results. `threads-recreate_published` and `threads-map_published` do the same. benchforge
    counts the errors anyway, and the claims say how many of them the study's program would have
    seen. The other modes read futures and results after the requests, within the time of the load;
    with `map` a task returns whether it failed, since an exception would cancel later tasks.
    Unlike in the study, the time is that of the load. `wall` gives the time of the whole process.
    Redirects are off.
    """

    name: ClassVar[str] = "requests"
    modules: ClassVar[tuple[str, ...]] = ("requests",)

    mode: Literal[
        "call",
        "session",
        "session-prepared",
        "threads-recreate",
        "threads-recreate_published",
        "threads-reuse",
        "threads-map",
        "threads-map_published",
    ] = "session"
    "Way to make requests; see above."
    threads: Concurrency = 100
    "Number of threads in the pools of threads-recreate and threads-reuse."
    chunk: Annotated[PositiveInt, Field(le=100_000)] = 100
    "Number of requests per task in threads-recreate and threads-reuse."

    @model_validator(mode="after")
    def _fits_the_mode(self) -> Self:
        if self.mode.startswith("threads-map") and (self.requests or 0) > MOST_THREADS:
            message = f"mode {self.mode} has a thread for each request: {MOST_THREADS} at most"
            raise WrongOption(message, "requests", "mode")
        if self.mode == "session-prepared" and self.numbered:
            message = "a request that is prepared once cannot be numbered"
            raise WrongOption(message, "numbered", "mode")
        return self

    def connections_kept(self) -> bool | None:
        """Return None for threads: they share a pool that throws connections away."""
        return None if self.in_rounds else self.mode != "call"

    def at_once(self) -> int:
        if self.mode.startswith("threads-map"):
            return self.requests or 1
        return self.threads if self.in_rounds else self.concurrency

    def words(self) -> Sequence[object]:
        """Return the size of the pools, which takes the place of the concurrency."""
        pools = ("--concurrency", self.threads, "--chunk", self.chunk) if self.in_rounds else ()
        return (*super().words(), *pools)
