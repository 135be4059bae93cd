"""Work in a process of its own, on another CPU: its values come back through a pipe."""

import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar

T = TypeVar("T")


def forked(work: Callable[[], Iterable[T]]) -> Iterator[T]:
    """Begin a work in a process of its own; return what it gives, less if it ends early.

    Whoever gets less does the rest, and meets there what ended the process.
    """
    reader, writer = os.pipe()
    if pid := os.fork():
        os.close(writer)
        return _read(pid, os.fdopen(reader, "rb"))
    with suppress(BaseException):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            for value in work():
                pickle.dump(value, pipe, pickle.HIGHEST_PROTOCOL)
    os._exit(0)


def _read(pid: int, pipe: BinaryIO) -> Iterator[Any]:
    try:
        with pipe, suppress(EOFError, pickle.UnpicklingError):
            while True:
                yield pickle.load(pipe)  # noqa: S301 - of our own process
    finally:
        os.waitpid(pid, 0)
