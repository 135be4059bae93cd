"""Study RA's way: all requests of a round are handed out at once, and the round is waited for."""

from abc import ABC
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from benchforge.plugin import Duration, WrongOption
from benchforge_clients.library import Library

MOST_REQUESTS = 100_000


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
