"""Study RA's way: all requests of a round are handed out at once, and the round is waited for.

The clients that have it, aiohttp and requests, have other ways, too.
"""

from abc import ABC
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import Duration, WrongOption
from benchforge_clients.library import Concurrency, Library

MOST_REQUESTS = 100_000
# threads-map has a thread for each request.
MOST_THREADS = 4000


class Rounds(Library, ABC):
    """A library whose driver has modes of study RA: their load is one round of `requests`."""

    numbered: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")] | None = None
    "Name of a query parameter that takes each request's number, from 0, as in study RA."

    @model_validator(mode="before")
    @classmethod
    def _usual_round(cls, given: object) -> object:
        if isinstance(given, dict) and cls.is_round(given.get("mode")):
            return {"requests": 1000, **given}
        return given

    @model_validator(mode="after")
    def _one_round(self) -> Self:
        if not self.in_rounds:
            return self
        if self.concurrency > 1 or self.delay:
            message = f"mode {self.chosen_mode()} takes neither concurrency nor delay"
            options = ("concurrency", "delay") if self.concurrency > 1 else ("delay", "concurrency")
            raise WrongOption(message, *options, "mode", hint="leave it out")
        if self.requests is not None and self.requests > MOST_REQUESTS:
            message = f"all requests are made at once: {MOST_REQUESTS} at most"
            raise WrongOption(message, "requests", "mode")
        return self

    @classmethod
    def is_round(cls, mode: object) -> bool:
        """Return whether a mode is one of study RA's."""
        return isinstance(mode, str) and mode.startswith(("threads-", "async-"))

    @property
    def in_rounds(self) -> bool:
        """Whether all requests are handed out at once."""
        return self.is_round(self.chosen_mode())

    def way(self) -> str | None:
        """Return the mode of a round, without what says that it is as published."""
        mode = self.chosen_mode()
        return mode.removesuffix("_published") if mode and self.in_rounds else None

    def lengths_vary(self) -> bool:
        return super().lengths_vary() or self.numbered is not None  # numbers make answers differ

    def words(self) -> Sequence[object]:
        return ("--numbered", self.numbered) if self.numbered else ()

    def for_warm_up(self, seconds: float) -> Self:
        """Return the same load for so many seconds: of rounds, as many as begin in them."""
        if not self.in_rounds:
            return super().for_warm_up(seconds)
        return self.model_copy(update={"duration": Duration(seconds), "warm_up": 0})

    def why_not_in_turns(self) -> str:
        """Return why it cannot take turns: a round cannot be divided into slices."""
        if self.in_rounds:
            return f"mode {self.chosen_mode()} makes all requests at once, and cannot take turns"
        return super().why_not_in_turns()

    def declared_s(self) -> float:
        rounds = super().declared_s()
        return rounds + self.duration if self.in_rounds and self.duration else rounds

    def _end(self) -> Sequence[object]:
        again = ("--seconds", self.duration) if self.in_rounds and self.duration else ()
        return (*super()._end(), *again)


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
