"""Work of many steps, whose progress a command may show."""

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
SHOWN: ContextVar[Callable[[Sequence[Any], str], Iterable[Any]]] = ContextVar("SHOWN")
"Function that gives the steps one after another, under a title; unset without progress."


def steps(work: Sequence[T], title: str) -> Iterable[T]:
    """Return the steps of a work, with its progress where a command shows it."""
    track = SHOWN.get(None)
    return work if track is None else track(work, title)
