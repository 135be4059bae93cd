"""Work of many steps: who shows its progress is asked for each step."""

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
SHOWN: ContextVar[Callable[[Sequence[Any], str], Iterable[Any]]] = ContextVar("SHOWN")
"Gives the steps one after another, under a title; not set where nobody shows them."


def steps(work: Sequence[T], title: str) -> Iterable[T]:
    """Return the steps of a work, whose progress is shown where somebody does."""
    text_shown = SHOWN.get(None)
    return work if text_shown is None else text_shown(work, title)
