"""A regular expression that is found in a body, in bounded time."""

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import AfterValidator

from benchforge.text.readable import exact

LONGEST, SEARCHED, WITHIN_S = 500, 64 << 10, 1.0
"""Characters of a pattern; bytes at the begin of a body in which it is searched; CPU time of a \
search in seconds, at most: some patterns take longer than anybody lives."""


def _compiles(pattern: str) -> str:
    if len(pattern) > LONGEST:
        raise ValueError(f"{exact(len(pattern))} characters: a pattern has at most {LONGEST}")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]
"A regular expression in Python's syntax."


def matches(pattern: str, body: bytes) -> bool:
    """Return True if a pattern is found in the first bytes of a body.

    Raises TimeoutError where the search takes too long.
    """
    text = body[:SEARCHED].decode(errors="replace")
    with _in_time():
        return re.search(pattern, text) is not None


@contextmanager
def _in_time() -> Iterator[None]:
    """Raise TimeoutError in the main thread once it took too much CPU time: others may wait."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"it was not found in {exact(WITHIN_S)} s of CPU time")

    usual = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, WITHIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, usual)
