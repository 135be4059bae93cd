"""One benchforge measures at a time on a machine. The next one waits."""

import contextlib
import errno
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

# A name in the kernel's memory: no file to leave behind, gone with the process however it ends.
NAME = "\0benchforge measures"
_CREDENTIALS = struct.Struct("3i")
_BETWEEN_S = 0.1  # two tries, where the other ends or begins at this moment


@contextlib.contextmanager
def measuring(report: Callable[[str], None]) -> Iterator[None]:
    """Hold the machine's lock. While another process holds it, report its name, and wait.

    What `report` raises ends the wait.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mine:
        while not _bound(mine):
            _wait_for_other(report)
        mine.listen()  # nobody is answered: the kernel tells a waiting process who holds the name
        yield


def _bound(mine: socket.socket) -> bool:
    try:
        mine.bind(NAME)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True


def _wait_for_other(report: Callable[[str], None]) -> None:
    """Wait until the holder ends: the kernel then resets the connections that it never accepted."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waiting:
        waiting.setblocking(False)
        with contextlib.suppress(OSError):
            try:
                waiting.connect(NAME)
                packed = waiting.getsockopt(
                    socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size
                )
                holder = _named(_CREDENTIALS.unpack(packed)[0])
                connected = True
            except BlockingIOError:  # its queue of connections is full
                holder, connected = "another benchforge, one of many", False
            report(holder)
            waiting.setblocking(True)
            if not connected:
                waiting.connect(NAME)
            waiting.recv(1)
    time.sleep(_BETWEEN_S)


def _named(pid: int) -> str:
    """Return the command of a benchforge, without its arguments, and its pid."""
    command = ""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
        for program, word in pairwise(words):
            if Path(program).name == "benchforge" and re.fullmatch("[a-z]{1,20}", word):
                command = f" {word}"
                break
    return f"benchforge{command} (process {pid})"
