"""Bounds of what is read: the values of a document of JSON, names of files, moments, a time."""

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import MAXYEAR, UTC, datetime
from typing import Annotated, AnyStr

from pydantic import AfterValidator, JsonValue

from benchforge.text import door
from benchforge.text.readable import too_many

MOST_VALUES = 1_000_000
"""A value that is wrong takes about a kilobyte to tell: so many take less than a gigabyte.
Thousands of trials have a tenth of that."""
_FIRST_YEAR = 1970


def bounded(document: AnyStr) -> AnyStr:
    """Return a JSON document unchanged. Raises ValueError if it has too many values."""
    if len(document) <= MOST_VALUES:  # each value takes a character
        return document
    if isinstance(document, str):
        values = document.count(",") + document.count("[") + document.count("{")
    else:
        values = document.count(b",") + document.count(b"[") + document.count(b"{")
    if values > MOST_VALUES:
        raise ValueError(too_many(values, MOST_VALUES, "values or so"))
    return document


@contextmanager
def in_time(seconds: float, late: str, *, of_cpu: bool = False) -> Iterator[None]:
    """Raise TimeoutError with the message `late` after a time, in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise TimeoutError(late)

    timer = signal.ITIMER_VIRTUAL if of_cpu else signal.ITIMER_REAL
    number = signal.SIGVTALRM if of_cpu else signal.SIGALRM
    usual = signal.signal(number, interrupt)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, usual)


def _one_step(name: str) -> str:
    if not door.is_name(name):
        raise ValueError("is not a file name: /, control characters, . and .. are not allowed")
    return name


def _below(name: str) -> str:
    try:
        door.steps(name)
    except OSError as error:
        raise ValueError(error.strerror) from None
    return name


FileName = Annotated[str, AfterValidator(_one_step)]
"What a file is called, or a part of that: no path."
Below = Annotated[str, AfterValidator(_below)]
"A path that stays below the folder that it is in."


def _finite(facts: dict[str, JsonValue]) -> dict[str, JsonValue]:
    json.dumps(facts, allow_nan=False)  # which says that a number is none
    return facts


Facts = Annotated[dict[str, JsonValue], AfterValidator(_finite)]
"Plain values by name. No number is infinite, or none."


def _moment(moment: datetime) -> datetime:
    if not _FIRST_YEAR <= moment.year < MAXYEAR:  # in each time zone it is a moment
        raise ValueError("is no moment at which anything was measured")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_moment)]
"A moment of a measurement. A file of somebody else may tell no time zone: it is UTC."
